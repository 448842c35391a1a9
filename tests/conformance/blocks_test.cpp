#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "poise/backend/resident.hpp"

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_DEVICE_SUITE(Blocks);
POISE_DEVICE_SUITE(ResidentMatrix);
POISE_DEVICE_SUITE(ColumnForm);
POISE_BACKEND_SUITE(Pins);

const std::vector<std::pair<std::int64_t, std::int64_t>> block_shapes = {
    {0, 5}, {5, 0}, {1, 1}, {3, 7}, {40, 64}, {130, 129}, {257, 33}, {2, 3001}};

/// A matrix inside a wider one.
template <class T>
class Placed {
 public:
  Placed(Backend& backend, const Matrix<T>& matrix) : cols_(matrix.cols()) {
    Matrix<T> wide(matrix.rows(), cols_ + margin, T{77});
    for (std::int64_t r = 0; r < wide.rows(); ++r) std::ranges::copy(matrix.row(r), wide.row(r).begin());
    wide_ = Resident<T>(backend, std::move(wide));
  }
  Out<T> view() { return wide_.view().columns(0, cols_); }
  /// The contents; the margin must be what it was.
  Matrix<T> contents() {
    const Matrix<T> wide = wide_.home();
    Matrix<T> result(wide.rows(), cols_);
    for (std::int64_t r = 0; r < wide.rows(); ++r) {
      std::ranges::copy(wide.row(r).first(cols_), result.row(r).begin());
      for (const T value : wide.row(r).subspan(cols_)) EXPECT_EQ(value, T{77}) << "the margin of row " << r;
    }
    return result;
  }

 private:
  static constexpr std::int64_t margin = 3;
  std::int64_t cols_;
  Resident<T> wide_;
};

template <class T>
constexpr double precision = sizeof(T) == 4 ? 1e-6 : 1e-13;

template <class T>
void expect_near(const Matrix<T>& got, const Matrix<T>& wanted, double tolerance) {
  ASSERT_EQ(got.rows(), wanted.rows());
  for (std::int64_t r = 0; r < wanted.rows(); ++r) {
    for (std::int64_t c = 0; c < wanted.cols(); ++c)
      ASSERT_NEAR(got(r, c), wanted(r, c), tolerance) << "at " << r << ", " << c;
  }
}

std::vector<double> random_vector(std::int64_t size, unsigned seed) {
  const Matrix<double> row = random_matrix<double>(1, size, seed);
  return {row.row(0).begin(), row.row(0).end()};
}

/// Every second row or column number, backwards.
std::vector<std::int32_t> some_of(std::int64_t count) {
  std::vector<std::int32_t> chosen;
  for (std::int64_t r = count - 1; r >= 0; r -= 2) chosen.push_back(static_cast<std::int32_t>(r));
  return chosen;
}

template <class Check>
void in_both_types(Check check) {
  for (const bool resident : {false, true}) {
    SCOPED_TRACE(resident ? "resident" : "ordinary memory");
    check(float{});
    check(double{});
  }
}

TEST_P(Blocks, CombineAddsUpTerms) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, cols] : block_shapes) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const Matrix<T> a = random_matrix<T>(rows, cols, 1);
      const Matrix<T> b = random_matrix<T>(rows, cols, 2);
      const std::vector<double> by_row = random_vector(rows, 3);
      const std::vector<double> by_col = random_vector(cols, 4);
      Placed<T> out(*backend, a);
      Placed<T> other(*backend, b);
      // out is the x of two terms.
      const std::vector<Term<T>> terms = {{.x = out.view(), .scale = 2, .rows = by_row},
                                          {.x = other.view(), .scale = -0.5, .rows = by_row, .cols = by_col},
                                          {.x = out.view(), .cols = by_col},
                                          {.x = other.view()}};
      backend->combine(terms, out.view());
      Matrix<T> wanted(rows, cols);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          const double x = a(r, c);
          const double y = b(r, c);
          wanted(r, c) =
              static_cast<T>(2 * by_row[r] * x - 0.5 * by_row[r] * by_col[c] * y + by_col[c] * x + y);
        }
      }
      expect_near(out.contents(), wanted, precision<T>);
      backend->combine(std::span<const Term<T>>(), out.view());
      expect_near(out.contents(), Matrix<T>(rows, cols), 0);
    }
  });
}

