#include "poise/backend/cpu/team.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "poise/backend/cpu/sparse_rows.hpp"
#include "poise/comm/exchange.hpp"
#include "poise/comm/packed.hpp"

namespace poise {
namespace {

/// What a row costs beside its entries, as so many entries.
constexpr std::int64_t row_cost = 8;

template <class T>
std::string bytes_of_all(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
void append_all(const std::string& bytes, std::vector<T>& to) {
  const std::size_t before = to.size();
  to.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(to.data() + before, bytes.data(), bytes.size());
}

template <class T>
std::string bytes_of_rows(In<T> rows) {
  std::string bytes(static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(T), '\0');
  const auto length = static_cast<std::size_t>(rows.cols) * sizeof(T);
  for (std::int64_t r = 0; r < rows.rows && length > 0; ++r)
    std::memcpy(bytes.data() + static_cast<std::size_t>(r) * length, rows.data + r * rows.stride, length);
  return bytes;
}

template <class T>
void put_rows(const std::string& bytes, Out<T> rows) {
  const auto length = static_cast<std::size_t>(rows.cols) * sizeof(T);
  for (std::int64_t r = 0; r < rows.rows && length > 0; ++r)
    std::memcpy(rows.data + r * rows.stride, bytes.data() + static_cast<std::size_t>(r) * length, length);
}

/// Of the rows before this one.
std::int64_t work_before(CsrView x, std::int64_t row) {
  return row == 0 ? 0 : x.offsets[row] - x.offsets[0] + row_cost * row;
}

/// In proportion to how much work a second each did, by no more than twice or half as much; shorter times say
/// nothing.
void adapt(std::vector<double>& shares, std::span<const double> work, std::span<const double> seconds) {
  constexpr double least_seconds = 2e-3;
  if (std::ranges::max(seconds) < least_seconds) return;
  double sum = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    if (work[rank] > 0) {
      const double speed = work[rank] / std::max(seconds[rank], least_seconds);
      const double before = shares[rank];
      shares[rank] =
          std::clamp(speed * std::reduce(seconds.begin(), seconds.end()) /
                         std::reduce(work.begin(), work.end()) / static_cast<double>(shares.size()),
                     before / 2, before * 2);
    }
    sum += shares[rank];
  }
  for (double& share : shares) share /= sum;
}

/// The rows at which tiles of sparse products begin.
std::vector<std::int64_t> sparse_tiles(std::int64_t rows) {
  std::vector<std::int64_t> starts;
  for (std::int64_t row = 0; row < rows; row += sparse_rows_per_tile) starts.push_back(row);
  starts.push_back(rows);
  return starts;
}

}  // namespace

CpuTeam::Bounds CpuTeam::even_bounds(std::int64_t count) const {
  Bounds bounds;
  for (int rank = 0; rank <= processes_.size(); ++rank) bounds.push_back(count * rank / processes_.size());
  return bounds;
}

CpuTeam::Shares& CpuTeam::shares_of(CsrView x) {
  Shares& shares = shares_[{x.rows, x.entries()}];
  if (shares.empty())
    shares.assign(static_cast<std::size_t>(processes_.size()), 1.0 / static_cast<double>(processes_.size()));
  return shares;
}

CpuTeam::Bounds CpuTeam::bounds_by_entries(CsrView x, std::span<const std::int64_t> starts) const {
  const auto size = static_cast<std::size_t>(processes_.size());
  return bounds_by_entries(x, starts, Shares(size, 1.0 / static_cast<double>(size)));
}

/// In tiles, which begin at these rows.
CpuTeam::Bounds CpuTeam::bounds_by_entries(CsrView x, std::span<const std::int64_t> starts,
                                           const Shares& shares) const {
  const std::int64_t tiles = std::ssize(starts) - 1;
  const auto all = static_cast<double>(work_before(x, starts[tiles]));
  Bounds bounds = {0};
  double until = 0;
  for (int rank = 1; rank < processes_.size(); ++rank) {
    until += shares[static_cast<std::size_t>(rank - 1)];
    std::int64_t tile = bounds.back();
    while (tile < tiles && static_cast<double>(work_before(x, starts[tile])) < all * until) ++tile;
    bounds.push_back(tile);
  }
  bounds.push_back(tiles);
  return bounds;
}

/// Everyone's rows of y, to all, in slices: while one is put in its place the next one travels, and none
/// takes much memory.
template <class T>
void CpuTeam::gather_rows(const Bounds& bounds, Out<T> y) {
  constexpr std::int64_t slice_bytes = 1 << 20;
  const int size = processes_.size();
  const int rank = processes_.rank();
  const std::int64_t slice = std::max<std::int64_t>(
      1, slice_bytes / static_cast<std::int64_t>(sizeof(T)) / std::max<std::int64_t>(1, y.cols));
  const auto slices = [&](int of) { return Tiling{bounds[of + 1] - bounds[of], slice}; };
  const auto rows = [&](int of, std::int64_t k) {
    return y.block(bounds[of] + slices(of).first(k), slices(of).last(k) - slices(of).first(k));
  };
  const auto send = [&](std::int64_t k) {
    if (k >= slices(rank).tiles()) return;
    const Bytes bytes = shared_bytes(bytes_of_rows(In<T>(rows(rank, k))));
    // Each begins with its successor, so that no one is everybody's first.
    for (int other = 1; other < size; ++other) processes_.send((rank + other) % size, bytes);
  };
  std::int64_t most = 0;
  for (int each = 0; each < size; ++each) most = std::max(most, slices(each).tiles());
  send(0);
  for (std::int64_t k = 0; k < most; ++k) {
    send(k + 1);
    for (int other = 1; other < size; ++other) {
      const int from = (rank + size - other) % size;
      if (k < slices(from).tiles()) put_rows(processes_.receive(from).bytes, rows(from, k));
    }
  }
  processes_.flush();
}

template <class T>
void CpuTeam::divided_spmm(CsrView x, In<T> b, Out<T> y) {
  if (x.rows == 0) return;
  const std::vector<std::int64_t> starts = sparse_tiles(x.rows);
  Bounds bounds = bounds_by_entries(x, starts);
  for (std::int64_t& bound : bounds) bound = starts[bound];
  CpuBackend::spmm(x.block(own(bounds), own_count(bounds)), b, y.block(own(bounds), own_count(bounds)));
  gather_rows(bounds, y);
}

void CpuTeam::spmm(CsrView x, In<float> b, Out<float> y) { divided_spmm(x, b, y); }
void CpuTeam::spmm(CsrView x, In<double> b, Out<double> y) { divided_spmm(x, b, y); }

void CpuTeam::sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) {
  if (x.rows == 0) return;
  const std::vector<std::int64_t> starts = sparse_tiles(x.rows);
  Bounds bounds = bounds_by_entries(x, starts);
  for (std::int64_t& bound : bounds) bound = starts[bound];
  // Entries have the numbers of the whole matrix, also those of a block of its rows.
  Csr part = copy_of(support_of(x.block(own(bounds), own_count(bounds))));
  std::vector<float> found(part.indices.size());
  CpuBackend::sampled_dots(part.view(), t.block(own(bounds), own_count(bounds)), v, found);
  part = {};
  std::int64_t next = 0;
  for (const std::string& bytes : exchange(processes_, bytes_of(found))) {
    if (!bytes.empty()) std::memcpy(out.data() + next, bytes.data(), bytes.size());
    next += static_cast<std::int64_t>(bytes.size() / sizeof(float));
  }
}

