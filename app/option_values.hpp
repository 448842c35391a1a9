#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace poise {
struct UserRows;
}

namespace poise::app {

struct Context;

/// Accepts one of these names; the message about another suggests the nearest one.
CLI::Validator one_of(const std::vector<std::string>& names);
/// Accepts a list of these names with commas between them.
CLI::Validator list_of(const std::vector<std::string>& names);
/// The names that an option with such a validator accepts; none for any other option.
std::vector<std::string> choices_of(CLI::Option& option);

/// All options of a command, those of its groups included.
std::vector<CLI::Option*> all_options(CLI::App& parser);
std::vector<const CLI::Option*> all_options(const CLI::App& parser);

/// Accepts a whole number from least to most.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Accepts a finite number.
CLI::Validator finite_number();
/// Accepts a finite number or this word.
CLI::Validator number_or(const std::string& word);
/// Accepts a number above `low` and below `high`.
CLI::Validator number_between(double low, double high);
/// Accepts a number from `low` to `high`.
CLI::Validator number_from(double low, double high);
/// Accepts a finite number above 0.
CLI::Validator positive_number();

/// Bytes from a size such as 8G, 1.5GiB or 500 MB; units are powers of 1024, B may be left out. Error{usage}
/// for anything else.
std::uint64_t parse_size(std::string_view text);
/// Turns such a size into its bytes, and refuses one below 64M.
CLI::Validator memory_size();

/// "a,b,c" -> {"a", "b", "c"}.
std::vector<std::string> split_at_commas(const std::string& text);

/// --dislike-share of the commands that score histories.
void add_dislike_share_option(CLI::App& parser, double& share);
/// Says that the share has no effect on histories without dislikes.
void note_without_dislikes(double share, const UserRows& histories, const Context& context);

}  // namespace poise::app
