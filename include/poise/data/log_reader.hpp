#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log_format.hpp"

namespace poise {

/// Whether the first line of delimited text holds the names of its columns. Found automatically: columns
/// asked for by name imply it; otherwise it is a header when it holds known names, or when its ids are not
/// numbers and its value is not one either or, without a value column, an id of the next line is.
enum class Header { automatic, yes, no };

struct LogOptions {
  LogFormat format = LogFormat::automatic;  ///< never pro_sg here
  /// user, item and perhaps value: each a name in the header, or a number that counts from 1 (from 0 if one
  /// of the list is 0). Empty: the format's own; for csv the columns whose names are known (user_id, movieId,
  /// rating, ...), else the first two, and the third as value where it is a number, no Unix time, and there
  /// is no header, or its name is a known one.
  std::vector<std::string> columns = {};
  /// Any text, e.g. "::"; a tab may be spelled \t. Empty: found from the first lines.
  std::string delimiter = {};
  Header header = Header::automatic;
  std::optional<double> keep_above = {};  ///< keep only rows whose value is greater
  /// Rows that are not above the threshold stay in the log and are marked (Interactions::low): what a user
  /// has met without liking it.
  bool keep_low = false;
  bool skip_bad_lines = false;  ///< count bad lines instead of failing at the first
};

/// The format that read_log takes: the one asked for; else the one detected, except that columns asked for
/// make delimited text csv, and so do a delimiter or a header option where adjacency was detected.
LogFormat resolve_log_format(const std::vector<std::filesystem::path>& inputs, const LogOptions& options);

/// The threshold that goes with ratings by default: 3.5 for netflix, and for movielens where a value is read;
/// none otherwise. options.format is one that resolve_log_format gives; read_log itself applies no default.
std::optional<double> usual_threshold(const LogOptions& options);

/// Reads the inputs, in order, as one log: plain, gzip or zstd files; for netflix also folders of mv_*.txt or
/// combined_data_*.txt files, taken by name. Text is UTF-8, lines end with LF or CRLF; blank lines are passed
/// over; ids are taken as they stand. The result says how the text was understood.
///
/// A line is bad with too few fields, a value that is not a finite number, a NUL byte, an id that is not
/// UTF-8 or longer than 4096 bytes, or wrong quotes; the first such line is an Error{input} that names file
/// and line. A row is dropped and counted once: bad line, empty id, value not above the threshold, in that
/// order. Missing, empty or corrupt inputs are an Error{input}; `keep_above` without values an Error{usage}.
///
/// Streams: memory beyond the result is some 80 MB whatever the log's size. The result does not depend on
/// the number of threads.
Interactions read_log(const std::vector<std::filesystem::path>& inputs, const LogOptions& options,
                      const Execution& execution);

}  // namespace poise
