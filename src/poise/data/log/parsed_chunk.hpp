#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/log/id_map.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::logs {

/// Which rows are kept once their fields are known.
struct RowRules {
  std::optional<double> keep_above;
  bool keep_low = false;
  bool skip_bad_lines = false;
  std::optional<double> dislike_below = {};
  bool times = false;  ///< for formats without a layout
  TimeUnit time_unit = TimeUnit::automatic;

  /// Whether rows are marked (Interactions::low).
  [[nodiscard]] bool marks() const { return keep_low || dislike_below.has_value(); }
};

/// The fields of one row, unchanged.
struct Row {
  std::string_view user;
  std::string_view item;
  std::optional<std::string_view> value;      ///< missing in formats without values
  std::optional<std::string_view> time = {};  ///< missing if times are not read
  bool utf8 = false;                          ///< the ids are known to be UTF-8
  bool inherits_item = false;  ///< `item` is unknown: it is the movie that is current at the chunk's start
};

/// Whether an id is UTF-8 and not too long; and the message if it is not.
bool is_sound_id(std::string_view id);
std::string id_problem(std::string_view id, std::string_view what);

/// A bad line: its distance in lines from the chunk's first, what is wrong and what to do.
struct BadLine {
  std::int64_t line;
  std::string problem;
};

/// The rows of one chunk. Ids are numbered within the chunk, by first appearance among its kept rows.
class ParsedChunk {
 public:
  /// The item number of rows that belong to the movie that is current at the chunk's start (netflix).
  static constexpr std::int32_t inherited_item = -1;

  explicit ParsedChunk(const RowRules& rules) : rules_(&rules) {}

  /// Drops and counts one row, or keeps it. False if its line is bad and parsing must stop.
  bool add(const Row& row);
  /// Counts a bad line, or records it and returns false: parsing must stop.
  bool reject(std::string problem);

  IdMap users;
  IdMap items;
  std::vector<std::int32_t> user;
  std::vector<std::int32_t> item;
  std::vector<float> value;        ///< empty for formats without values
  std::vector<std::uint8_t> low;   ///< empty unless rows are marked
  std::vector<std::int64_t> time;  ///< empty unless times are read
  /// The line of the first time whose size shows this unit; see parse_time.
  std::array<std::optional<std::int64_t>, 5> unit_line;

  std::int64_t empty_ids = 0;
  std::int64_t below_threshold = 0;
  std::int64_t disliked_rows = 0;
  std::int64_t skipped_lines = 0;
  std::int64_t lines = 0;    ///< line ends passed so far
  std::int64_t records = 0;  ///< lines that are not blank
  std::optional<BadLine> bad;
  /// Where a record begins if the chunk's end cuts it inside a quoted field.
  std::optional<std::size_t> open_at;
  /// Netflix: the current movie at the chunk's end, if the chunk has a movie line. The inner value is missing
  /// after a bad movie line.
  std::optional<std::optional<std::string>> movie;

 private:
  const RowRules* rules_;
};

}  // namespace poise::logs
