#pragma once

#include <cstdint>

#include "poise/base/error.hpp"

namespace poise {

/// Error{input} for an item outside a catalogue of this many.
inline void check_item(std::int32_t item, std::int64_t items) {
  if (item >= 0 && item < items) return;
  fail(ErrorKind::input, "item number {} is not one of the model's {} items", item, items);
}

}  // namespace poise
