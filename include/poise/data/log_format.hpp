#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace poise {

/// The layout of a log.
enum class LogFormat {
  automatic,   ///< found by detect_log_format
  csv,         ///< delimited text of any kind
  movielens,   ///< delimited user, item, rating: ratings.csv with its header, ratings.dat with '::'
  netflix,     ///< `movie:` lines, each followed by its `user,rating,date` lines
  triplets,    ///< delimited user, item, value
  pairs,       ///< delimited user, item; no value
  adjacency,   ///< lines `user item item ...`; no value
  json_lines,  ///< a JSON object on each line
  sqlite,      ///< an SQLite database, of which LogOptions::query selects rows
  pro_sg,      ///< a folder with the csv files of a strong generalisation split; not a log
};

/// The format of this name ("auto", "csv", "movielens", "netflix", "triplets", "pairs", "adjacency", "jsonl",
/// "sqlite", "pro-sg"); any other name is an Error{usage}.
LogFormat parse_log_format(std::string_view name);
std::string_view log_format_name(LogFormat format);

/// Detects the format from names and first bytes. A folder with train.csv and unique_sid.txt is pro-sg, one
/// with mv_*.txt or combined_data_*.txt netflix. A file is movielens if its header is MovieLens' or its name
/// is ratings.dat and its delimiter '::'; netflix if it begins with a line like `123:`; triplets if its lines
/// are three tab-separated fields without a header, the third a whole number and no Unix time; adjacency if
/// its lines are whitespace-separated tokens whose count varies; sqlite by its first bytes; jsonl if it is
/// called .jsonl or .ndjson or begins with an object; otherwise csv. What can be read once only (a pipe,
/// standard input) stays automatic: read_log finds its format while it reads.
LogFormat detect_log_format(const std::vector<std::filesystem::path>& inputs);

namespace logs {

/// The format of one file, from its name and its first bytes (`whole`: these are the whole file).
LogFormat detect_format(const std::filesystem::path& name, std::string_view sample, bool whole);

/// Whether a file of this name, perhaps compressed, belongs to a Netflix folder.
bool is_netflix_name(const std::filesystem::path& file);

}  // namespace logs

}  // namespace poise
