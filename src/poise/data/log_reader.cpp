#include "poise/data/log_reader.hpp"

#include <algorithm>

#include "poise/base/error.hpp"
#include "poise/data/log/byte_source.hpp"
#include "poise/data/log/read_inputs.hpp"
#include "poise/data/log/sqlite.hpp"

namespace poise {

namespace {

using Paths = std::vector<std::filesystem::path>;

/// The Netflix files of a folder by name: mv_*.txt, or combined_data_*.txt if there are none.
Paths netflix_files(const std::filesystem::path& folder) {
  Paths movies;
  Paths combined;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!logs::is_netflix_name(entry.path())) continue;
    const char first = entry.path().filename().string().front();
    (first == 'm' || first == 'M' ? movies : combined).push_back(entry.path());
  }
  if (error)
    fail_on_file(ErrorKind::input, "cannot read the folder {}: {}", folder.string(), error.message());
  Paths& files = movies.empty() ? combined : movies;
  if (files.empty())
    fail(ErrorKind::input, "{} holds no mv_*.txt or combined_data_*.txt file", folder.string());
  std::sort(files.begin(), files.end());
  return files;
}

/// The files to read; all must exist before the first is read.
std::vector<logs::LogInput> find_files(const Paths& inputs, LogFormat format) {
  std::vector<logs::LogInput> files;
  for (const std::filesystem::path& input : inputs) {
    std::error_code error;
    if (input == logs::standard_input) {
      if (std::count(inputs.begin(), inputs.end(), input) > 1)
        fail(ErrorKind::usage, "standard input (-) is given twice");
      files.push_back({input});
      continue;
    }
    if (format == LogFormat::netflix && std::filesystem::is_directory(input, error)) {
      for (const std::filesystem::path& file : netflix_files(input)) files.push_back({file});
      continue;
    }
    if (!std::filesystem::exists(input, error)) {
      fail_on_file(ErrorKind::input, "cannot open {}: {}; check the path", input.string(),
                   error ? error.message() : "no such file");
    }
    if (std::filesystem::is_directory(input, error)) {
      fail(ErrorKind::input, "{} is a folder; name the file in it that holds the log", input.string());
    }
    files.push_back({input});
  }
  return files;
}

}  // namespace

LogFormat logs::format_for(LogFormat detected, const LogOptions& options) {
  switch (detected) {
    case LogFormat::netflix:
    case LogFormat::pro_sg:
    case LogFormat::json_lines:
    case LogFormat::sqlite:
      return detected;
    default:
      break;
  }
  const bool told =
      !options.columns.empty() || !options.delimiter.empty() || options.header != Header::automatic;
  if (detected == LogFormat::adjacency && told) return LogFormat::csv;
  return options.columns.empty() ? detected : LogFormat::csv;
}

LogFormat resolve_log_format(const Paths& inputs, const LogOptions& options) {
  if (options.format != LogFormat::automatic) return options.format;
  const LogFormat format = detect_log_format(inputs);
  return format == LogFormat::automatic ? format : logs::format_for(format, options);
}

std::optional<double> usual_threshold(const LogOptions& options) {
  constexpr double usual = 3.5;
  const bool two_columns =
      options.columns.size() == 2 || (options.columns.size() > 2 && options.columns[2].empty());
  if (options.format == LogFormat::netflix) return usual;
  if (options.format == LogFormat::movielens && !two_columns) return usual;
  return std::nullopt;
}

Interactions read_log(const Paths& inputs, const LogOptions& options, const Execution& execution) {
  if (inputs.empty()) fail(ErrorKind::usage, "no input given; name the file or folder that holds the log");
  LogOptions resolved = options;
  resolved.format = resolve_log_format(inputs, options);
  if (!options.query.empty() && resolved.format != LogFormat::sqlite)
    fail(ErrorKind::usage, "{} goes with an SQLite database; {} is none", "query"_p,
         logs::display_name(inputs.front()));
  if (resolved.format == LogFormat::pro_sg) {
    fail(ErrorKind::usage, "{} is a split folder (pro-sg), not a log", inputs.front().string());
  }
  const std::vector<logs::LogInput> files = find_files(inputs, resolved.format);
  Interactions log = resolved.format == LogFormat::sqlite
                         ? logs::read_sqlite(files, resolved, execution)
                         : logs::read_inputs(files, resolved, logs::ReadSizes(), execution);
  if (options.dislike_below)
    log.reading += fmt::format(", rows with a value below {} are dislikes", *options.dislike_below);
  return log;
}

}  // namespace poise
