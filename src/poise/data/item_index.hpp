#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/ids.hpp"

namespace poise {

/// Maps item ids to their numbers: a hash table with open addressing over the ids, which must outlive it. Of
/// equal ids the first counts.
class ItemIndex {
 public:
  explicit ItemIndex(const Ids& items);

  [[nodiscard]] std::optional<std::int32_t> find(std::string_view id) const;
  /// Error{input} for an unknown id; `place`, e.g. "FILE:3: ", is its position.
  [[nodiscard]] std::int32_t at(std::string_view id, std::string_view place = {}) const;

 private:
  /// The hint that is added to the message about an unknown id.
  [[nodiscard]] std::string suggestion(std::string_view id) const;

  /// The slot that holds the id's number, or where it would go.
  [[nodiscard]] std::size_t place_of(std::string_view id) const;

  const Ids& items_;
  std::vector<std::int32_t> slots_;  // a power of two of them, at most half taken; -1 where there is none
};

/// An id and its line.
struct IdLine {
  std::string id;
  std::int64_t line = 0;
};

/// One id per line; blank lines and a byte-order mark are ignored. Error{input} if the file cannot be read.
std::vector<IdLine> read_id_lines(const std::filesystem::path& path);

}  // namespace poise
