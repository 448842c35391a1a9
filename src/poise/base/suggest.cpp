#include "poise/base/suggest.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace poise {
namespace {

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

int edit_distance(std::string_view one, std::string_view other, int most) {
  const auto m = static_cast<int>(one.size());
  const auto n = static_cast<int>(other.size());
  if (std::abs(m - n) > most) return most + 1;
  std::vector<int> before(n + 1);
  std::vector<int> last(n + 1);
  std::vector<int> now(n + 1);
  for (int j = 0; j <= n; ++j) last[j] = j;
  for (int i = 1; i <= m; ++i) {
    now[0] = i;
    for (int j = 1; j <= n; ++j) {
      const bool same = small(one[i - 1]) == small(other[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && small(one[i - 1]) == small(other[j - 2]) &&
          small(one[i - 2]) == small(other[j - 1]))
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::ranges::min_element(now) > most) return most + 1;
    std::swap(before, last);
    std::swap(last, now);
  }
  return std::min(last[n], most + 1);
}

int likely_slips(std::string_view name) { return std::clamp(static_cast<int>(name.size()) / 3, 1, 3); }

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  int least = likely_slips(name) + 1;
  for (const std::string_view candidate : known) {
    const int distance = edit_distance(name, candidate, least - 1);
    // If every character differs, it is another name.
    if (distance < least && distance < static_cast<int>(candidate.size())) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(name, known);
  return meant.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", meant);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace poise
