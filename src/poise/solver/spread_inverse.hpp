#pragma once

#include <cstdint>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/solver/column_share.hpp"
#include "poise/solver/inverse_operator.hpp"
#include "poise/solver/round_news.hpp"

namespace poise {

/// A^-1 with the rows of a ColumnShare at their owners: 1 / P of it each.
///
/// multiply() is a round of all processes: every process' rows, a panel of some hundred at a time, pass by
/// all that have vectors in this round, and column block K of Z is R times the transposed panel K, one
/// product of whole vectors, so that no sum crosses processes. A round costs a process 2 n^2 operations a
/// vector, and brings it n^2 numbers.
template <class T>
class SpreadInverse final : public InverseOperator<T> {
 public:
  /// Row k of `rows` is A^-1 e_i, i = share.own()[k]. All must outlive it. `news`: null, or at all processes.
  SpreadInverse(const Resident<T>& rows, const ColumnShare& share, Backend& backend,
                RoundNews* news = nullptr)
      : rows_(rows), share_(share), backend_(backend), news_(news) {}

  void copy_rows(Indices items, Out<T> to) const override;
  void multiply(In<T> r, Out<T> z) const override;
  void finish() const override;
  [[nodiscard]] Matrix<T> times(const Matrix<T>& y) const override;
  [[nodiscard]] std::vector<double> diagonal() const override;

  /// The bytes of a panel; one is held at a time, and another while the next one arrives.
  static std::uint64_t panel_bytes(std::int64_t items) {
    return static_cast<std::uint64_t>(panel_rows) * static_cast<std::uint64_t>(items) * sizeof(T);
  }

 private:
  static constexpr std::int64_t panel_rows = 256;

  /// Who has vectors in the next round; empty where nobody has.
  [[nodiscard]] std::vector<int> ask_who_works(bool working) const;
  /// The part of a round in which panels pass by.
  void pass_panels(const std::vector<int>& workers, In<T> r, Out<T> z) const;

  const Resident<T>& rows_;
  const ColumnShare& share_;
  Backend& backend_;
  RoundNews* news_;
};

extern template class SpreadInverse<float>;
extern template class SpreadInverse<double>;

}  // namespace poise
