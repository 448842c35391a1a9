#include "poise/solver/row_entries.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace poise {
namespace {

bool same_support(CsrView X, CsrView support) {
  return X.offsets.size() == support.offsets.size() && X.indices.size() == support.indices.size() &&
         (X.indices.data() == support.indices.data() || std::ranges::equal(X.indices, support.indices)) &&
         (X.offsets.data() == support.offsets.data() || std::ranges::equal(X.offsets, support.offsets));
}

/// The entries of X alone; C is 0 or has exactly these entries.
RowEntries on_support(CsrView X, const Weights& W, const Execution& execution) {
  std::vector<float> w(X.indices.size());
  std::vector<float> c(W.c.empty() ? 0 : w.size());
  for_each_row({X.rows, 1024}, execution.threads, [&](std::int64_t u) {
    for (std::int64_t e = X.offsets[u]; e < X.offsets[u + 1]; ++e) {
      const double background = W.a_of(u) * W.b_of(X.indices[e]);
      const double C = W.c.empty() ? 0.0 : W.c[e];
      if (!W.c.empty()) c[e] = static_cast<float>(background * C);
      w[e] = static_cast<float>(background * (1 + C));
    }
  });
  return {X.rows,
          X.cols,
          std::vector(X.offsets.begin(), X.offsets.end()),
          std::vector(X.indices.begin(), X.indices.end()),
          std::move(c),
          std::move(w)};
}

/// The union of two supports, row by row.
RowEntries merged(CsrView X, const Weights& W) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> indices;
  std::vector<float> c;
  std::vector<float> w;
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
      indices.push_back(i);
      c.push_back(static_cast<float>(background * C));
      w.push_back(in_X ? static_cast<float>(background * (1 + C)) : 0.0F);
      x += in_X ? 1 : 0;
      s += in_C ? 1 : 0;
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
  }
  return {X.rows, X.cols, std::move(offsets), std::move(indices), std::move(c), std::move(w)};
}

}  // namespace

RowEntries make_row_entries(CsrView X, const Weights& W, const Execution& execution) {
  assert(X.rows == 0 || X.offsets.front() == 0);
  if (W.c.empty() || same_support(X, W.support)) return on_support(X, W, execution);
  return merged(X, W);
}

void hold_once(RowEntries& entries, Processes* processes) {
  if (processes == nullptr) return;
  entries.offsets.hold_once(*processes);
  entries.indices.hold_once(*processes);
  entries.c.hold_once(*processes);
  entries.w.hold_once(*processes);
}

void pin(const RowEntries& entries, Backend& backend, std::vector<Pin>& pins) {
  pins.push_back(backend.pin(entries.view()));
  pins.push_back(backend.pin(entries.c.view()));
  pins.push_back(backend.pin(entries.w.view()));
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
  const CsrView from = entries.view();
  const std::span<const float> from_c = entries.c;
  const std::span<const float> from_w = entries.w;
  std::vector<std::int64_t> offsets(from.cols + 1, 0);
  for (const std::int32_t i : from.indices) ++offsets[i + 1];
  for (std::int64_t i = 0; i < from.cols; ++i) offsets[i + 1] += offsets[i];
  std::vector<std::int32_t> indices(from.indices.size());
  std::vector<float> c(from_c.size());
  std::vector<float> w(from_w.size());
  const std::int64_t parts = std::clamp(execution.threads, 1, 16);
  const std::int64_t total = std::ssize(indices);
  for_each_tile(parts, execution.threads, [&](std::int64_t part) {
    const auto bound = [&](std::int64_t share) {
      if (share == parts) return from.cols;
      const auto at = std::ranges::lower_bound(offsets, total * share / parts);
      return std::min<std::int64_t>(at - offsets.begin(), from.cols);
    };
    const std::int64_t first = bound(part);
    const std::int64_t last = bound(part + 1);
    if (first >= last) return;
    std::vector<std::int64_t> next(offsets.begin() + first, offsets.begin() + last);
    for (std::int64_t u = 0; u < from.rows; ++u) {
      for (std::int64_t e = from.offsets[u]; e < from.offsets[u + 1]; ++e) {
        const std::int64_t i = from.indices[e];
        if (i < first || i >= last) continue;
        const std::int64_t at = next[i - first]++;
        indices[at] = static_cast<std::int32_t>(u);
        if (!from_c.empty()) c[at] = from_c[e];
        w[at] = from_w[e];
      }
    }
  });
  return {from.cols, from.rows, std::move(offsets), std::move(indices), std::move(c), std::move(w)};
}

}  // namespace poise
