#include "poise/base/bytes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace poise {

std::pair<std::string, std::string> compared_bytes(double one, double other) {
  const bool large = std::max(one, other) >= 1e9;
  const auto text = [&](double bytes, int decimals) {
    return fmt::format("{:.{}f} {}", bytes * (large ? 1e-9 : 1e-6), decimals, large ? "GB" : "MB");
  };
  const int all = large ? 9 : 6;
  int decimals = 1;
  while (decimals < all && text(one, decimals) == text(other, decimals) && one != other) ++decimals;
  return {text(one, decimals), text(other, decimals)};
}

}  // namespace poise