TEST_P(Blocks, CombineTakesAnyNumberOfTerms) {
  in_both_types([&]<class T>(T) {
    for (const std::size_t count : {1, 4, 5, 13}) {
      Placed<T> out(*backend, random_matrix<T>(9, 40, 1));
      std::vector<Placed<T>> others;
      std::vector<std::vector<double>> by_row;
      Matrix<double> wanted(9, 40);
      others.reserve(count);
      for (std::size_t t = 0; t < count; ++t) {
        const Matrix<T> x = random_matrix<T>(9, 40, 10 + static_cast<unsigned>(t));
        others.emplace_back(*backend, x);
        by_row.push_back(random_vector(9, 30 + static_cast<unsigned>(t)));
        for (std::int64_t r = 0; r < 9; ++r) {
          for (std::int64_t c = 0; c < 40; ++c) wanted(r, c) += by_row[t][r] * double{x(r, c)};
        }
      }
      std::vector<Term<T>> terms;
      for (std::size_t t = 0; t < count; ++t) terms.push_back({.x = others[t].view(), .rows = by_row[t]});
      backend->combine(terms, out.view());
      const Matrix<T> got = out.contents();
      for (std::int64_t r = 0; r < 9; ++r) {
        for (std::int64_t c = 0; c < 40; ++c) ASSERT_NEAR(got(r, c), wanted(r, c), 4 * precision<T>);
      }
    }
  });
}

TEST_P(Blocks, AddRowsLeavesOthersAlone) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, cols] : block_shapes) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const std::vector<std::int32_t> chosen = some_of(rows);
      std::vector<double> factors = random_vector(std::ssize(chosen), 3);
      Matrix<T> x = random_matrix<T>(std::ssize(chosen), cols, 1);
      const Matrix<T> y = random_matrix<T>(rows, cols, 2);
      // What is not added is not read either.
      if (factors.size() > 1) {
        factors[1] = 0;
        for (T& value : x.row(1)) value = std::numeric_limits<T>::quiet_NaN();
      }
      Placed<T> added(*backend, x);
      Placed<T> out(*backend, y);
      backend->add_rows(factors, added.view(), out.view(), chosen);
      Matrix<T> wanted = y;
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (factors[k] == 0) continue;
        for (std::int64_t c = 0; c < cols; ++c)
          wanted(chosen[k], c) = static_cast<T>(double{y(chosen[k], c)} +
                                                factors[k] * double{x(static_cast<std::int64_t>(k), c)});
      }
      expect_near(out.contents(), wanted, precision<T>);
    }
  });
}

TEST_P(Blocks, RowDotsAreInFloat64) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, cols] : block_shapes) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const Matrix<T> x = random_matrix<T>(rows, cols, 1);
      const Matrix<T> y = random_matrix<T>(rows, cols, 2);
      Placed<T> a(*backend, x);
      Placed<T> b(*backend, y);
      std::vector<double> out(rows, -1);
      backend->row_dots(a.view(), b.view(), out);
      for (std::int64_t r = 0; r < rows; ++r) {
        double wanted = 0;
        for (std::int64_t c = 0; c < cols; ++c) wanted += double{x(r, c)} * double{y(r, c)};
        ASSERT_NEAR(out[r], wanted, 1e-12) << "row " << r;
      }
    }
  });
}

TEST_P(Blocks, CopyRows) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, cols] : block_shapes) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const std::vector<std::int32_t> chosen = some_of(rows);
      const auto count = std::ssize(chosen);
      const Matrix<T> from = random_matrix<T>(rows, cols, 1);
      const Matrix<T> blank(rows, cols, T{5});
      Placed<T> source(*backend, from);
      // Gathered to the front, and scattered from there.
      Placed<T> gathered(*backend, blank);
      backend->copy_rows(source.view(), chosen, gathered.view().block(0, count), {});
      Placed<T> scattered(*backend, blank);
      backend->copy_rows(source.view().block(0, count), {}, scattered.view(), chosen);
      Matrix<T> wanted_gathered = blank;
      Matrix<T> wanted_scattered = blank;
      for (std::int64_t k = 0; k < count; ++k) {
        std::ranges::copy(from.row(chosen[k]), wanted_gathered.row(k).begin());
        std::ranges::copy(from.row(k), wanted_scattered.row(chosen[k]).begin());
      }
      expect_near(gathered.contents(), wanted_gathered, 0);
      expect_near(scattered.contents(), wanted_scattered, 0);
      if (rows < 3) continue;
      // Within one matrix, and one row many times.
      const std::vector<std::int32_t> last(2, static_cast<std::int32_t>(rows - 1));
      const std::vector<std::int32_t> first = {0, 1};
      backend->copy_rows(source.view(), last, source.view(), first);
      Matrix<T> wanted = from;
      for (const std::int32_t r : first) std::ranges::copy(from.row(rows - 1), wanted.row(r).begin());
      expect_near(source.contents(), wanted, 0);
    }
  });
}

