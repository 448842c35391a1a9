#include "log_flags.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "poise/base/error.hpp"

#include "option_values.hpp"

namespace poise::app {

void LogFlags::check() const {
  if (columns.empty()) return;
  const std::vector<std::string> names = split_at_commas(columns);
  bool named = names.size() >= 2 && names.size() <= 4;
  for (std::size_t k = 0; k < names.size(); ++k)
    named = named && (!names[k].empty() || (k == 2 && names.size() == 4));
  if (!named) {
    fail(ErrorKind::usage,
         "--columns takes two to four names with commas between them, e.g. user,item,rating,time (or "
         "user,item,,time without a value), not '{}'",
         columns);
  }
}

LogOptions LogFlags::options(const std::vector<std::filesystem::path>& inputs) const {
  LogOptions result;
  result.format = parse_log_format(format);
  if (!columns.empty()) result.columns = split_at_commas(columns);
  result.delimiter = delimiter;
  result.header = header == "yes" ? Header::yes : header == "no" ? Header::no : Header::automatic;
  result.skip_bad_lines = skip_bad_lines;
  result.format = resolve_log_format(inputs, result);
  result.keep_above = keep_above;
  result.dislike_below = dislike_below;
  result.threshold_of_format = true;
  result.query = query;
  return result;
}

void hint_about_values(const Interactions& log, const Context& context) {
  // How often each multiple of 1/2 from 0 to 10 occurs: these are all values of the usual rating scales.
  std::array<std::int64_t, 21> halves{};
  std::int64_t negative = 0;
  bool others = false;
  for (const float value : log.value) {
    const float twice = 2 * value;
    negative += value < 0 ? 1 : 0;
    if (twice >= 0 && twice <= 20 && twice == std::floor(twice)) {
      ++halves[static_cast<std::size_t>(twice)];
    } else {
      others = true;
    }
  }
  if (negative > 0) {
    context.say(
        fmt::format("hint: {} of {} rows have a value below 0 and count as liked all the same; --keep-above "
                    "0 leaves them out",
                    grouped(negative), grouped(log.rows())));
    return;
  }
  const auto used = [](std::int64_t count) { return count > 0; };
  const auto least = std::ranges::find_if(halves, used) - halves.begin();
  const auto most = halves.rend() - std::find_if(halves.rbegin(), halves.rend(), used) - 1;
  const auto commonest = std::ranges::max_element(halves) - halves.begin();
  // Counts are rarely spread so evenly: most of them are 1, the least.
  const bool scale = least >= 1 && (most == 10 || most == 20);
  if (others || !scale || std::ranges::count_if(halves, used) < 3 || commonest == least) return;
  const std::int64_t threshold = most * 7 / 10;
  const std::int64_t above = std::accumulate(halves.begin() + threshold + 1, halves.end(), std::int64_t{0});
  context.say(
      fmt::format("hint: the values look like ratings from {} to {}, and low ones count as liked too; "
                  "--keep-above {} keeps only the {} of {} rows above it",
                  0.5 * static_cast<double>(least), most / 2, 0.5 * static_cast<double>(threshold),
                  grouped(above), grouped(log.rows())));
}

std::vector<CLI::Option*> add_log_flags(CLI::App& parser, LogFlags& flags) {
  std::vector<CLI::Option*> options = {
      parser
          .add_option("--columns", flags.columns,
                      "Columns of the log: by name or number (from 1);\na list with a 0 counts from 0")
          ->type_name("USER,ITEM[,VALUE[,TIME]]"),
      parser.add_option("--delimiter", flags.delimiter,
                        "Text between fields, e.g. ';', '::' or '\\t' (default: found)"),
      parser
          .add_option("--header", flags.header, "Whether the first line names the columns: auto, yes or no")
          ->check(one_of({"auto", "yes", "no"}))
          ->capture_default_str(),
      parser
          .add_option(
              "--keep-above", flags.keep_above,
              "Keep rows whose value is greater;\n3.5 by default for movielens and netflix, otherwise off")
          ->check(finite_number()),
      parser
          .add_option("--dislike-below", flags.dislike_below,
                      "Rows whose value is less are dislikes: never recommended, and weighed by "
                      "--alpha-negative")
          ->check(finite_number()),
      parser
          .add_option("--query", flags.query,
                      "For an SQLite database: a select of user, item and perhaps value and time")
          ->type_name("SQL"),
      parser.add_flag("--skip-bad-lines", flags.skip_bad_lines,
                      "Count and skip bad lines instead of stopping at the first")};
  for (CLI::Option* const option : options) option->group("Reading");
  return options;
}

}  // namespace poise::app
