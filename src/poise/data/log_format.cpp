#include "poise/data/log_format.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/base/lower_case.hpp"
#include "poise/base/suggest.hpp"
#include "poise/data/log/byte_source.hpp"
#include "poise/data/log/chunks.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/sqlite.hpp"
#include "poise/data/numbers.hpp"

namespace poise {

namespace {

constexpr std::array<std::pair<std::string_view, LogFormat>, 10> names = {{
    {"auto", LogFormat::automatic},
    {"csv", LogFormat::csv},
    {"movielens", LogFormat::movielens},
    {"netflix", LogFormat::netflix},
    {"triplets", LogFormat::triplets},
    {"pairs", LogFormat::pairs},
    {"adjacency", LogFormat::adjacency},
    {"jsonl", LogFormat::json_lines},
    {"sqlite", LogFormat::sqlite},
    {"pro-sg", LogFormat::pro_sg},
}};

/// The file's name in lower case, without the suffix of its compression.
std::string plain_name(const std::filesystem::path& file) {
  std::string name = lower_case(file.filename().string());
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

std::size_t count_tokens(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t count = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (!is_blank(line[k]) && (k == 0 || is_blank(line[k - 1]))) ++count;
  }
  return count;
}

/// The first lines that are not blank, without their ends.
std::vector<std::string_view> first_lines(std::string_view sample, bool whole) {
  constexpr std::size_t most = 100;
  std::vector<std::string_view> lines;
  while (!sample.empty() && lines.size() < most) {
    const std::size_t end = sample.find('\n');
    // A line that the sample cuts off is used only if there is no other.
    if (end == std::string_view::npos && !whole && !lines.empty()) break;
    std::string_view line = sample.substr(0, end);
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// A third column of times holds no values, so such a table is not triplets.
bool are_triplets(const std::vector<std::string_view>& lines) {
  bool times = true;
  for (const std::string_view line : lines) {
    const std::string_view third = line.substr(line.rfind('\t') + 1);
    if (std::count(line.begin(), line.end(), '\t') != 2 || !is_whole_number(third)) return false;
    times = times && looks_like_unix_time(parse_number(third).value_or(0));
  }
  return !times;
}

bool are_adjacency(const std::vector<std::string_view>& lines) {
  std::set<std::size_t> tokens;
  std::set<std::ptrdiff_t> tabs;
  for (const std::string_view line : lines) {
    if (line.find_first_of(",;|\"") != std::string_view::npos) return false;
    if (line.find("::") != std::string_view::npos) return false;
    tokens.insert(count_tokens(line));
    tabs.insert(std::count(line.begin(), line.end(), '\t'));
  }
  const bool table = tabs.size() == 1 && *tabs.begin() >= 2;
  return tokens.size() > 1 && !table;
}

bool is_json_lines(const std::filesystem::path& name, const std::vector<std::string_view>& lines) {
  const std::string plain = plain_name(name);
  if (plain.ends_with(".jsonl") || plain.ends_with(".ndjson")) return true;
  return !lines.empty() && lines.front().starts_with('{') &&
         lines.front().find('"') != std::string_view::npos;
}

/// Files of other kinds, which would be read as csv: what they are, and what to do. An id may begin with PAR1
/// or BZh.
void refuse_other_kinds(const std::filesystem::path& name, std::string_view sample) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kinds = {{
      {"PAR1\x15"sv, "a Parquet file; write it as csv, or read it in Python with Dataset.from_arrow"},
      {"PK\3\4"sv, "a zip archive or a spreadsheet; unpack it, or save it as csv"},
      {"\xFD"
       "7zXZ\0"sv,
       "compressed by xz; unpack it, or compress it with gzip or zstd"},
  }};
  for (const auto& [start, kind] : kinds) {
    if (sample.starts_with(start)) fail(ErrorKind::input, "{} is {}", name.string(), kind);
  }
  if (sample.starts_with("BZh") &&
      sample.substr(std::min<std::size_t>(4, sample.size())).starts_with("1AY&SY")) {
    fail(ErrorKind::input, "{} is compressed by bzip2; unpack it, or compress it with gzip or zstd",
         name.string());
  }
  const std::size_t first = sample.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || sample[first] != '[') return;
  const std::size_t second = sample.find_first_not_of(" \t\r\n", first + 1);
  if (second == std::string_view::npos || sample[second] != '{') return;
  fail(ErrorKind::input, "{} is one JSON array; write one object on each line, as `jq -c '.[]'` does",
       name.string());
}

bool has_file(const std::filesystem::path& folder, bool (*wanted)(const std::filesystem::path&)) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (wanted(entry.path())) return true;
  }
  return false;
}

}  // namespace

namespace logs {

bool is_netflix_name(const std::filesystem::path& file) {
  const std::string name = plain_name(file);
  return name.ends_with(".txt") && (name.starts_with("mv_") || name.starts_with("combined_data_"));
}

LogFormat detect_format(const std::filesystem::path& name, std::string_view sample, bool whole) {
  if (is_sqlite(sample)) return LogFormat::sqlite;
  refuse_other_kinds(name, sample);
  const std::vector<std::string_view> lines = first_lines(sample, whole);
  if (is_json_lines(name, lines)) return LogFormat::json_lines;
  if (lines.empty()) return LogFormat::csv;
  if (lines.front().starts_with("userId,movieId,rating")) return LogFormat::movielens;
  if (plain_name(name) == "ratings.dat" && guess_delimiter(sample, whole) == "::")
    return LogFormat::movielens;
  if (lines.front().ends_with(':') && is_whole_number(lines.front().substr(0, lines.front().size() - 1))) {
    return LogFormat::netflix;
  }
  if (are_triplets(lines)) return LogFormat::triplets;
  if (are_adjacency(lines)) return LogFormat::adjacency;
  return LogFormat::csv;
}

}  // namespace logs

std::string_view log_format_name(LogFormat format) {
  return std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.second == format; })
      ->first;
}

LogFormat parse_log_format(std::string_view name) {
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == names.end()) {
    std::vector<std::string_view> known;
    known.reserve(names.size());
    for (const auto& [each, format] : names) known.push_back(each);
    fail(ErrorKind::usage,
         "unknown format '{}'{}; choose auto, csv, movielens, netflix, triplets, pairs, adjacency, jsonl, "
         "sqlite or pro-sg",
         name, did_you_mean(name, known));
  }
  return found->second;
}

LogFormat detect_log_format(const std::vector<std::filesystem::path>& inputs) {
  if (inputs.empty()) fail(ErrorKind::usage, "no input given; name the file or folder that holds the log");
  const std::filesystem::path& input = inputs.front();
  std::error_code ignored;
  if (std::filesystem::is_directory(input, ignored)) {
    if (std::filesystem::exists(input / "train.csv", ignored) &&
        std::filesystem::exists(input / "unique_sid.txt", ignored)) {
      return LogFormat::pro_sg;
    }
    if (has_file(input, logs::is_netflix_name)) return LogFormat::netflix;
    fail(ErrorKind::input, "{} is a folder of no known format; name the file in it that holds the log",
         input.string());
  }
  // Reading from a pipe would consume the log itself.
  if (logs::is_read_once(input)) return LogFormat::automatic;
  logs::ChunkReader reader(logs::open_bytes(input), input.string(), 1);
  const std::string_view sample = reader.sample();
  return logs::detect_format(input, sample, reader.at_end());
}

}  // namespace poise
