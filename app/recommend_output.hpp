#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "poise/data/item_table.hpp"
#include "poise/linalg/ranked_lists.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "recommend_histories.hpp"

namespace poise::app {

enum class OutputFormat { table, csv, json };

/// Declares --format.
void add_format_option(CLI::App& parser, std::string& format);
/// The output format that --format and --json together ask for.
OutputFormat output_format(const std::string& format, const Context& context);

/// Declares --titles.
void add_titles_option(CLI::App& parser, std::filesystem::path& titles);
/// The file of --titles; null without one.
std::unique_ptr<const ItemTable> read_titles(const std::filesystem::path& path);
/// Says so if none of a model's items has a title there.
void say_if_untitled(const ItemTable& titles, const std::filesystem::path& path, const Ids& items,
                     const Context& context);

/// Prints all recommendations, with `explain` also what each history item adds to a score: all items in JSON,
/// the three largest in a table, none in csv. With titles, a table and csv show them last in a line and
/// reasons are named by them; JSON has them by id, under "titles" at its end.
void print_recommendations(const LoadedModel& model, const RecommendHistories& input, double dislike_share,
                           const RankedLists& lists, bool explain, OutputFormat format,
                           const ItemTable* titles);

/// Prints the items similar to `item`.
void print_similar(const Ids& items, std::int32_t item, const RankedLists& list, OutputFormat format,
                   const ItemTable* titles);

}  // namespace poise::app