void CpuTeam::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                              In<float> v, Out<float> s) {
  if (x.rows == 0) return;
  const std::vector<std::int64_t> starts = sparse_tiles(x.rows);
  Bounds bounds = bounds_by_entries(x, starts);
  for (std::int64_t& bound : bounds) bound = starts[bound];
  const std::int64_t first = own(bounds);
  const std::int64_t count = own_count(bounds);
  CpuBackend::sampled_product(x.block(first, count), w, c, t.block(first, count), v, s.block(first, count));
  gather_rows(bounds, s);
}

RowsSolved CpuTeam::solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                               RowRoute route) {
  const CsrView entries = systems.entries;
  const std::vector<std::int64_t> starts = row_tiles(entries);
  Shares& shares = shares_of(entries);
  Bounds bounds = bounds_by_entries(entries, starts, shares);
  const auto begin = std::chrono::steady_clock::now();
  const RowOutcomes part = solve_tiles(systems, starts, {own(bounds), own(bounds) + own_count(bounds)},
                                       y.host(), tolerance, execution(), route);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  for (std::int64_t& bound : bounds) bound = starts[bound];
  gather_rows(bounds, y);
  RowOutcomes all;
  std::vector<double> work;
  std::vector<double> seconds;
  for (const std::string& message :
       exchange(processes_, packed({bytes_of_all(part.long_rows), bytes_of_all(part.tiles),
                                    bytes_of(std::vector<double>{taken.count()})}))) {
    const std::vector<std::string> parts = unpacked(message);
    append_all(parts.at(0), all.long_rows);
    append_all(parts.at(1), all.tiles);
    const std::size_t rank = work.size();
    work.push_back(
        static_cast<double>(work_before(entries, bounds[rank + 1]) - work_before(entries, bounds[rank])));
    append_all(parts.at(2), seconds);
  }
  adapt(shares, work, seconds);
  return all.total();
}

