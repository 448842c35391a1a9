#include "log_flags.hpp"

#include <algorithm>

#include "poise/base/error.hpp"

#include "option_values.hpp"

namespace poise::app {

void LogFlags::check() const {
  if (columns.empty()) return;
  const std::vector<std::string> names = split_at_commas(columns);
  const bool named = std::none_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); });
  if (!named || names.size() < 2 || names.size() > 3) {
    fail(ErrorKind::usage,
         "--columns takes two or three names with commas between them, e.g. user,item,rating, not '{}'",
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
  result.keep_above = keep_above ? keep_above : usual_threshold(result);
  return result;
}

std::vector<CLI::Option*> add_log_flags(CLI::App& parser, LogFlags& flags) {
  return {parser
              .add_option(
                  "--columns", flags.columns,
                  "User, item and value column, by name or number (from 1; a list with a 0 counts from 0)")
              ->type_name("USER,ITEM[,VALUE]"),
          parser.add_option("--delimiter", flags.delimiter,
                            "Text between fields, e.g. ';', '::' or '\\t' (default: found)"),
          parser.add_option("--header", flags.header, "auto, yes or no")
              ->check(CLI::IsMember({"auto", "yes", "no"}))
              ->capture_default_str(),
          parser
              .add_option(
                  "--keep-above", flags.keep_above,
                  "Keep rows whose value is greater (default: 3.5 for movielens and netflix, otherwise off)")
              ->check(finite_number()),
          parser.add_flag("--skip-bad-lines", flags.skip_bad_lines,
                          "Count and skip bad lines instead of stopping at the first")};
}

}  // namespace poise::app
