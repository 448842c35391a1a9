#include "poise/solver/row_entries.hpp"

#include <algorithm>
#include <cassert>

namespace poise {
namespace {

bool same_support(CsrView X, CsrView support) {
  return X.offsets.size() == support.offsets.size() && X.indices.size() == support.indices.size() &&
         (X.indices.data() == support.indices.data() || std::ranges::equal(X.indices, support.indices)) &&
         (X.offsets.data() == support.offsets.data() || std::ranges::equal(X.offsets, support.offsets));
}

/// The entries of X alone; C is 0 or has exactly these entries.
RowEntries on_support(CsrView X, const Weights& W, const Execution& execution) {
  RowEntries result{X.rows, X.cols, {X.offsets.begin(), X.offsets.end()}, {}, {}, {}};
  result.indices.assign(X.indices.begin(), X.indices.end());
  result.w.resize(X.indices.size());
  if (!W.c.empty()) result.c.resize(X.indices.size());
  for_each_row({X.rows, 1024}, execution.threads, [&](std::int64_t u) {
    for (std::int64_t e = X.offsets[u]; e < X.offsets[u + 1]; ++e) {
      const double background = W.a_of(u) * W.b_of(X.indices[e]);
      const double C = W.c.empty() ? 0.0 : W.c[e];
      if (!W.c.empty()) result.c[e] = static_cast<float>(background * C);
      result.w[e] = static_cast<float>(background * (1 + C));
    }
  });
  return result;
}

/// The union of two supports, row by row.
RowEntries merged(CsrView X, const Weights& W) {
  RowEntries result;
  result.rows = X.rows;
  result.cols = X.cols;
  for (std::int64_t u = 0; u < X.rows; ++u) {
    std::int64_t x = X.offsets[u];
    std::int64_t s = W.support.offsets[u];
    while (x < X.offsets[u + 1] || s < W.support.offsets[u + 1]) {
      const bool in_X =
          x < X.offsets[u + 1] && (s == W.support.offsets[u + 1] || X.indices[x] <= W.support.indices[s]);
      const bool in_C =
          s < W.support.offsets[u + 1] && (x == X.offsets[u + 1] || W.support.indices[s] <= X.indices[x]);
      const std::int32_t i = in_X ? X.indices[x] : W.support.indices[s];
      const double background = W.a_of(u) * W.b_of(i);
      const double C = in_C ? W.c[s] : 0.0;
      result.indices.push_back(i);
      result.c.push_back(static_cast<float>(background * C));
      result.w.push_back(in_X ? static_cast<float>(background * (1 + C)) : 0.0F);
      x += in_X ? 1 : 0;
      s += in_C ? 1 : 0;
    }
    result.offsets.push_back(static_cast<std::int64_t>(result.indices.size()));
  }
  return result;
}

}  // namespace

RowEntries make_row_entries(CsrView X, const Weights& W, const Execution& execution) {
  assert(X.rows == 0 || X.offsets.front() == 0);
  if (W.c.empty() || same_support(X, W.support)) return on_support(X, W, execution);
  return merged(X, W);
}

void pin(const RowEntries& entries, Backend& backend, std::vector<Pin>& pins) {
  pins.push_back(backend.pin(entries.view()));
  pins.push_back(backend.pin(std::span<const float>(entries.c)));
  pins.push_back(backend.pin(std::span<const float>(entries.w)));
}

RowSystems systems_of(const RowEntries& rows, const Weights& W, std::span<const float> b, In<float> factors,
                      std::span<const double> sigma) {
  return {.factors = factors,
          .sigma = sigma,
          .b = b,
          .entries = rows.view(),
          .c = rows.c,
          .w = rows.w,
          .lowest = W.lowest,
          .highest = W.highest};
}

RowEntries transpose(const RowEntries& entries, const Execution& execution) {
  // Each tile of columns scans all entries for its own: a few scans cost less than scattered writes that
  // several cores share, and the order never depends on the threads.
  RowEntries result;
  result.rows = entries.cols;
  result.cols = entries.rows;
  result.offsets.assign(entries.cols + 1, 0);
  for (const std::int32_t i : entries.indices) ++result.offsets[i + 1];
  for (std::int64_t i = 0; i < entries.cols; ++i) result.offsets[i + 1] += result.offsets[i];
  result.indices.resize(entries.indices.size());
  result.c.resize(entries.c.size());
  result.w.resize(entries.w.size());
  const std::int64_t parts = std::clamp(execution.threads, 1, 16);
  const auto total = static_cast<std::int64_t>(entries.indices.size());
  for_each_tile(parts, execution.threads, [&](std::int64_t part) {
    const auto bound = [&](std::int64_t share) {
      if (share == parts) return entries.cols;
      const auto at = std::ranges::lower_bound(result.offsets, total * share / parts);
      return std::min<std::int64_t>(at - result.offsets.begin(), entries.cols);
    };
    const std::int64_t first = bound(part);
    const std::int64_t last = bound(part + 1);
    if (first >= last) return;
    std::vector<std::int64_t> next(result.offsets.begin() + first, result.offsets.begin() + last);
    for (std::int64_t u = 0; u < entries.rows; ++u) {
      for (std::int64_t e = entries.offsets[u]; e < entries.offsets[u + 1]; ++e) {
        const std::int64_t i = entries.indices[e];
        if (i < first || i >= last) continue;
        const std::int64_t at = next[i - first]++;
        result.indices[at] = static_cast<std::int32_t>(u);
        if (!entries.c.empty()) result.c[at] = entries.c[e];
        result.w[at] = entries.w[e];
      }
    }
  });
  return result;
}

}  // namespace poise
