#include <tuple>
#include <vector>

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(SampledDots);
POISE_BACKEND_SUITE(SampledProduct);

/// [1 . 1; . . .; . 1 .]
Csr example() { return {.rows = 3, .cols = 3, .offsets = {0, 2, 2, 3}, .indices = {0, 2, 1}, .values = {}}; }
const std::vector<float> example_t = {1, 2, 9, 9, 3, -1};
const std::vector<float> example_v = {1, 1, 10, 20, 5, 0};

const std::vector<std::tuple<int, int, double>> sampled_shapes = {
    {0, 5, 0.5}, {5, 0, 0.5}, {1, 1, 1}, {40, 16, 0.0}, {300, 17, 0.9}, {65, 200, 0.1}, {63, 515, 0.05}};
const std::vector<int> widths = {0, 1, 7, 16, 45, 130};

TEST_P(SampledDots, ByHand) {
  std::vector<float> out(3, -1);
  backend->sampled_dots(example().view(), MatrixView<const float>{example_t.data(), 3, 2, 2},
                        MatrixView<const float>{example_v.data(), 3, 2, 2}, out);
  EXPECT_EQ(out, (std::vector<float>{3, 5, 10}));
}

TEST_P(SampledDots, LikeTheReferenceInsideWiderMatrices) {
  for (const auto& [rows, cols, density] : sampled_shapes) {
    for (const int d : widths) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " x " << d);
      const Csr x = random_csr(rows, cols, density, false, 5, true);
      const Matrix<float> t = random_matrix<float>(rows, d + 1, 6);
      const Matrix<float> v = random_matrix<float>(cols, d + 2, 7);
      const MatrixView<const float> t_view{t.view().data, rows, d, d + 1};
      const MatrixView<const float> v_view{v.view().data, cols, d, d + 2};
      std::vector<float> got(x.entries(), 77);
      std::vector<float> serial(x.entries(), 77);
      std::vector<float> wanted(x.entries(), 77);
      backend->sampled_dots(x.view(), t_view, v_view, got);
      one_thread->sampled_dots(x.view(), t_view, v_view, serial);
      reference->sampled_dots(x.view(), t_view, v_view, wanted);
      ASSERT_EQ(got, serial);
      for (std::size_t e = 0; e < wanted.size(); ++e) ASSERT_NEAR(got[e], wanted[e], 1e-7 * (1 + d)) << e;
    }
  }
}

TEST_P(SampledProduct, ByHandWithAndWithoutEitherTerm) {
  const Csr x = example();
  const MatrixView<const float> t{example_t.data(), 3, 2, 2};
  const MatrixView<const float> v{example_v.data(), 3, 2, 2};
  const std::vector<float> w = {100, 10, 1};
  const std::vector<float> c = {1, 2, 3};
  std::vector<float> s(6, 1);
  const MatrixView<float> s_view{s.data(), 3, 2, 2};
  backend->sampled_product(x.view(), w, c, t, v, s_view);  // scales 97, 0, -29
  EXPECT_EQ(s, (std::vector<float>{98, 98, 1, 1, -289, -579}));
  s.assign(6, 0);
  backend->sampled_product(x.view(), {}, c, t, v, s_view);  // scales -3, -10, -30
  EXPECT_EQ(s, (std::vector<float>{-53, -3, 0, 0, -300, -600}));
  s.assign(6, 0);
  backend->sampled_product(x.view(), w, {}, t, v, s_view);
  EXPECT_EQ(s, (std::vector<float>{150, 100, 0, 0, 10, 20}));
}

TEST_P(SampledProduct, LikeTheReferenceInsideWiderMatrices) {
  for (const auto& [rows, cols, density] : sampled_shapes) {
    for (const int d : widths) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " x " << d);
      const Csr x = random_csr(rows, cols, density, true, 5, true);
      const std::vector<float> w(random_csr(1, x.entries(), 1, true, 6).values);
      const Matrix<float> t = random_matrix<float>(rows, d + 1, 6);
      const Matrix<float> v = random_matrix<float>(cols, d + 2, 7);
      const MatrixView<const float> t_view{t.view().data, rows, d, d + 1};
      const MatrixView<const float> v_view{v.view().data, cols, d, d + 2};
      const Matrix<float> start = random_matrix<float>(rows, d + 3, 8);
      Matrix<float> got = start;
      Matrix<float> serial = start;
      Matrix<float> wanted = start;
      const auto inside = [&](Matrix<float>& whole) {
        return MatrixView<float>{whole.view().data, whole.rows(), d, d + 3};
      };
      backend->sampled_product(x.view(), w, x.values, t_view, v_view, inside(got));
      one_thread->sampled_product(x.view(), w, x.values, t_view, v_view, inside(serial));
      reference->sampled_product(x.view(), w, x.values, t_view, v_view, inside(wanted));
      for (std::int64_t u = 0; u < rows; ++u) {
        const double scale = static_cast<double>(1 + x.view().row_size(u)) * (2 + d);
        for (std::int64_t j = 0; j < d + 3; ++j) {
          ASSERT_EQ(got(u, j), serial(u, j)) << u << ", " << j;
          ASSERT_NEAR(got(u, j), wanted(u, j), 3e-7 * scale) << u << ", " << j;
        }
      }
    }
  }
}

TEST_P(SampledProduct, ARowAloneIsARowAmongOthers) {
  const Csr x = random_csr(40, 300, 0.3, true, 7);
  const Matrix<float> t = random_matrix<float>(40, 33, 8);
  const Matrix<float> v = random_matrix<float>(300, 33, 9);
  Matrix<float> s(40, 33);
  backend->sampled_product(x.view(), {}, x.values, t.view(), v.view(), s.view());
  for (std::int64_t u = 0; u < 40; ++u) {
    CsrView row = x.view();
    row.rows = 1;
    row.offsets = row.offsets.subspan(u, 2);
    Matrix<float> alone(1, 33);
    backend->sampled_product(row, {}, x.values, t.view().block(u, 1), v.view(), alone.view());
    for (std::int64_t j = 0; j < 33; ++j) ASSERT_EQ(alone(0, j), s(u, j)) << u << ", " << j;
  }
}

}  // namespace
}  // namespace poise
