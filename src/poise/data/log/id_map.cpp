#include "poise/data/log/id_map.hpp"

#include <cstring>
#include <limits>

#include <xxhash.h>

#include "poise/base/error.hpp"

namespace poise::logs {

namespace {

template <class Word>
std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Ids are mostly a few digits, for which one multiplication mixes well enough and beats a general hash.
std::uint32_t hash_text(std::string_view text) {
  const char* const data = text.data();
  const std::size_t size = text.size();
  std::uint64_t a = 0;
  if (size > 8) {
    a = XXH3_64bits(data, size);
  } else if (size >= 4) {
    a = load<std::uint32_t>(data) | load<std::uint32_t>(data + size - 4) << 32U;
  } else if (size > 0) {
    a = load<std::uint8_t>(data) | load<std::uint8_t>(data + size / 2) << 8U |
        load<std::uint8_t>(data + size - 1) << 16U;
  }
  a = (a ^ size << 56U) * 0x9e3779b97f4a7c15U;
  a = (a ^ a >> 32U) * 0xd6e8feb86659fd93U;
  return static_cast<std::uint32_t>(a >> 32U);
}

}  // namespace

std::int32_t IdMap::intern(std::string_view text) {
  const std::uint32_t hash = hash_text(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0) {
    if (slots_[at].hash == hash && ids_[slots_[at].id] == text) return slots_[at].id;
    at = (at + 1) & mask;
  }
  const std::int64_t id = ids_.size();
  if (id == std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorKind::resources, "the log has more than {} distinct ids; split it", id);
  }
  ids_.push_back(text);
  slots_[at] = {hash, static_cast<std::int32_t>(id)};
  if (2 * (id + 1) > static_cast<std::int64_t>(slots_.size())) grow();
  return static_cast<std::int32_t>(id);
}

void IdMap::grow() {
  std::vector<Slot> larger(2 * slots_.size());
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id < 0) continue;
    std::size_t at = slot.hash & mask;
    while (larger[at].id >= 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace poise::logs
