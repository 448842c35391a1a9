#include "poise/model/full_rank/full_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::random_csr;
using testing::random_matrix;

/// Every entry that is not zero.
Csr as_sparse(const Matrix<float>& B) {
  Csr sparse{.rows = B.rows(), .cols = B.cols(), .offsets = {0}};
  for (std::int64_t r = 0; r < B.rows(); ++r) {
    for (std::int32_t c = 0; c < B.cols(); ++c) {
      if (B(r, c) == 0) continue;
      sparse.indices.push_back(c);
      sparse.values.push_back(B(r, c));
    }
    sparse.offsets.push_back(sparse.entries());
  }
  return sparse;
}

Matrix<float> scores_of(const FullRank& model, const Csr& histories, std::int64_t first, std::int64_t rows) {
  Matrix<float> scores(rows, model.items(), -1.0F);
  model.score(histories.view().block(first, scores.rows()), scores.view());
  return scores;
}

TEST(FullRank, ScoresByHand) {
  Matrix<float> B(3, 3);
  const float entries[3][3] = {{0, 1, 2}, {4, 0, -8}, {16, 32, 0}};
  for (int j = 0; j < 3; ++j) std::copy(entries[j], entries[j] + 3, B.row(j).begin());
  const Csr histories{
      .rows = 3, .cols = 3, .offsets = {0, 0, 1, 3}, .indices = {2, 0, 1}, .values = {9, 9, 9}};
  for (const FullRank& model : {FullRank(B), FullRank(as_sparse(B))}) {
    const Matrix<float> scores = scores_of(model, histories, 0, 3);
    const std::vector<std::vector<float>> wanted = {{0, 0, 0}, {16, 32, 0}, {4, 1, -6}};
    for (std::int64_t u = 0; u < 3; ++u)
      EXPECT_TRUE(std::ranges::equal(scores.row(u), wanted[u])) << "values of a history do not count, " << u;
    EXPECT_EQ(model.contribution(1, 2), -8.0F);
    EXPECT_EQ(model.contribution(2, 2), 0.0F);
  }
}

/// More items than a block of columns, histories of every length modulo the rows added at once. With a sparse
/// B rounded once, with a dense one as Backend::spmm says.
TEST(FullRank, ScoresAreTheSumsOfTheContributions) {
  constexpr std::int64_t n = 1201;
  Matrix<float> B = random_matrix<float>(n, n, 1);
  for (std::int64_t j = 0; j < n; ++j) B(j, (j * 7) % n) *= 1e4F;
  const Csr histories = random_csr(9, n, 0.3, false, 2);
  for (const FullRank& model : {FullRank(B), FullRank(as_sparse(B))}) {
    const Matrix<float> scores = scores_of(model, histories, 2, 7);
    for (std::int64_t u = 2; u < 9; ++u) {
      for (std::int32_t i = 0; i < n; ++i) {
        const auto added = model.contributions(histories.view().row(u), {}, {}, i);
        const double sum = std::accumulate(added.begin(), added.end(), 0.0);
        if (model.sparse() != nullptr) {
          ASSERT_EQ(scores(u - 2, i), static_cast<float>(sum)) << u << " " << i;
          continue;
        }
        double size = 0;
        for (const double part : added) size += std::abs(part);
        ASSERT_NEAR(scores(u - 2, i), sum, 2e-6 * size) << u << " " << i;
      }
    }
  }
}

TEST(FullRank, ViewKeepsItsOwner) {
  auto owner = std::make_shared<const Matrix<float>>(2, 2, 3.0F);
  const std::weak_ptr<const Matrix<float>> watch = owner;
  {
    const FullRank model(owner->view(), owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(model.dense()(1, 0), 3.0F);
    EXPECT_EQ(model.sparse(), nullptr);
  }
  EXPECT_TRUE(watch.expired());
}

/// Sorts every column as a whole.
Csr slow_keep_top(const Matrix<float>& B, std::int64_t per_column) {
  Matrix<float> kept(B.rows(), B.cols());
  for (std::int64_t c = 0; c < B.cols(); ++c) {
    std::vector<std::int64_t> rows(B.rows());
    std::iota(rows.begin(), rows.end(), 0);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::int64_t a, std::int64_t b) { return std::abs(B(a, c)) > std::abs(B(b, c)); });
    for (std::int64_t k = 0; k < std::min(per_column, B.rows()); ++k) kept(rows[k], c) = B(rows[k], c);
  }
  return as_sparse(kept);
}

TEST(KeepTop, TheLargestInSizeOfEachColumnWhateverTheThreads) {
  Matrix<float> ties = random_matrix<float>(150, 150, 3, 7);
  for (std::int64_t j = 0; j < 150; ++j)
    for (float& entry : ties.row(j)) entry = entry == 6 ? -3.0F : entry;
  for (const Matrix<float>& B : {random_matrix<float>(150, 150, 1), ties, Matrix<float>(40, 40)}) {
    for (const std::int64_t per_column : {1, 5, 149, 150, 1000}) {
      const Csr wanted = slow_keep_top(B, per_column);
      for (const int threads : {1, 2, 5}) EXPECT_EQ(keep_top(B.view(), per_column, threads), wanted);
    }
  }
}

TEST(KeepTop, NothingToKeep) {
  EXPECT_EQ(keep_top(Matrix<float>(0, 0).view(), 3, 2).entries(), 0);
  expect_error(ErrorKind::usage, "at least one", [] { keep_top(Matrix<float>(2, 2).view(), 0, 1); });
}

}  // namespace
}  // namespace poise