TEST_P(Blocks, Entries) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, cols] : block_shapes) {
      if (cols == 0) continue;
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const Matrix<T> x = random_matrix<T>(rows, cols, 1);
      Placed<T> matrix(*backend, x);
      const std::vector<std::int32_t> chosen = some_of(rows);
      std::vector<std::int32_t> columns(rows);
      for (std::int64_t r = 0; r < rows; ++r) columns[r] = static_cast<std::int32_t>(r * 5 % cols);
      std::vector<double> got(rows, 9);
      backend->get_entries(matrix.view(), {}, columns, got);
      for (std::int64_t r = 0; r < rows; ++r) ASSERT_EQ(got[r], double{x(r, columns[r])});
      const auto first = std::span(columns).first(chosen.size());
      std::vector<double> some(chosen.size(), 9);
      backend->get_entries(matrix.view(), chosen, first, some);
      for (std::size_t k = 0; k < chosen.size(); ++k) ASSERT_EQ(some[k], double{x(chosen[k], first[k])});
      std::vector<double> values(rows);
      std::iota(values.begin(), values.end(), 10);
      backend->set_entries(matrix.view(), columns, values);
      Matrix<T> wanted = x;
      for (std::int64_t r = 0; r < rows; ++r) wanted(r, columns[r]) = static_cast<T>(values[r]);
      expect_near(matrix.contents(), wanted, 0);
    }
  });
}

TEST_P(Blocks, TransposeInPlace) {
  for (const std::int64_t n : {0, 1, 2, 31, 33, 100, 259}) {
    SCOPED_TRACE(n);
    const Matrix<float> a = random_matrix<float>(n, n, 1);
    Placed<float> matrix(*backend, a);
    backend->transpose_in_place(matrix.view());
    Matrix<float> wanted(n, n);
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < n; ++c) wanted(r, c) = a(c, r);
    }
    expect_near(matrix.contents(), wanted, 0);
  }
}

TEST_P(Blocks, MultiplySymmetricIsAsExactAsFloat32) {
  in_both_types([&]<class T>(T) {
    for (const auto& [rows, n] : block_shapes) {
      if (n > 300) continue;
      SCOPED_TRACE(::testing::Message() << rows << " x " << n);
      const Matrix<T> r = random_matrix<T>(rows, n, 1);
      Matrix<T> a = random_matrix<T>(n, n, 2);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) a(i, j) = a(j, i);
      }
      Placed<T> left(*backend, r);
      Placed<T> symmetric(*backend, a);
      Placed<T> out(*backend, Matrix<T>(rows, n, T{3}));
      backend->multiply_symmetric(left.view(), symmetric.view(), out.view());
      Matrix<T> wanted(rows, n);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < n; ++k) sum += double{r(i, k)} * double{a(k, j)};
          wanted(i, j) = static_cast<T>(sum);
        }
      }
      expect_near(out.contents(), wanted, precision<T> * std::sqrt(static_cast<double>(n)));
    }
  });
}

TEST_P(Blocks, CopyRoundsToNearestBetweenTypes) {
  for (const auto& [rows, cols] : block_shapes) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    const Matrix<double> x = random_matrix<double>(rows, cols, 1);
    Matrix<float> rounded(rows, cols);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) rounded(r, c) = static_cast<float>(x(r, c));
    }
    Placed<double> exact(*backend, x);
    Placed<float> single(*backend, Matrix<float>(rows, cols));
    backend->copy(exact.view(), single.view());
    expect_near(single.contents(), rounded, 0);
    Placed<float> single_again(*backend, Matrix<float>(rows, cols));
    backend->copy(single.view(), single_again.view());
    expect_near(single_again.contents(), rounded, 0);
    Placed<double> wide(*backend, Matrix<double>(rows, cols));
    backend->copy(single.view(), wide.view());
    const Matrix<double> got = wide.contents();
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) ASSERT_EQ(got(r, c), double{rounded(r, c)});
    }
    Placed<double> again(*backend, Matrix<double>(rows, cols));
    backend->copy(exact.view(), again.view());
    expect_near(again.contents(), x, 0);
  }
}

TEST_P(ResidentMatrix, LendsAndBorrowsOrdinaryMemory) {
  const Matrix<float> x = random_matrix<float>(7, 5, 1);
  const Lent lent(*backend, x);
  Matrix<float> to(7, 9, 77);
  Borrowed<float> borrowed(*backend, MatrixView<float>{to.view().data, 7, 5, 9});
  backend->combine(std::vector<Term<float>>{{.x = lent.view(), .scale = 2}}, borrowed.view());
  borrowed.give_back();
  for (std::int64_t r = 0; r < 7; ++r) {
    for (std::int64_t c = 0; c < 5; ++c) ASSERT_EQ(to(r, c), 2 * x(r, c));
    for (std::int64_t c = 5; c < 9; ++c) ASSERT_EQ(to(r, c), 77);
  }
}

