#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/data/ids.hpp"

namespace poise::logs {

/// Numbers texts 0, 1, 2, ... in order of first appearance, by a hash table with open addressing.
class IdMap {
 public:
  IdMap() : slots_(256) {}

  /// The text's number; a new text gets the next one. More than 2^31 - 1 texts are an Error{resources}.
  std::int32_t intern(std::string_view text);
  [[nodiscard]] const Ids& ids() const { return ids_; }
  [[nodiscard]] Ids take() { return std::move(ids_); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t id = -1;
  };
  [[nodiscard]] bool holds(const Slot& slot, std::uint64_t key, std::string_view text) const;
  std::int32_t add(std::size_t at, std::uint64_t key, std::string_view text);
  void grow();

  Ids ids_;
  std::vector<Slot> slots_;  // their number is a power of two; at most half are used
  Slot last_;                // the last one found: most logs are sorted by user or item
};

}  // namespace poise::logs
