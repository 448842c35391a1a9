#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/comm/host_memory.hpp"
#include "poise/solver/column_share.hpp"
#include "poise/solver/inverse_operator.hpp"
#include "poise/solver/round_news.hpp"

namespace poise {

/// A^-1 with the rows of a ColumnShare at their owners: 1 / P of it each.
///
/// A^-1 is symmetric: column block K of Z is R times the transposed rows K, one product of whole vectors, so
/// that no sum crosses processes. Rows of processes of the same host are read where they lie once
/// hold_on_host() was called. The others' come in rounds of all processes: each sends its rows, a panel of
/// some hundred at a time, to those of other hosts that have vectors in this round; while a panel is used the
/// next one travels. A product costs a process 2 n^2 operations a vector, and brings it the numbers of A^-1
/// that other hosts hold.
///
/// Own rows lie where the backend computes. Where that is a GPU the host has a copy for the other processes,
/// and their panels are brought to the GPU one after the other.
template <class T>
class SpreadInverse final : public InverseOperator<T> {
 public:
  /// Row k of `rows` is A^-1 e_i, i = share.own()[k]. All must outlive it. `news`: null, or at all processes.
  SpreadInverse(const Resident<T>& rows, const ColumnShare& share, Backend& backend,
                RoundNews* news = nullptr)
      : rows_(rows.view()), share_(share), backend_(backend), news_(news) {}

  /// From now on the rows of this host's processes are read where they lie. All processes call it; `rows`,
  /// which must be those of the constructor, become empty where they now lie in memory of the host alone.
  void hold_on_host(Resident<T>& rows);
  /// Lets go of all rows, after the last product.
  void release() {
    rows_ = {};
    of_host_.clear();
  }

  void copy_rows(Indices items, Out<T> to) const override;
  void multiply(In<T> r, Out<T> z) const override;
  void finish() const override;
  [[nodiscard]] Matrix<T> times(const Matrix<T>& y) const override;
  [[nodiscard]] std::vector<double> diagonal() const override;

  /// The bytes of a panel that travels; one is held at a time, and another while the next one arrives.
  static std::uint64_t panel_bytes(std::int64_t items) {
    return static_cast<std::uint64_t>(panel_rows) * static_cast<std::uint64_t>(items) * sizeof(T);
  }

 private:
  /// Of a product, wherever the rows lie: what rounds by shapes does not depend on hosts.
  static constexpr std::int64_t panel_rows = 256;

  /// Who has vectors in the next round; empty where nobody has.
  [[nodiscard]] std::vector<int> ask_who_works(bool working) const;
  /// Rows that pass from their owner, the first reader, to the others.
  struct Panel {
    std::vector<int> readers;
    std::vector<std::int32_t> items;
    std::int64_t first;  ///< of the owner's rows
  };
  /// The part of a round in which panels pass by.
  void pass_panels(const std::vector<int>& workers, In<T> r, Out<T> z) const;
  [[nodiscard]] std::vector<int> readers_of(int owner, const std::vector<int>& workers) const;
  /// Those that this process sends or needs, in the order of all.
  [[nodiscard]] std::vector<Panel> panels_of_round(const std::vector<int>& workers) const;
  /// Lets a panel travel, in a thread of its own.
  [[nodiscard]] std::future<Bytes> begin_passing(const Panel& panel) const;
  /// The rows of another process of this host; none of another host.
  [[nodiscard]] MatrixView<const T> rows_here(int owner) const;
  /// Those entries of Z that the rows A^-1 e_i, i = items[k], give.
  void multiply_rows(In<T> r, In<T> rows, Indices items, Out<T> z) const;
  void multiply_rows(In<T> r, MatrixView<const T> rows, Indices items, Out<T> z) const;

  In<T> rows_;  ///< its own
  const ColumnShare& share_;
  Backend& backend_;
  RoundNews* news_;
  std::vector<HostMemory> of_host_;  ///< by ranks
  std::vector<std::string> sees_;    ///< whose rows each process reads where they lie, a mark for each
  bool one_host_ = false;            ///< whether every process reads all rows where they lie
};

extern template class SpreadInverse<float>;
extern template class SpreadInverse<double>;

}  // namespace poise
