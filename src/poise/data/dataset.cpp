#include "poise/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/data/count_names.hpp"

namespace poise {
namespace {

constexpr std::int64_t rows_per_tile = 4096;

[[noreturn]] void inconsistent(std::string_view part, std::string_view what) {
  fail(ErrorKind::input, "the prepared data is inconsistent: {} {}", part, what);
}

void check_ids(const Ids& ids, std::string_view part) {
  const auto& offsets = ids.offsets();
  if (offsets.empty() || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
      offsets.back() != static_cast<std::int64_t>(ids.bytes().size()))
    inconsistent(part, "have ids that do not fit their lengths");
  if (ids.size() > max_count) inconsistent(part, "are more than 2147483647");
}

void check_offsets(const Csr& matrix, std::int64_t rows, std::int64_t cols, std::string_view part) {
  if (matrix.rows != rows || matrix.cols != cols) inconsistent(part, "has another shape than its ids");
  const auto& offsets = matrix.offsets;
  if (static_cast<std::int64_t>(offsets.size()) != rows + 1 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    inconsistent(part, "has row offsets that do not ascend");
}

void check_matrix(const Csr& matrix, std::int64_t rows, std::int64_t cols, std::string_view part,
                  int threads) {
  check_offsets(matrix, rows, cols, part);
  if (matrix.offsets.back() != matrix.entries())
    inconsistent(part, "has row offsets that do not fit its entries");
  const CsrView view = matrix.view();
  for_each_row({rows, rows_per_tile}, threads, [&](std::int64_t r) {
    std::int32_t previous = -1;
    bool ascending = true;
    for (const std::int32_t index : view.row(r)) {
      ascending &= index > previous;
      previous = index;
    }
    if (!ascending || previous >= cols)
      inconsistent(part, "has a row that does not ascend within its columns");
  });
  if (!matrix.values.empty() && matrix.values.size() != matrix.indices.size())
    inconsistent(part, "has values that do not fit its entries");
  if (!std::all_of(matrix.values.begin(), matrix.values.end(),
                   [](float value) { return std::isfinite(value); }))
    inconsistent(part, "has a value that is not finite");
}

/// Dislikes of the users of `liked`, without values; no pair is in both.
void check_dislikes(const Csr& disliked, const Csr& liked, std::string_view part, int threads) {
  if (disliked.rows == 0 && disliked.entries() == 0) return;
  check_matrix(disliked, liked.rows, liked.cols, part, threads);
  if (!disliked.values.empty()) inconsistent(part, "have values");
  const CsrView view = disliked.view();
  const CsrView items = liked.view();
  for_each_row({view.rows, rows_per_tile}, threads, [&](std::int64_t r) {
    for (const std::int32_t item : view.row(r)) {
      if (std::ranges::binary_search(items.row(r), item))
        inconsistent(part, "have an item that their user likes");
    }
  });
}

/// With the split `given` a part only refers to the training rows: these are their likes, or dislikes.
void check_borrowed_rows(const Dataset& dataset, const HeldOut& held_out, const Csr& train,
                         const Csr& fold_in, std::string_view part) {
  check_offsets(fold_in, held_out.users.size(), train.cols, part);
  if (fold_in.rows < train.rows) inconsistent(part, "has fewer users than the training part");
  if (!fold_in.indices.empty() || !fold_in.values.empty()) inconsistent(part, "has entries of its own");
  const auto rest = fold_in.offsets.begin() + train.rows;
  if (!std::equal(train.offsets.begin(), train.offsets.end(), fold_in.offsets.begin()) ||
      !std::all_of(rest, fold_in.offsets.end(), [&](std::int64_t end) { return end == train.entries(); }))
    inconsistent(part, "does not have the training rows");
  for (std::int64_t r = 0; r < train.rows; ++r)
    if (held_out.users[r] != dataset.users[r]) inconsistent(part, "does not begin with the training users");
}

void check_features(const ItemFeatures& features, std::int64_t items, int threads) {
  if (features.rows.rows == 0 && features.rows.entries() == 0 && features.names.size() == 0) return;
  check_ids(features.names, "the item features");
  check_matrix(features.rows, features.names.size(), items, "the matrix of item features", threads);
  if (!std::ranges::all_of(features.rows.values, [](float value) { return value > 0; }))
    inconsistent("the matrix of item features", "has a value that is not above 0");
}

void check_held_out(const Dataset& dataset, const HeldOut& held_out, std::string_view part, int threads) {
  check_ids(held_out.users, fmt::format("{} users", part));
  const std::string fold_in = fmt::format("the {} fold-in", part);
  const std::string disliked = fmt::format("the {} dislikes", part);
  if (dataset.split == SplitKind::given) {
    check_borrowed_rows(dataset, held_out, dataset.train, held_out.fold_in, fold_in);
    if (dataset.disliked.rows > 0 || held_out.disliked.rows > 0)
      check_borrowed_rows(dataset, held_out, dataset.disliked, held_out.disliked, disliked);
  } else {
    check_matrix(held_out.fold_in, held_out.users.size(), dataset.items.size(), fold_in, threads);
    check_dislikes(held_out.disliked, held_out.fold_in, disliked, threads);
  }
  check_matrix(held_out.targets, held_out.users.size(), dataset.items.size(),
               fmt::format("the {} target matrix", part), threads);
}

}  // namespace

std::string_view to_string(SplitKind split) {
  constexpr std::string_view names[] = {"users", "given", "none", "time", "last", "cold-items"};
  return names[static_cast<int>(split)];
}

Csr borrowed_rows(const Csr& train, std::int64_t rows) {
  Csr matrix{.rows = rows, .cols = train.cols, .offsets = train.offsets};
  matrix.offsets.resize(rows + 1, train.entries());
  return matrix;
}

UserRows Dataset::histories(const HeldOut& part) const {
  UserRows rows(part.fold_in.view(), part.disliked.view());
  if (split == SplitKind::given) {
    rows.items.indices = train.indices;
    rows.items.values = train.values;
    rows.disliked.indices = disliked.indices;
  }
  return rows;
}

void validate(const Dataset& dataset, int threads) {
  const auto negative = [&](const CountName& name) { return dataset.counts.*name.second < 0; };
  if (std::ranges::any_of(read_counts, negative) || std::ranges::any_of(filter_counts, negative) ||
      std::ranges::any_of(dislike_counts, negative) || std::ranges::any_of(time_counts, negative) ||
      std::ranges::any_of(feature_counts, negative))
    inconsistent("a count of dropped rows", "is negative");
  if (dataset.cuts.has_value() != (dataset.split == SplitKind::time))
    inconsistent("the split", "and its cuts in time do not fit");
  check_ids(dataset.items, "the items");
  check_ids(dataset.users, "the training users");
  check_matrix(dataset.train, dataset.users.size(), dataset.items.size(), "the training matrix", threads);
  check_dislikes(dataset.disliked, dataset.train, "the dislikes", threads);
  check_features(dataset.features, dataset.items.size(), threads);
  if (dataset.validation) check_held_out(dataset, *dataset.validation, "validation", threads);
  if (dataset.test) check_held_out(dataset, *dataset.test, "test", threads);
}

}  // namespace poise
