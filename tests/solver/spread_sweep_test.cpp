#include "poise/solver/spread_sweep.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/mailboxes.hpp"
#include "support/own_memory.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::as_processes;

/// Symmetric; with a negative eigenvalue where `at` is one of its items.
Matrix<double> matrix_of(std::int64_t n, std::int64_t at) {
  const Matrix<double> V = testing::random_matrix<double>(n, n, 3);
  Matrix<double> A(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      A(i, j) = i == j ? 1.0 : 0.0;
      for (std::int64_t k = 0; k < n; ++k) A(i, j) += V(i, k) * V(j, k) / static_cast<double>(n);
    }
  }
  if (at >= 0) A(at, at) = -A(at, at);
  return A;
}

template <class T>
GridTiles<T> tiles_of(const Matrix<double>& A, const ColumnShare& share, std::int64_t tile) {
  GridTiles<T> tiles(share, tile);
  for (std::int64_t c = 0; c < tiles.cols(); ++c) {
    for (std::int64_t r = 0; r < tiles.rows(); ++r)
      tiles.column(c)[r] = static_cast<T>(A(tiles.row(r), tiles.col(c)));
  }
  return tiles;
}

/// A row times A is that of the unit matrix.
void expect_rows_of_inverse(const Matrix<double>& rows, const Matrix<double>& A, const ColumnShare& share) {
  for (std::int64_t k = 0; k < rows.rows(); ++k) {
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < A.cols(); ++i) sum += rows(k, i) * A(i, j);
      ASSERT_NEAR(sum, share.own()[k] == j ? 1.0 : 0.0, 1e-12);
    }
  }
}

TEST(SpreadSweep, IsTheInverseForAnyGridTileAndThreads) {
  for (const std::int64_t n : {1, 40, 107}) {
    const Matrix<double> A = matrix_of(n, -1);
    for (const int size : {1, 2, 3, 4, 6, 9}) {
      as_processes(size, [&](Processes& processes) {
        const auto backend = make_backend(BackendKind::cpu, 1);
        const ColumnShare share(n, processes);
        for (const int times : {1, 2, 5}) {
          std::vector<Matrix<double>> found;
          for (const int threads : {1, 3}) {
            auto tiles = tiles_of<double>(A, share, times * share.tile());
            ASSERT_TRUE(invert_tiles(tiles, processes, {.threads = threads, .observer = nullptr}));
            found.push_back(rows_of_tiles(tiles, share, *backend).take());
          }
          for (std::int64_t k = 0; k < found[0].rows(); ++k)
            EXPECT_TRUE(std::ranges::equal(found[0].row(k), found[1].row(k)));
          const auto apart = testing::processor(true);
          auto tiles = tiles_of<double>(A, share, times * share.tile());
          ASSERT_TRUE(invert_tiles(tiles, processes, {.threads = 1, .observer = nullptr}, apart.get()));
          found.push_back(rows_of_tiles(tiles, share, *backend).take());
          for (const Matrix<double>* each : {&found[0], &found[2]}) {
            SCOPED_TRACE(fmt::format("{} {} {} {}", n, size, times, each == &found[2]));
            expect_rows_of_inverse(*each, A, share);
          }
        }
      });
    }
  }
}

TEST(SpreadSweep, AllLearnThatItIsNotPositiveDefinite) {
  constexpr std::int64_t n = 70;
  for (const std::int64_t at : {0, 33, 69}) {
    const Matrix<double> A = matrix_of(n, at);
    for (const int size : {1, 2, 4, 5}) {
      as_processes(size, [&](Processes& processes) {
        const ColumnShare share(n, processes);
        auto tiles = tiles_of<float>(A, share, share.tile());
        EXPECT_FALSE(invert_tiles(tiles, processes, {.threads = 1, .observer = nullptr}));
        processes.meet();
      });
    }
  }
}

}  // namespace
}  // namespace poise
