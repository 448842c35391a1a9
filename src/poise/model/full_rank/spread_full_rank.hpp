#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"
#include "poise/solver/column_share.hpp"

namespace poise {

/// A dense full-rank model whose columns are at several processes. The first process uses it, as any model:
/// it is scored by all together, and its rows come from all. The others serve() meanwhile.
class SpreadFullRank : public Scorer {
 public:
  /// `B` is items x share.own(), by rows.
  SpreadFullRank(Matrix<float> B, ColumnShare share) : B_(std::move(B)), share_(std::move(share)) {}

  [[nodiscard]] std::int64_t items() const override { return share_.items(); }
  /// On one thread: messages are of one thread at a time.
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& execution) const override;

  /// Rows [first, first + to.rows) of B.
  void read_rows(std::int64_t first, MatrixView<float> to) const;
  /// The largest entries of each column (full_rank.hpp). No process holds more of B than its columns.
  [[nodiscard]] Csr keep_top(std::int64_t per_column, int threads) const;
  /// Lets the others go on.
  void release() const;

  /// At the others: answers until the first process releases them.
  void serve(int threads) const;

 private:
  /// What the first process asks for.
  enum class Request : std::uint8_t { end, rows, scores, top };
  void ask(Request request, std::int64_t first = 0, std::int64_t count = 0,
           const CsrView* histories = nullptr) const;

  [[nodiscard]] Matrix<float> own_scores(CsrView histories) const;
  /// The parts of all processes (rows x own columns each) side by side.
  void gather(MatrixView<const float> own, MatrixView<float> to) const;
  /// The kept entries of this process' columns, as numbers: row, column, value.
  [[nodiscard]] std::string own_top(std::int64_t per_column, int threads) const;

  Matrix<float> B_;
  ColumnShare share_;
};

}  // namespace poise
