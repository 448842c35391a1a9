#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/ids.hpp"

namespace poise {

/// A parsed interaction log: one entry per kept row, in file order. Ids are numbered by first appearance
/// among the kept rows. Duplicate pairs are not merged yet.
struct Interactions {
  Ids users;
  Ids items;
  std::vector<std::int32_t> user;  ///< per row
  std::vector<std::int32_t> item;  ///< per row
  std::vector<float> value;        ///< per row; empty if the log has no value column
  std::vector<std::int64_t> time;  ///< per row, microseconds since 1970 (UTC); empty unless asked for

  /// Per row: 1 if its value is not above the threshold, 2 if it is a dislike; empty unless asked for.
  std::vector<std::uint8_t> low;
  static constexpr std::uint8_t disliked = 2;

  std::int64_t empty_ids = 0;  ///< rows dropped for an empty user or item id
  std::int64_t below_threshold =
      0;  ///< rows dropped, or marked, because their value is not above the threshold
  std::int64_t disliked_rows = 0;  ///< rows marked as dislikes, which `below_threshold` does not count
  std::int64_t skipped_lines = 0;  ///< bad lines dropped (only with skip_bad_lines)

  /// How the log was interpreted: format, and for delimited text delimiter, header and columns, e.g. "csv,
  /// delimiter ',', header, user = column 1 (userId), item = column 2 (movieId), no value".
  std::string reading;

  std::optional<double> keep_above;  ///< the threshold of values that was applied

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(user.size()); }
};

}  // namespace poise
