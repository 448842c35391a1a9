#pragma once

#include <string>

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

/// Prints all recommendations, with `explain` also what each history item adds to a score: all items in JSON,
/// the three largest in a table, none in csv.
void print_recommendations(const LoadedModel& model, const RecommendHistories& input,
                           const RankedLists& lists, bool explain, OutputFormat format);

/// Prints the items similar to `item`.
void print_similar(const Ids& items, std::int32_t item, const RankedLists& list, OutputFormat format);

}  // namespace poise::app
