#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log_format.hpp"

namespace poise {

/// Whether the first line of delimited text holds column names. `automatic`: it does if columns are asked for
/// by name, if it holds known names, or if its ids are not numbers and neither is its value (or, without a
/// value column, an id of the next line is a number).
enum class Header { automatic, yes, no };

/// What a number in a column of times counts since 1970. `automatic`: by its size (see logs::parse_time), the
/// same for the whole log.
enum class TimeUnit { automatic, seconds, milliseconds, microseconds, nanoseconds };

struct LogOptions {
  LogFormat format = LogFormat::automatic;  ///< never pro_sg here
  /// user, item and optionally value and time: each a name in the header, or a number that counts from 1
  /// (from 0 if the list contains 0); an empty value has no column. Empty: the format's own columns. For csv
  /// these are the columns with known names (user_id, movieId, rating, ...), else the first two; the third is
  /// the value if it is a number and no Unix time and there is no header, or if its name is known.
  std::vector<std::string> columns = {};
  /// Any text, e.g. "::"; a tab may be written \t. Empty: detected from the first lines.
  std::string delimiter = {};
  Header header = Header::automatic;
  std::optional<double> keep_above = {};  ///< keep only rows whose value is greater
  /// Rows that are not above the threshold stay in the log and are marked (Interactions::low): items that a
  /// user has seen but does not like.
  bool keep_low = false;
  /// Rows whose value is less are dislikes, which stay in the log and are marked. At most `keep_above`.
  std::optional<double> dislike_below = {};
  bool skip_bad_lines = false;  ///< count bad lines instead of failing at the first
  /// Without `keep_above`: the usual threshold of the format, once that is known.
  bool threshold_of_format = false;
  std::string query = {};  ///< for sqlite: a select of user, item and perhaps value and time
  /// Read the rows' times: from the fourth of `columns`; else from the column with a known name (timestamp,
  /// date and such) or, without a header, the first other one that holds nothing but times. Without such a
  /// column it is an Error{usage}.
  bool times = false;
  TimeUnit time_unit = TimeUnit::automatic;
};

/// The format that read_log uses: the one asked for, else the detected one. But if columns are asked for,
/// delimited text is csv; so it is with a delimiter or a header option if adjacency was detected. Of a pipe
/// it is automatic: read_log finds it.
LogFormat resolve_log_format(const std::vector<std::filesystem::path>& inputs, const LogOptions& options);

/// The default threshold of ratings: 3.5 for netflix, and for movielens if a value is read; else none.
/// options.format comes from resolve_log_format; read_log applies it where threshold_of_format asks for it.
std::optional<double> usual_threshold(const LogOptions& options);

/// Reads the inputs, in order, as one log: plain, gzip or zstd files, or standard input as "-"; for netflix
/// also folders of mv_*.txt or combined_data_*.txt files, in the order of their names. Text is UTF-8, lines
/// end with LF or CRLF, blank lines are skipped, ids are kept unchanged. The result says how the text was
/// interpreted.
///
/// A line is bad with too few fields, a value that is not a finite number, a NUL byte, an id that is not
/// UTF-8 or longer than 4096 bytes, a time that cannot be read, or wrong quotes; the first such line is an
/// Error{input} that names file and line. A row is dropped and counted once: bad line, empty id, value not
/// above the threshold, in that order. Missing, empty or corrupt inputs are an Error{input}; `keep_above`
/// without values an Error{usage}.
///
/// Streams: memory beyond the result is some 80 MB for a log of any size. The result does not depend on the
/// number of threads.
Interactions read_log(const std::vector<std::filesystem::path>& inputs, const LogOptions& options,
                      const Execution& execution);

}  // namespace poise