TEST_P(ResidentMatrix, HoldsZerosCopiesAndMoves) {
  for (const auto& [rows, cols] : block_shapes) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    Resident<float> zeros(*backend, rows, cols);
    expect_near(zeros.take(), Matrix<float>(rows, cols), 0);
    const Matrix<float> x = random_matrix<float>(rows, cols, 1);
    Resident<float> held(*backend, x.view());
    Resident<float> copy = held.clone();
    Resident<float> moved = std::move(held);
    EXPECT_EQ(moved.rows(), rows);
    EXPECT_EQ(moved.cols(), cols);
    backend->combine(std::span<const Term<float>>(), moved.view());
    expect_near(copy.take(), x, 0);
    expect_near(moved.take(), Matrix<float>(rows, cols), 0);
    Resident<float> taken(*backend, Matrix<float>(x));
    expect_near(taken.take(), x, 0);
  }
}

TEST_P(ResidentMatrix, LargeOnesArriveWhole) {
  // Beyond what a GPU copies in one piece, rows longer and shorter than such a piece.
  const std::int64_t share = backend->traits().own_memory ? 1 : 100;
  for (const auto& [rows, cols] :
       {std::pair<std::int64_t, std::int64_t>{9001 / share, 4099}, {2, 9'000'011 / share}}) {
    Matrix<float> x(rows, cols);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) x(r, c) = static_cast<float>((r * 31 + c * 7) % 8191);
    }
    Resident<float> held(*backend, std::as_const(x).view());
    const Matrix<float> back = held.take();
    for (std::int64_t r = 0; r < rows; ++r)
      ASSERT_TRUE(std::ranges::equal(back.row(r), x.row(r))) << "row " << r << " of " << rows;
  }
}

TEST_P(Pins, ChangeNoBit) {
  const Csr x = random_csr(300, 70, 0.2, true, 5, true);
  const Matrix<float> b = random_matrix<float>(70, 33, 6);
  Matrix<float> free(300, 33);
  Matrix<float> pinned(300, 33);
  Matrix<float> part(100, 33);
  backend->spmm(x.view(), b.view(), free.view());
  {
    const Pin pin = backend->pin(x.view());
    backend->spmm(x.view(), b.view(), pinned.view());
    backend->spmm(x.view().block(120, 100), b.view(), part.view());
  }
  expect_near(pinned, free, 0);
  for (std::int64_t r = 0; r < 100; ++r) ASSERT_TRUE(std::ranges::equal(part.row(r), free.row(120 + r)));
  backend->spmm(x.view(), b.view(), pinned.view());
  expect_near(pinned, free, 0);
  backend->spmm(x.view().block(120, 100), b.view(), part.view());
  for (std::int64_t r = 0; r < 100; ++r) ASSERT_TRUE(std::ranges::equal(part.row(r), free.row(120 + r)));
}

TEST_P(ColumnForm, AgainstPlainLoops) {
  for (const bool with_values : {false, true}) {
    for (const auto& [users, items] : {std::pair{0, 4}, {30, 12}, {400, 130}}) {
      const Csr x = random_csr(users, items, 0.15, false, 1, true);
      const Csr columns = random_csr(items, users, 0.2, with_values, 2, true);
      const std::vector<std::int32_t> chosen = some_of(items);
      in_both_types([&]<class T>(T) {
        const Matrix<T> p = random_matrix<T>(std::ssize(chosen), x.cols, 3);
        Placed<T> block(*backend, p);
        std::vector<double> out(chosen.size(), -1);
        std::int64_t entries = 0;
        for (const std::int32_t i : chosen) entries += columns.view().row_size(i);
        std::vector<double> scores(entries, -1);
        std::vector<double> alone(chosen.size(), -1);
        backend->column_form(x.view(), columns.view(), chosen, block.view(), out, scores);
        backend->column_form(x.view(), columns.view(), chosen, block.view(), alone, {});
        EXPECT_EQ(out, alone);
        std::size_t at = 0;
        for (std::size_t s = 0; s < chosen.size(); ++s) {
          double wanted = 0;
          const auto of = columns.view().row(chosen[s]);
          const auto c = columns.view().row_values(chosen[s]);
          for (std::size_t e = 0; e < of.size(); ++e) {
            double dot = 0;
            for (const std::int32_t j : x.view().row(of[e]))
              dot += double{p(static_cast<std::int64_t>(s), j)};
            wanted += (c.empty() ? 1.0 : double{c[e]}) * dot;
            ASSERT_NEAR(scores[at++], dot, 1e-5) << "system " << s << ", user " << of[e];
          }
          ASSERT_NEAR(out[s], wanted, 1e-5) << "system " << s;
        }
      });
    }
  }
}

}  // namespace
}  // namespace poise
