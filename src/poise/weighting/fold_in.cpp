#include "poise/weighting/fold_in.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "poise/base/error.hpp"
#include "poise/base/first_touch.hpp"
#include "poise/base/parallel.hpp"
#include "poise/weighting/correction.hpp"
#include "poise/weighting/dislikes.hpp"

namespace poise {
namespace {

constexpr std::int64_t rows_per_tile = 1024;

/// count / mean, clipped to [1/clip, clip]; 1 if the mean is 0, because then all counts are 0.
float relative(std::int64_t count, double mean, double clip) {
  if (mean == 0) return 1;
  return static_cast<float>(std::clamp(static_cast<double>(count) / mean, 1 / clip, clip));
}

double mean(std::int64_t sum, std::int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

}  // namespace

TrainingCounts training_counts(CsrView X, int threads) {
  return {.users = X.rows, .item_users = column_counts(X, threads), .reference = X.cols};
}

FoldInWeighting::FoldInWeighting(CsrView X, const WeightingOptions& options, int threads)
    : FoldInWeighting(X.rows, column_counts(X, threads), options) {}

FoldInWeighting::FoldInWeighting(std::int64_t users, std::span<const std::int64_t> item_users,
                                 const WeightingOptions& options)
    : FoldInWeighting(TrainingCounts{users, {item_users.begin(), item_users.end()}, std::ssize(item_users)},
                      options) {}

FoldInWeighting::FoldInWeighting(const TrainingCounts& counts, const WeightingOptions& options)
    : options_(options), values_(traits(options.scheme).values), items_(std::ssize(counts.item_users)) {
  validate(options);
  const std::int64_t users = counts.users;
  const std::span item_users(counts.item_users);
  const std::span reference = item_users.first(counts.reference);
  const std::int64_t entries = std::accumulate(reference.begin(), reference.end(), std::int64_t{0});
  mean_history_ = mean(entries, users);
  if (options.scheme == Scheme::item_oriented) {
    const double mean_without = mean(users * counts.reference - entries, counts.reference);
    for (const std::int64_t count : item_users)
      b_.push_back(relative(users - count, mean_without, options.clip));
    leave_out_ones(b_);
  }
  if (options.scheme == Scheme::inverse_popularity && entries > 0) {
    const auto most = static_cast<double>(*std::ranges::max_element(reference));
    for (const std::int64_t count : item_users)
      rareness_.push_back(
          std::min(options.clip, std::pow(static_cast<double>(count) / most, -options.gamma)));
  }
}

float FoldInWeighting::a(std::int64_t history_size) const {
  return options_.scheme == Scheme::user_oriented ? relative(history_size, mean_history_, options_.clip) : 1;
}

bool FoldInWeighting::accepts(double r) const {
  return values_ == ReadsValues::no ||
         (std::isfinite(r) && (values_ == ReadsValues::always ? r > 0 : r >= 0));
}

double FoldInWeighting::weight(std::int64_t item, double r) const {
  assert(accepts(r));
  switch (options_.scheme) {
    case Scheme::none:
      return 1;
    case Scheme::linear:
      return 1 + options_.alpha * r;
    case Scheme::log:
      return 1 + options_.alpha * std::log1p(r / options_.epsilon);
    case Scheme::inverse_popularity:
      return options_.alpha * (rareness_.empty() ? 1 : rareness_[item]);
    case Scheme::column:
      return options_.alpha * r;
    case Scheme::constant:
    case Scheme::user_oriented:
    case Scheme::item_oriented:
      break;
  }
  return options_.alpha;
}

Weights FoldInWeighting::weights(const UserRows& histories, int threads) const {
  Weights result = of_items(histories.items, threads);
  if (options_.alpha_negative != 1 && histories.any_disliked())
    add_dislikes(result, histories, options_.alpha_negative, threads);
  return result;
}

Weights FoldInWeighting::of_items(CsrView histories, int threads) const {
  if (histories.cols != items_)
    fail(ErrorKind::input,
         "the histories are over {} items but the training data over {}: use the same items", histories.cols,
         items_);
  Weights result;
  result.support = histories;
  result.b = b_;
  if (options_.scheme == Scheme::user_oriented) {
    for (std::int64_t u = 0; u < histories.rows; ++u) result.a.push_back(a(histories.row_size(u)));
    leave_out_ones(result.a);
  }
  struct Part {
    double lowest = 1;
    double highest = 1;
    bool any = false;  ///< whether any C is not 0
  };
  const Tiling tiling{histories.rows, rows_per_tile};
  std::vector<Part> parts(tiling.tiles());
  std::vector<double> of_users(histories.rows);
  // If a, b and every weight are 1, C is empty.
  const bool all_one =
      options_.scheme == Scheme::none || (options_.scheme == Scheme::constant && options_.alpha == 1);
  if (!all_one) resize_by_threads(result.c, std::ssize(histories.indices), threads);
  const auto weigh_row = [&](std::int64_t u, Part& part) {
    double of_user = 0;
    for (std::int64_t k = histories.offsets[u]; k < histories.offsets[u + 1]; ++k) {
      const std::int32_t item = histories.indices[k];
      const float r = histories.values.empty() ? 1 : histories.values[k];
      if (!accepts(r))
        fail(ErrorKind::input,
             "{} {} needs finite values {} 0, but row {}, item {} (both counted from 0) has {}: drop such "
             "entries (`poise prepare --keep-above 0`) or use {} constant",
             "weighting"_p, scheme_name(options_.scheme), values_ == ReadsValues::always ? ">" : ">=", u,
             item, r, "weighting"_p);
      const double w = weight(item, r);
      of_user += w;
      const float C = correction(result, u, k, w);
      if (C == 0) continue;
      part.any = true;
      result.c[k] = C;
      part.lowest = std::min(part.lowest, 1.0 + C);
      part.highest = std::max(part.highest, 1.0 + C);
    }
    of_users[u] = of_user;
  };
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) weigh_row(u, parts[tile]);
  });
  if (std::ranges::none_of(parts, &Part::any)) result.c = {};
  for (const Part& part : parts) {
    result.lowest = std::min(result.lowest, part.lowest);
    result.highest = std::max(result.highest, part.highest);
  }
  // Summed in the order of the users, for any number of threads.
  for (const double of_user : of_users) result.observed += of_user;
  return result;
}

}  // namespace poise
