/// Inverts matrices over the processes that a launcher started, by the sweep and by ScaLAPACK, and in each of
/// them alone, and prints a line for each: size, kind, precision, what each of the three says (positive
/// definite or not), and the largest errors of each, and of products with the first, relative to the largest
/// entry of the inverse in float64.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/comm/launcher.hpp"
#include "poise/solver/grid_tiles.hpp"
#include "poise/solver/spread_inverse.hpp"
#include "poise/solver/spread_sweep.hpp"

#include "scalapack.hpp"

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
  GridTiles<T> tiles(share);
  GridTiles<T> others(share);
  for (std::int64_t c = 0; c < tiles.cols(); ++c) {
    for (std::int64_t r = 0; r < tiles.rows(); ++r)
      tiles.column(c)[r] = others.column(c)[r] = static_cast<T>(entry(kind, n, tiles.row(r), tiles.col(c)));
  }
  const bool spread_inverts = invert_tiles(tiles, processes, {.threads = 1});
  processes.meet();  // nobody waits for a message while another is within ScaLAPACK
  const bool scalapack_inverts = invert_by_scalapack(others);
  Resident<T> swept(backend, whole<T>(kind, n));
  const bool sweep_inverts = backend.invert_spd(swept.view()).positive_definite;
  double errors[4] = {};
  if (spread_inverts && sweep_inverts && scalapack_inverts) {
    Resident<double> truth(backend, whole<double>(kind, n));
    static_cast<void>(backend.invert_spd(truth.view()));
    const Matrix<double> A_inverse = truth.take();
    Resident<T> rows = rows_of_tiles(tiles, share, backend);
    const Resident<T> other_rows = rows_of_tiles(others, share, backend);
    SpreadInverse<T> spread(rows, share, backend);
    Matrix<T> one(n, n);
    for (std::int64_t i = 0; i < n; ++i) one(i, i) = 1;
    errors[0] = largest_difference(spread.times(one), A_inverse);
    errors[1] = largest_difference(swept.take(), A_inverse);
    errors[2] = largest_difference(SpreadInverse<T>(other_rows, share, backend).times(one), A_inverse);
    // The process r multiplies r times, and helps the others afterwards; then with rows that lie on the host.
    for (const bool on_host : {false, true}) {
      if (on_host) spread.hold_on_host(rows);
      for (int time = 0; time <= processes.rank(); ++time) {
        Matrix<T> z(n, n);
        Borrowed<T> there(backend, z.view());
        spread.multiply(Lent(backend, one).view(), there.view());
        errors[3] = std::max(errors[3], largest_difference(z, A_inverse));
      }
      spread.finish();
    }
    errors[3] = share.largest(errors[3]);
  }
  if (processes.first())
    std::printf("%d %s %d %d %d %d %g %g %g %g\n", static_cast<int>(n), kind.c_str(),
                static_cast<int>(sizeof(T)), spread_inverts ? 1 : 0, sweep_inverts ? 1 : 0,
                scalapack_inverts ? 1 : 0, errors[0], errors[1], errors[2], errors[3]);
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
