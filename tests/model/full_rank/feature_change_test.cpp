#include "poise/model/full_rank/feature_change.hpp"

#include <gtest/gtest.h>

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::to_dense;

constexpr std::int64_t items_before = 26;
constexpr std::int64_t items_after = 30;
constexpr double ridge = 2;

/// Features of 30 items, of which 3, 8 and the last four, which are new, had none.
struct Described {
  Csr after;
  Csr before;
  std::vector<std::int32_t> items = {3, 8, 26, 27, 28, 29};

  explicit Described(bool values) : after(random_csr(12, items_after, 0.3, values, 6)) {
    Csr by_item = transpose(after.view());
    Csr kept{.rows = items_before, .cols = by_item.cols, .offsets = {0}};
    for (std::int64_t i = 0; i < items_before; ++i) {
      const auto row = by_item.view().row(i);
      const auto row_values = by_item.view().row_values(i);
      if (i != 3 && i != 8) {
        kept.indices.insert(kept.indices.end(), row.begin(), row.end());
        kept.values.insert(kept.values.end(), row_values.begin(), row_values.end());
      }
      kept.offsets.push_back(kept.entries());
    }
    before = transpose(kept.view());
  }
};

/// X'X + beta F'F + lambda I, over all items.
Eigen::MatrixXd A_of(const Csr& X, const Csr& F, double beta) {
  Eigen::MatrixXd A = ridge * Eigen::MatrixXd::Identity(items_after, items_after);
  const Eigen::MatrixXd users = to_dense(X.view());
  const Eigen::MatrixXd features = to_dense(F.view());
  A.topLeftCorner(users.cols(), users.cols()) += users.transpose() * users;
  A.topLeftCorner(features.cols(), features.cols()) += beta * features.transpose() * features;
  return A;
}

template <class T>
void check_change(bool values, FeatureRowsOf rows, double beta, double tolerance) {
  SCOPED_TRACE(::testing::Message() << "values " << values << " rows " << static_cast<int>(rows) << " beta "
                                    << beta);
  const auto backend = testing::tested_backend(2);
  const Described described(values);
  const Csr X = random_csr(60, items_before, 0.2, false, 1);
  RowChange change;
  change.rows.cols = items_after;
  add_feature_change(described.before.view(), described.after.view(), beta, described.items, rows, change);
  const Eigen::MatrixXd A_before = A_of(X, described.before, beta);
  const Eigen::MatrixXd A_after = A_of(X, described.after, beta);
  const Eigen::MatrixXd exact = A_before.inverse();
  const Eigen::MatrixXd wanted = A_after.inverse();
  Matrix<T> inverse(items_after, items_after);
  for (int i = 0; i < items_after; ++i)
    for (int j = 0; j < items_after; ++j) inverse(i, j) = static_cast<T>(exact(i, j));

  // h = A^-1 e_i: what is left of e_i once A has changed.
  Resident<T> h(*backend, Matrix<T>(inverse));
  Resident<T> r(*backend, Matrix<T>(items_after, items_after));
  subtract_feature_terms<T>(change, readable(h), r.view(), *backend, 2);
  const Matrix<T> residual = r.home();
  const Eigen::MatrixXd left = exact * (A_before - A_after);

  Resident<T> there(*backend, std::move(inverse));
  update_inverse<T>(there, change, *backend, {.threads = 2});
  const Matrix<T> updated = there.home();
  for (int i = 0; i < items_after; ++i) {
    for (int j = 0; j < items_after; ++j) {
      EXPECT_NEAR(updated(i, j), wanted(i, j), tolerance) << i << ' ' << j;
      EXPECT_NEAR(residual(i, j), left(i, j), 40 * beta * tolerance) << i << ' ' << j;
    }
  }
}

TEST(FeatureChangeTest, TheInverseAndTheResidualsFollow) {
  for (const double beta : {0.5, 20.0}) {
    for (const FeatureRowsOf rows : {FeatureRowsOf::features, FeatureRowsOf::items, FeatureRowsOf::fewer}) {
      check_change<double>(false, rows, beta, 1e-12);
      check_change<float>(false, rows, beta, 2e-6);
      check_change<float>(true, rows, beta, 2e-6);
    }
    check_change<double>(true, FeatureRowsOf::features, beta, 1e-12);
    check_change<double>(true, FeatureRowsOf::items, beta, 1e-6);
  }
}

TEST(FeatureChangeTest, TheFewerRowsStandForIt) {
  const Described described(false);
  const auto rank = [&](FeatureRowsOf rows, std::span<const std::int32_t> items) {
    RowChange change;
    add_feature_change(described.before.view(), described.after.view(), 1, items, rows, change);
    return change.rank();
  };
  EXPECT_EQ(rank(FeatureRowsOf::items, described.items), 2 * 6);
  EXPECT_EQ(rank(FeatureRowsOf::fewer, described.items), 2 * 6);
  EXPECT_GT(rank(FeatureRowsOf::features, described.items), 2 * 6);
  EXPECT_EQ(rank(FeatureRowsOf::fewer, {}), 0);
  RowChange ignored;
  add_feature_change(described.before.view(), described.after.view(), 0, described.items,
                     FeatureRowsOf::fewer, ignored);
  EXPECT_EQ(ignored.rank(), 0) << "features without a weight";
}

}  // namespace
}  // namespace poise
