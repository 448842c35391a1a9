#pragma once

#include <barrier>
#include <memory>
#include <vector>

#include <lapacke.h>

#include "poise/comm/dense_grid.hpp"

namespace poise::testing {

/// A grid between threads, each of which stands for a process: the tiles meet in one matrix, which the first
/// thread factors or inverts by LAPACK.
class ThreadsGrid : public DenseGrid {
 public:
  struct Place {
    explicit Place(int processes) : arrived(processes) {}
    std::barrier<> arrived;
    std::vector<double> matrix;
    std::int64_t outcome = 0;
  };

  ThreadsGrid(Place& place, int processes, int rank)
      : DenseGrid(grid_rows(processes), processes / grid_rows(processes), rank), place_(place), rank_(rank) {}

  std::int64_t factor(std::int64_t n, std::int64_t tile, float* local) override {
    return together(n, tile, local, LAPACKE_dpotrf);
  }
  std::int64_t factor(std::int64_t n, std::int64_t tile, double* local) override {
    return together(n, tile, local, LAPACKE_dpotrf);
  }
  std::int64_t invert_factored(std::int64_t n, std::int64_t tile, float* local) override {
    return together(n, tile, local, LAPACKE_dpotri);
  }
  std::int64_t invert_factored(std::int64_t n, std::int64_t tile, double* local) override {
    return together(n, tile, local, LAPACKE_dpotri);
  }

 private:
  template <class T, class Function>
  std::int64_t together(std::int64_t n, std::int64_t tile, T* local, const Function& function) {
    const std::int64_t own_rows = dealt(n, tile, row(), rows());
    const std::int64_t own_cols = dealt(n, tile, col(), cols());
    const auto for_each = [&](const auto& body) {
      for (std::int64_t c = 0; c < own_cols; ++c) {
        for (std::int64_t r = 0; r < own_rows; ++r) {
          const std::int64_t i = (r / tile * rows() + row()) * tile + r % tile;
          const std::int64_t j = (c / tile * cols() + col()) * tile + c % tile;
          body(local[c * own_rows + r], place_.matrix[static_cast<std::size_t>(j * n + i)]);
        }
      }
    };
    if (rank_ == 0) place_.matrix.resize(static_cast<std::size_t>(n * n));
    place_.arrived.arrive_and_wait();
    for_each([](T& mine, double& all) { all = static_cast<double>(mine); });
    place_.arrived.arrive_and_wait();
    if (rank_ == 0) {
      const auto order = static_cast<lapack_int>(n);
      place_.outcome = function(LAPACK_COL_MAJOR, 'L', order, place_.matrix.data(), order);
    }
    place_.arrived.arrive_and_wait();
    for_each([](T& mine, double& all) { mine = static_cast<T>(all); });
    const std::int64_t outcome = place_.outcome;
    place_.arrived.arrive_and_wait();
    return outcome;
  }

  Place& place_;
  int rank_;
};

}  // namespace poise::testing
