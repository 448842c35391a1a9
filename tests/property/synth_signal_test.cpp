// Synthetic feedback must reward a model of item relations, and only through its taste structure: EASE
// clearly beats popularity on it, and no longer does once the entries are shuffled with all row and column
// sums kept.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/data/synth.hpp"
#include "poise/data/synth/counter_rng.hpp"

namespace poise {
namespace {

using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rng = synth::CounterRng;

constexpr Eigen::Index cutoff = 100;

Dense dense(const Csr& matrix) {
  Dense result = Dense::Zero(matrix.rows, matrix.cols);
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (const std::int32_t item : matrix.view().row(u)) result(u, item) = 1.0F;
  }
  return result;
}

/// Random swaps of {u has i, v has j} for {u has j, v has i}: many enough that nothing but the sums is left.
Dense degree_preserving_shuffle(const Csr& matrix) {
  Dense result = dense(matrix);
  std::vector<std::pair<std::int64_t, std::int32_t>> entries;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (const std::int32_t item : matrix.view().row(u)) entries.emplace_back(u, item);
  }
  Rng rng(1, synth::Purpose::order, 0);
  for (std::int64_t swap = 0; swap < 20 * matrix.entries(); ++swap) {
    auto& [u, i] = entries[rng.below(matrix.entries())];
    auto& [v, j] = entries[rng.below(matrix.entries())];
    if (result(u, j) != 0 || result(v, i) != 0) continue;
    result(u, i) = result(v, j) = 0.0F;
    result(u, j) = result(v, i) = 1.0F;
    std::swap(i, j);
  }
  return result;
}

/// Every tenth user held out, with a fifth of the items as targets.
struct Split {
  Dense train, fold_in, targets;

  explicit Split(const Dense& all) {
    const Eigen::Index held_out = all.rows() / 10;
    train.resize(all.rows() - held_out, all.cols());
    fold_in = targets = Dense::Zero(held_out, all.cols());
    Eigen::Index kept = 0;
    for (Eigen::Index u = 0; u < all.rows(); ++u) {
      const Eigen::Index h = u / 10;
      if (u % 10 != 0 || h >= held_out) {
        train.row(kept++) = all.row(u);
        continue;
      }
      std::vector<Eigen::Index> items;
      for (Eigen::Index i = 0; i < all.cols(); ++i) {
        if (all(u, i) != 0) items.push_back(i);
      }
      Rng rng(2, synth::Purpose::order, u);
      const std::size_t hidden = items.size() / 5;
      for (std::size_t k = 0; k < items.size(); ++k) {
        std::swap(items[k], items[k + rng.below(static_cast<std::int64_t>(items.size() - k))]);
        (k < hidden ? targets : fold_in)(h, items[k]) = 1.0F;
      }
    }
  }
};

double mean_ndcg(const Split& split, const Dense& scores) {
  double sum = 0;
  for (Eigen::Index u = 0; u < scores.rows(); ++u) {
    std::vector<Eigen::Index> order(scores.cols());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](Eigen::Index i) { return split.fold_in(u, i) != 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](Eigen::Index a, Eigen::Index b) { return scores(u, a) > scores(u, b); });
    double gain = 0;
    double ideal = 0;
    const auto hidden = static_cast<Eigen::Index>(split.targets.row(u).sum());
    for (Eigen::Index k = 0; k < cutoff; ++k) {
      const double discount = 1.0 / std::log2(static_cast<double>(k) + 2.0);
      gain += split.targets(u, order[k]) * discount;
      if (k < hidden) ideal += discount;
    }
    sum += gain / ideal;
  }
  return sum / static_cast<double>(scores.rows());
}

Dense popularity_scores(const Split& split) {
  return split.train.colwise().sum().replicate(split.fold_in.rows(), 1);
}

struct Ease {
  Dense gram, weights;

  Ease(const Dense& train, float lambda) : gram(train.transpose() * train) {
    gram.diagonal().array() += lambda;
    const Dense inverse = gram.llt().solve(Dense::Identity(gram.rows(), gram.cols()));
    weights = -(inverse * inverse.diagonal().cwiseInverse().asDiagonal());
    weights.diagonal().setZero();
  }
  /// The best weights of lower rank (reduced-rank regression): projected on the top directions of B'GB.
  [[nodiscard]] Dense of_rank(Eigen::Index rank) const {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> eigen(weights.transpose() * gram * weights);
    const Dense directions = eigen.eigenvectors().rightCols(rank);
    return weights * directions * directions.transpose();
  }
};

double best_ease(const Split& split) {
  double best = 0;
  for (const float lambda : {200.0F, 500.0F, 2000.0F}) {
    best = std::max(best, mean_ndcg(split, split.fold_in * Ease(split.train, lambda).weights));
  }
  return best;
}

TEST(SynthSignal, EaseBeatsPopularityByTasteAlone) {
  const Csr matrix = synthesize({}, {});
  const Split split(dense(matrix));
  const double popularity = mean_ndcg(split, popularity_scores(split));
  const double ease = best_ease(split);
  EXPECT_GT(ease, 1.4 * popularity);

  const Split shuffled(degree_preserving_shuffle(matrix));
  const double shuffled_popularity = mean_ndcg(shuffled, popularity_scores(shuffled));
  const double shuffled_ease = best_ease(shuffled);
  EXPECT_NEAR(shuffled_ease, shuffled_popularity, 0.1 * shuffled_popularity);

  RecordProperty("nDCG@100", fmt::format("EASE {:.3f}, popularity {:.3f}; shuffled {:.3f}, {:.3f}", ease,
                                         popularity, shuffled_ease, shuffled_popularity));
}

TEST(SynthSignal, StructureGoesBeyondTenDimensions) {
  const Split split(dense(synthesize({}, {})));
  const Ease ease(split.train, 500.0F);
  const double ten = mean_ndcg(split, split.fold_in * ease.of_rank(10));
  const double hundred = mean_ndcg(split, split.fold_in * ease.of_rank(100));
  EXPECT_GT(hundred, 1.05 * ten);
}

}  // namespace
}  // namespace poise
