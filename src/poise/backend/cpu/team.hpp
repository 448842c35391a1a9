#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/row_systems.hpp"
#include "poise/backend/team.hpp"

namespace poise {

/// See backend/team.hpp. Process r takes the r-th of P ranges of tiles, which are cut where the counted work
/// is about even, or in proportion to how fast each was at the same rows before; who computes a tile changes
/// none of its bytes.
class CpuTeam final : public CpuBackend {
 public:
  CpuTeam(Processes& processes, int threads, Observer* observer, TeamSizes sizes)
      : CpuBackend(threads, observer), processes_(processes), sizes_(sizes) {}

  using CpuBackend::spmm;
  void spmm(CsrView x, In<float> b, Out<float> y) override;
  void spmm(CsrView x, In<double> b, Out<double> y) override;
  void sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) override;
  void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                       In<float> v, Out<float> s) override;
  RowsSolved solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                        RowRoute route) override;
  [[nodiscard]] RowsChecked check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                       In<double> E_inverse) override;

 protected:
  [[nodiscard]] Matrix<double> ordered_sum(
      std::int64_t parts, std::int64_t rows, std::int64_t cols, double operations,
      const std::function<Matrix<double>(std::int64_t part)>& part) override;
  void over_tiles(const Tiling& rows, double operations, Out<float> c, const ComputeTiles& compute) override;
  void over_tiles(const Tiling& rows, double operations, Out<double> c, const ComputeTiles& compute) override;

 private:
  /// The bounds of everyone's part, P + 1 of them.
  using Bounds = std::vector<std::int64_t>;
  [[nodiscard]] Bounds even_bounds(std::int64_t count) const;
  /// How much of the work each process takes, in sum 1.
  using Shares = std::vector<double>;
  [[nodiscard]] Shares& shares_of(CsrView x);
  [[nodiscard]] Bounds bounds_by_entries(CsrView x, std::span<const std::int64_t> starts) const;
  [[nodiscard]] Bounds bounds_by_entries(CsrView x, std::span<const std::int64_t> starts,
                                         const Shares& shares) const;
  [[nodiscard]] std::int64_t own(const Bounds& bounds) const { return bounds[processes_.rank()]; }
  [[nodiscard]] std::int64_t own_count(const Bounds& bounds) const {
    return bounds[processes_.rank() + 1] - own(bounds);
  }
  template <class T>
  void gather_rows(const Bounds& bounds, Out<T> y);
  template <class T>
  void divided_spmm(CsrView x, In<T> b, Out<T> y);
  template <class T>
  void divided_tiles(const Tiling& rows, double operations, Out<T> c, const ComputeTiles& compute);

  Processes& processes_;
  TeamSizes sizes_;
  /// Of row systems, by their numbers of rows and entries; the same at all processes.
  std::map<std::pair<std::int64_t, std::int64_t>, Shares> shares_;
};

}  // namespace poise