RowsChecked CpuTeam::check_rows(const RowSystems& systems, In<float> v, In<double> E, In<double> E_inverse) {
  const std::vector<std::int64_t> starts = row_tiles(systems.entries);
  const Bounds bounds = bounds_by_entries(systems.entries, starts);
  const std::vector<RowsChecked> part =
      check_tiles(systems, starts, {own(bounds), own(bounds) + own_count(bounds)}, v.host(), E.host(),
                  E_inverse.host(), execution());
  std::vector<RowsChecked> all;
  for (const std::string& bytes : exchange(processes_, bytes_of_all(part))) append_all(bytes, all);
  return total_of(all, systems);
}

/// A chain: each process adds its parts to the sum of those before it. The last one's sum is everyone's.
Matrix<double> CpuTeam::ordered_sum(std::int64_t parts, std::int64_t rows, std::int64_t cols,
                                    double operations,
                                    const std::function<Matrix<double>(std::int64_t part)>& part) {
  if (operations < sizes_.least_gram) return CpuBackend::ordered_sum(parts, rows, cols, operations, part);
  const Bounds bounds = even_bounds(parts);
  std::vector<Matrix<double>> sums(own_count(bounds));
  for_each_tile(std::ssize(sums), execution().threads,
                [&](std::int64_t k) { sums[k] = part(own(bounds) + k); });
  Matrix<double> total(rows, cols);
  const int rank = processes_.rank();
  const int last = processes_.size() - 1;
  if (rank > 0)
    put_rows(processes_.receive(rank - 1).bytes, Out<double>{total.view().data, rows, cols, cols});
  for (const Matrix<double>& sum : sums) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::ranges::transform(total.row(r), sum.row(r), total.row(r).begin(), std::plus<>());
  }
  const auto bytes = [&] { return bytes_of_rows(In<double>{total.view().data, rows, cols, cols}); };
  if (rank < last) {
    processes_.send(rank + 1, bytes());
    put_rows(processes_.receive(last).bytes, Out<double>{total.view().data, rows, cols, cols});
  } else {
    for (int other = 0; other < last; ++other) processes_.send(other, bytes());
  }
  return total;
}

template <class T>
void CpuTeam::divided_tiles(const Tiling& rows, double operations, Out<T> c, const ComputeTiles& compute) {
  if (operations < sizes_.least_product) return compute(0, rows.tiles());
  Bounds bounds = even_bounds(rows.tiles());
  compute(own(bounds), own(bounds) + own_count(bounds));
  for (std::int64_t& bound : bounds) bound = std::min(bound * rows.size, rows.count);
  gather_rows(bounds, c);
}

void CpuTeam::over_tiles(const Tiling& rows, double operations, Out<float> c, const ComputeTiles& compute) {
  divided_tiles(rows, operations, c, compute);
}
void CpuTeam::over_tiles(const Tiling& rows, double operations, Out<double> c, const ComputeTiles& compute) {
  divided_tiles(rows, operations, c, compute);
}

std::unique_ptr<Backend> make_team(Processes& processes, int threads, Observer* observer, TeamSizes sizes) {
  return std::make_unique<CpuTeam>(processes, threads, observer, sizes);
}

}  // namespace poise
