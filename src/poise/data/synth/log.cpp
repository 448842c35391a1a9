#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/data/synth.hpp"
#include "poise/data/synth/counter_rng.hpp"
#include "poise/storage/atomic_file.hpp"

namespace poise {
namespace {

using namespace synth;

constexpr std::int64_t tiles_per_batch = 32;  // the text of one batch is held in memory: some 70 MB at most

/// Puts a user's row into the log's order; values may be empty.
void shuffle_row(std::uint64_t seed, std::int64_t user, std::span<std::int32_t> items,
                 std::span<float> values) {
  CounterRng rng(seed, Purpose::order, user);
  for (std::int64_t k = static_cast<std::int64_t>(items.size()) - 1; k > 0; --k) {
    const std::int64_t other = rng.below(k + 1);
    std::swap(items[k], items[other]);
    if (!values.empty()) std::swap(values[k], values[other]);
  }
}

void append_number(std::string& text, std::int64_t number, char end) {
  std::array<char, 24> digits;
  char* const last = std::to_chars(digits.data(), digits.data() + digits.size() - 1, number).ptr;
  *last = end;
  text.append(digits.data(), last + 1);
}

void append_user(std::string& text, CsrView matrix, std::uint64_t seed, std::int64_t user) {
  std::vector<std::int32_t> items(matrix.row(user).begin(), matrix.row(user).end());
  std::vector<float> values(matrix.row_values(user).begin(), matrix.row_values(user).end());
  shuffle_row(seed, user, items, values);
  for (std::size_t k = 0; k < items.size(); ++k) {
    append_number(text, user + 1, ',');
    append_number(text, std::int64_t{items[k]} + 1, values.empty() ? '\n' : ',');
    if (!values.empty()) append_number(text, static_cast<std::int64_t>(values[k]), '\n');
  }
}

/// Renumbers in order of first appearance and returns the ids, one more than the old numbers.
Ids number_by_appearance(std::vector<std::int32_t>& numbers, std::int64_t bound) {
  Ids ids;
  std::vector<std::int32_t> renumbered(bound, -1);
  for (std::int32_t& number : numbers) {
    std::int32_t& fresh = renumbered[number];
    if (fresh < 0) {
      fresh = static_cast<std::int32_t>(ids.size());
      ids.push_back(fmt::format_int(std::int64_t{number} + 1).c_str());
    }
    number = fresh;
  }
  return ids;
}

}  // namespace

void write_synth_csv(const std::filesystem::path& path, CsrView matrix, std::uint64_t seed,
                     const Execution& execution) {
  AtomicFile file(path);
  file.write(matrix.values.empty() ? "user,item\n" : "user,item,count\n");
  const Tiling tiling{matrix.rows, users_per_tile};
  const Tiling batches{tiling.tiles(), tiles_per_batch};
  Progress progress(execution.observer, "write", matrix.entries(), "rows");
  std::vector<std::string> texts(tiles_per_batch);
  for (std::int64_t batch = 0; batch < batches.tiles(); ++batch) {
    const std::int64_t first = batches.first(batch);
    const std::int64_t count = batches.last(batch) - first;
    for_each_tile(count, execution.threads, [&](std::int64_t k) {
      texts[k].clear();
      const std::int64_t begin = tiling.first(first + k);
      const std::int64_t end = tiling.last(first + k);
      for (std::int64_t u = begin; u < end; ++u) append_user(texts[k], matrix, seed, u);
      progress.advance(matrix.offsets[end] - matrix.offsets[begin]);
    });
    for (std::int64_t k = 0; k < count; ++k) file.write(texts[k]);
  }
  file.commit();
}

Interactions synth_interactions(Csr matrix, std::uint64_t seed, const Execution& execution) {
  Interactions log;
  log.user.resize(matrix.indices.size());
  const Tiling tiling{matrix.rows, users_per_tile};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
      const std::int64_t first = matrix.offsets[u];
      const std::int64_t size = matrix.offsets[u + 1] - first;
      std::span<float> values(matrix.values);
      if (!values.empty()) values = values.subspan(first, size);
      shuffle_row(seed, u, std::span(matrix.indices).subspan(first, size), values);
      std::fill_n(log.user.begin() + first, size, static_cast<std::int32_t>(u));
    }
  });
  log.item = std::move(matrix.indices);
  log.value = std::move(matrix.values);
  log.users = number_by_appearance(log.user, matrix.rows);
  log.items = number_by_appearance(log.item, matrix.cols);
  return log;
}

}  // namespace poise
