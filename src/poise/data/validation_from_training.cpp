#include "poise/data/validation_from_training.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/counter_stream.hpp"
#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::uint64_t validation_stream = 0x76616c6964617465;  // no other code draws from this stream

/// How many of a user's rows become validation rows.
std::int64_t tenth_of(std::int64_t rows) { return rows < 2 ? 0 : std::max<std::int64_t>(1, (rows + 5) / 10); }

/// Whether each of a user's rows is drawn.
std::vector<bool> draw(std::int64_t rows, std::uint64_t seed, std::int64_t user) {
  CounterStream random(seed, validation_stream, static_cast<std::uint64_t>(user));
  std::vector<std::int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::vector<bool> drawn(rows, false);
  for (std::int64_t k = 0; k < tenth_of(rows); ++k) {
    std::swap(order[k], order[k + random.below(rows - k)]);
    drawn[order[k]] = true;
  }
  return drawn;
}

/// A matrix of the same shape whose rows have space for `size(user)` entries, not yet filled.
template <class Size>
Csr shaped(const Csr& matrix, const Size& size) {
  Csr shape{.rows = matrix.rows, .cols = matrix.cols, .offsets = {0}};
  shape.offsets.reserve(matrix.rows + 1);
  for (std::int64_t u = 0; u < matrix.rows; ++u) shape.offsets.push_back(shape.offsets.back() + size(u));
  shape.indices.resize(shape.offsets.back());
  if (!matrix.values.empty()) shape.values.resize(shape.offsets.back());
  return shape;
}

}  // namespace

bool lacks_given_validation(const Dataset& dataset) {
  return dataset.split == SplitKind::given && !dataset.validation;
}

LoadedDataset validation_from_training(const LoadedDataset& data, std::uint64_t seed,
                                       const Execution& execution) {
  const Csr& all = data.dataset.train;
  const CsrView rows = all.view();
  Csr targets = shaped(all, [&](std::int64_t u) { return tenth_of(rows.row_size(u)); });
  Csr train = shaped(all, [&](std::int64_t u) { return rows.row_size(u) - tenth_of(rows.row_size(u)); });
  if (targets.entries() == 0)
    fail(ErrorKind::input,
         "the data have no validation part, and none can be made of training rows, because no user has "
         "two of them; give {} to poise prepare",
         "validation"_p);
  for_each_row({all.rows, 1024}, execution.threads, [&](std::int64_t u) {
    const std::vector<bool> drawn = draw(rows.row_size(u), seed, u);
    std::int64_t to_targets = targets.offsets[u];
    std::int64_t to_train = train.offsets[u];
    for (std::int64_t k = 0; k < rows.row_size(u); ++k) {
      Csr& to = drawn[k] ? targets : train;
      const std::int64_t place = drawn[k] ? to_targets++ : to_train++;
      to.indices[place] = rows.row(u)[k];
      if (!rows.values.empty()) to.values[place] = rows.row_values(u)[k];
    }
  });
  LoadedDataset derived{
      .dataset = {.items = data.dataset.items,
                  .users = data.dataset.users,
                  .train = std::move(train),
                  .validation =
                      HeldOut{.users = data.dataset.users, .fold_in = {}, .targets = std::move(targets)},
                  .test = {},
                  .split = SplitKind::given,
                  .counts = data.dataset.counts,
                  .disliked = data.dataset.disliked,
                  .features = data.dataset.features},
      .checksum = fmt::format("{}+validation:{}", data.checksum, seed)};
  derived.dataset.validation->fold_in = borrowed_rows(derived.dataset.train, all.rows);
  derived.dataset.validation->disliked = derived.dataset.disliked;
  derived.dataset.validation->disliked.indices = {};
  return derived;
}

}  // namespace poise
