#include <limits>
#include <tuple>
#include <vector>

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(ColumnHessian);

TEST_P(ColumnHessian, ByHandWithAndWithoutWeights) {
  // Users {0, 1}, {1}, {0, 1, 2}; item 1 has all three users, item 2 the last.
  const Csr x{.rows = 3, .cols = 3, .offsets = {0, 2, 3, 6}, .indices = {0, 1, 1, 0, 1, 2}, .values = {}};
  Csr columns = transpose(x.view());
  columns.values = {9, 9, 2, 3, 10, 7};
  const std::vector<std::int32_t> items = {1, 2};
  const std::vector<float> p = {1, 2, 4, 1, 1, 1};
  const MatrixView<const float> p_view{p.data(), 2, 3, 3};
  std::vector<float> out = {1, 1, 1, 0, 0, 0};
  // Item 1: dots 3, 2, 7, times weights 6, 6, 70.
  backend->column_hessian(x.view(), columns.view(), items, p_view, MatrixView<float>{out.data(), 2, 3, 3});
  EXPECT_EQ(out, (std::vector<float>{77, 83, 71, 21, 21, 21}));
  columns.values.clear();
  out.assign(6, 0);
  backend->column_hessian(x.view(), columns.view(), items, p_view, MatrixView<float>{out.data(), 2, 3, 3});
  EXPECT_EQ(out, (std::vector<float>{10, 12, 7, 3, 3, 3}));
}

template <class T>
void check_hessian(testing::HostCalls& backend, testing::HostCalls& one_thread, testing::HostCalls& reference,
                   std::int64_t users, std::int64_t n, double density, bool weighted) {
  SCOPED_TRACE(::testing::Message() << users << " x " << n << (weighted ? ", weighted" : ""));
  const Csr x = random_csr(users, n, density, true, 5);
  Csr columns = transpose(x.view());
  if (!weighted) columns.values.clear();
  std::vector<std::int32_t> items;
  for (std::int32_t i = 0; i < n; i += 2) items.push_back(i);
  if (n > 0) items.push_back(0);  // an item may be asked for twice
  const auto k = static_cast<std::int64_t>(items.size());
  const Matrix<T> p = random_matrix<T>(k, n + 2, 6);
  const MatrixView<const T> p_view{p.view().data, k, n, n + 2};
  const Matrix<T> start = random_matrix<T>(k, n + 1, 7);
  Matrix<T> got = start;
  Matrix<T> serial = start;
  Matrix<T> wanted = start;
  const auto inside = [&](Matrix<T>& whole) { return MatrixView<T>{whole.view().data, k, n, n + 1}; };
  backend.column_hessian(x.view(), columns.view(), items, p_view, inside(got));
  one_thread.column_hessian(x.view(), columns.view(), items, p_view, inside(serial));
  reference.column_hessian(x.view(), columns.view(), items, p_view, inside(wanted));
  const double scale = static_cast<double>(users + 1) * static_cast<double>(n);
  for (std::int64_t s = 0; s < k; ++s) {
    for (std::int64_t j = 0; j <= n; ++j) {
      ASSERT_EQ(got(s, j), serial(s, j)) << s << ", " << j;
      const double rounding = std::numeric_limits<T>::epsilon() * std::abs(wanted(s, j));
      ASSERT_NEAR(got(s, j), wanted(s, j), rounding + 4e-16 * scale) << s << ", " << j;
    }
  }
}

TEST_P(ColumnHessian, LikeTheReferenceInsideWiderMatrices) {
  const std::vector<std::tuple<int, int, double>> shapes = {{0, 5, 0.5},     {5, 0, 0.5},    {1, 1, 1},
                                                            {40, 15, 0.3},   {40, 16, 0.0},  {300, 17, 0.9},
                                                            {100, 200, 0.1}, {63, 515, 0.05}};
  for (const auto& [users, n, density] : shapes) {
    for (const bool weighted : {false, true}) {
      check_hessian<float>(backend, one_thread, reference, users, n, density, weighted);
      check_hessian<double>(backend, one_thread, reference, users, n, density, weighted);
    }
  }
}

TEST_P(ColumnHessian, NoSystems) {
  const Csr x = random_csr(5, 4, 0.5, false, 1);
  const Csr columns = transpose(x.view());
  Matrix<float> none(0, 4);
  backend->column_hessian(x.view(), columns.view(), {}, none.view(), none.view());
}

}  // namespace
}  // namespace poise
