/// Inverts matrices over the processes that a launcher started (ScaLAPACK) and in each of them alone (the
/// sweep), and prints a line for each: size, kind, precision, whether either says positive definite, and both
/// largest errors relative to the largest entry of the inverse in float64.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/comm/launcher.hpp"
#include "poise/solver/grid_tiles.hpp"
#include "poise/solver/spread_inverse.hpp"

namespace poise {
namespace {

double entry(const std::string& kind, std::int64_t n, std::int64_t i, std::int64_t j) {
  const auto apart = static_cast<double>(i - j);
  if (kind == "ill") return std::exp(-apart * apart / 40) + (i == j ? 1e-4 : 0);
  if (kind == "indefinite" && i == j && i == n / 2) return -1;
  return std::exp(-std::abs(apart) / 5) + (i == j ? 2 : 0);
}

template <class T>
Matrix<T> whole(const std::string& kind, std::int64_t n) {
  Matrix<T> A(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) A(i, j) = static_cast<T>(entry(kind, n, i, j));
  }
  return A;
}

template <class T>
double largest_difference(const Matrix<T>& x, const Matrix<double>& truth) {
  double difference = 0;
  double largest = 0;
  for (std::int64_t i = 0; i < truth.rows(); ++i) {
    for (std::int64_t j = 0; j < truth.cols(); ++j) {
      difference = std::max(difference, std::abs(static_cast<double>(x(i, j)) - truth(i, j)));
      largest = std::max(largest, std::abs(truth(i, j)));
    }
  }
  return difference / largest;
}

template <class T>
void compare(const std::string& kind, std::int64_t n, Processes& processes, Backend& backend) {
  const ColumnShare share(n, processes);
  const auto grid = processes.make_grid();
  GridTiles<T> tiles(*grid, n, share.tile());
  for (std::int64_t c = 0; c < tiles.cols(); ++c) {
    for (std::int64_t r = 0; r < tiles.rows(); ++r)
      tiles.column(c)[r] = static_cast<T>(entry(kind, n, tiles.row(r), tiles.col(c)));
  }
  const bool spread_inverts = invert_tiles(tiles, *grid, nullptr);
  Resident<T> swept(backend, whole<T>(kind, n));
  const bool sweep_inverts = backend.invert_spd(swept.view()).positive_definite;
  double spread_error = 0;
  double sweep_error = 0;
  double product_error = 0;
  if (spread_inverts && sweep_inverts) {
    Resident<double> truth(backend, whole<double>(kind, n));
    static_cast<void>(backend.invert_spd(truth.view()));
    const Matrix<double> A_inverse = truth.take();
    const Resident<T> rows = rows_of_tiles(tiles, *grid, share, backend);
    const SpreadInverse<T> spread(rows, share, backend);
    Matrix<T> one(n, n);
    for (std::int64_t i = 0; i < n; ++i) one(i, i) = 1;
    const Matrix<T> all = spread.times(one);
    spread_error = largest_difference(all, A_inverse);
    sweep_error = largest_difference(swept.take(), A_inverse);
    // The panels that pass by: the process r multiplies r times, and helps the others afterwards.
    for (int time = 0; time <= processes.rank(); ++time) {
      Matrix<T> z(n, n);
      Borrowed<T> there(backend, z.view());
      spread.multiply(Lent(backend, one).view(), there.view());
      product_error = std::max(product_error, largest_difference(z, A_inverse));
    }
    spread.finish();
    product_error = share.largest(product_error);
  }
  if (processes.first())
    std::printf("%d %s %d %d %d %g %g %g\n", static_cast<int>(n), kind.c_str(), static_cast<int>(sizeof(T)),
                spread_inverts ? 1 : 0, sweep_inverts ? 1 : 0, spread_error, sweep_error, product_error);
}

}  // namespace
}  // namespace poise

int main() {
  const auto processes = poise::start_processes();
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 1);
  for (const std::int64_t n : {37, 150, 300}) {
    for (const char* const kind : {"plain", "ill", "indefinite"}) {
      poise::compare<float>(kind, n, *processes, *backend);
      poise::compare<double>(kind, n, *processes, *backend);
    }
  }
  return processes->conclude({}, "here", nullptr).code;
}
