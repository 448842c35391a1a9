#include "poise/data/log/id_map.hpp"

#include <cstring>
#include <limits>

#include <xxhash.h>

#include "poise/base/error.hpp"

namespace poise::logs {

namespace {

// Most ids are a few digits. Their bytes and their size form the key itself, so that equal keys are equal
// texts and a look-up reads only its slot. Longer texts have a hash, marked by a top byte larger than any
// size.
constexpr std::size_t longest_exact = 7;
constexpr std::uint64_t hashed_mark = 0xffULL << 56U;

std::uint64_t load4(const char* from) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint64_t key_of(std::string_view text) {
  const char* const data = text.data();
  const std::size_t size = text.size();
  if (size > longest_exact) return XXH3_64bits(data, size) | hashed_mark;
  std::uint64_t bytes = 0;
  if (size >= 4) {
    bytes = load4(data) | load4(data + size - 4) << 8 * (size - 4);
  } else {
    for (std::size_t k = 0; k < size; ++k)
      bytes |= std::uint64_t{static_cast<unsigned char>(data[k])} << 8 * k;
  }
  return bytes | std::uint64_t{size} << 56U;
}

std::size_t place_of(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15U;
  return (key ^ key >> 32U) * 0xd6e8feb86659fd93U >> 32U;
}

}  // namespace

bool IdMap::holds(const Slot& slot, std::uint64_t key, std::string_view text) const {
  return slot.key == key && (text.size() <= longest_exact || ids_[slot.id] == text);
}

std::int32_t IdMap::intern(std::string_view text) {
  const std::uint64_t key = key_of(text);
  if (last_.id >= 0 && holds(last_, key, text)) return last_.id;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = place_of(key) & mask;
  while (slots_[at].id >= 0) {
    if (holds(slots_[at], key, text)) {
      last_ = slots_[at];
      return last_.id;
    }
    at = (at + 1) & mask;
  }
  return add(at, key, text);
}

std::int32_t IdMap::add(std::size_t at, std::uint64_t key, std::string_view text) {
  const std::int64_t id = ids_.size();
  if (id == std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorKind::resources, "the log has more than {} distinct ids; split it", id);
  }
  ids_.push_back(text);
  last_ = {key, static_cast<std::int32_t>(id)};
  slots_[at] = last_;
  if (2 * (id + 1) > static_cast<std::int64_t>(slots_.size())) grow();
  return last_.id;
}

void IdMap::grow() {
  std::vector<Slot> larger(2 * slots_.size());
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id < 0) continue;
    std::size_t at = place_of(slot.key) & mask;
    while (larger[at].id >= 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace poise::logs
