// Products with the residuals of saved columns, against residuals that were formed.
#include "poise/solver/column_probes.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"
#include "poise/solver/column_residual.hpp"

#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

struct ProbedCase {
  const char* name;
  bool users;      ///< weights a_u
  bool items;      ///< weights b_i
  bool entries;    ///< weights C
  bool elsewhere;  ///< C on entries of its own
};

TEST(ColumnProbes, AgainstResidualsThatWereFormed) {
  const Csr X = random_csr(70, 30, 0.15, false, 4, true);
  const Csr other = random_csr(70, 30, 0.1, false, 5, true);
  const Matrix<float> columns = random_matrix<float>(30, 30, 6);
  for (const ProbedCase& kind : {ProbedCase{"plain", false, false, false, false},
                                 {"users", true, false, false, false},
                                 {"items", false, true, false, false},
                                 {"entries", false, false, true, false},
                                 {"all", true, true, true, false},
                                 {"entries elsewhere", true, true, true, true}}) {
    SCOPED_TRACE(kind.name);
    Weights W;
    if (kind.users) {
      for (std::int64_t u = 0; u < X.rows; ++u) W.a.push_back(0.5F + 0.25F * static_cast<float>(u % 7));
    }
    if (kind.items) {
      for (std::int64_t i = 0; i < X.cols; ++i) W.b.push_back(0.5F + 0.25F * static_cast<float>(i % 5));
    }
    W.support = kind.elsewhere ? other.view() : X.view();
    for (std::int64_t e = 0; kind.entries && e < W.support.entries(); ++e)
      W.c.push_back(-0.5F + 0.25F * static_cast<float>(e % 9));
    std::vector<double> l;
    for (std::int64_t i = 0; i < X.cols; ++i) l.push_back(1 + static_cast<double>(i % 3));
    const ColumnProblem problem = make_column_problem(X.view(), W, l);
    std::vector<std::int32_t> all(X.cols);
    std::iota(all.begin(), all.end(), 0);
    Matrix<double> R(X.cols, X.cols);  // row i is rho_i
    std::vector<ColumnFigures> figures(X.cols);
    column_residuals(problem, all, columns.view(), R.view(), figures, {.threads = 1});

    const auto backend = testing::tested_backend(2);
    const Execution execution{.threads = 2};
    const WeightedTranspose users_of = weighted_transpose(problem);
    const SharedSystem A(problem, users_of.view(), *backend, execution);
    WeightedErrors E(problem, A.users_of(), *backend, execution);
    EXPECT_EQ(E.empty(), !kind.entries);
    const std::span<const std::int32_t> items = all;
    const Lent there(*backend, columns);
    E.add(items.first(11), there.view().block(0, 11), {});
    E.add(items.subspan(11), there.view().block(11, 19), {});
    const Matrix<double> z = random_matrix<double>(30, 35, 7);
    const ResidualProducts made = residual_products(A, E, there.view(), z, *backend);
    InverseForms forms;
    forms.e = random_matrix<double>(30, 35, 8);
    forms.background = A.background(forms.e);
    const Matrix<double> dots = residual_dots(A, E, there.view(), forms, *backend);
    for (std::int64_t i = 0; i < 30; ++i) {
      for (std::int64_t p = 0; p < 35; ++p) {
        double Rz = 0;
        double Bz = 0;
        double Re = 0;
        for (std::int64_t j = 0; j < 30; ++j) {
          Rz += R(j, i) * z(j, p);
          Bz += static_cast<double>(columns(j, i)) * z(j, p);
          Re += R(i, j) * forms.e(j, p);
        }
        ASSERT_NEAR(made.R(i, p), Rz, 1e-9) << i << ", " << p;
        ASSERT_NEAR(made.B(i, p), Bz, 1e-11) << i << ", " << p;
        ASSERT_NEAR(dots(i, p), Re, 1e-9) << i << ", " << p;
      }
    }
  }
}

}  // namespace
}  // namespace poise
