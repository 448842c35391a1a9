#include "poise/model/full_rank.hpp"

#include <algorithm>
#include <array>

#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

/// Columns scored at a time: their sums stay in the first-level cache, and the pieces of the rows that
/// several users of a block share stay in the others.
constexpr std::int64_t columns_per_tile = 2048;
using Sums = std::array<double, columns_per_tile>;

/// sums += the four rows, one after the other: a sum is loaded and stored once for all of them.
void add_rows(const float* a, const float* b, const float* c, const float* d, std::int64_t count,
              Sums& sums) {
  double* const sum = sums.data();
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] = (((sum[i] + double{a[i]}) + double{b[i]}) + double{c[i]}) + double{d[i]};
}

void add_row(const float* row, std::int64_t count, Sums& sums) {
  double* const sum = sums.data();
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) sum[i] += double{row[i]};
}

void round_to(std::span<float> scores, const double* sums) {
  for (float& score : scores) score = static_cast<float>(*sums++);
}

void score_dense(MatrixView<const float> B, CsrView histories, std::int64_t first, MatrixView<float> scores) {
  const Tiling columns{B.cols, columns_per_tile};
  Sums sums = {};
  for (std::int64_t tile = 0; tile < columns.tiles(); ++tile) {
    const std::int64_t begin = columns.first(tile);
    const std::int64_t count = columns.last(tile) - begin;
    const auto piece = [&](std::int32_t item) { return B.row(item).data() + begin; };
    for (std::int64_t k = 0; k < scores.rows; ++k) {
      sums.fill(0.0);
      auto history = histories.row(first + k);
      for (; history.size() >= 4; history = history.subspan(4))
        add_rows(piece(history[0]), piece(history[1]), piece(history[2]), piece(history[3]), count, sums);
      for (const std::int32_t item : history) add_row(piece(item), count, sums);
      round_to(scores.row(k).subspan(begin, count), sums.data());
    }
  }
}

void score_sparse(CsrView B, CsrView histories, std::int64_t first, MatrixView<float> scores) {
  std::vector<double> sums(B.cols);
  for (std::int64_t k = 0; k < scores.rows; ++k) {
    const auto history = histories.row(first + k);
    const auto row = scores.row(k);
    std::fill(row.begin(), row.end(), 0.0F);
    for (const std::int32_t item : history) {
      const auto columns = B.row(item);
      const auto values = B.row_values(item);
      for (std::size_t e = 0; e < columns.size(); ++e) sums[columns[e]] += double{values[e]};
    }
    // Few columns of many are in the rows that were added: only those are rounded and cleared.
    for (const std::int32_t item : history) {
      for (const std::int32_t column : B.row(item)) {
        if (sums[column] == 0.0) continue;
        row[column] = static_cast<float>(sums[column]);
        sums[column] = 0.0;
      }
    }
  }
}

class FullRankOnBackend final : public BackendScorer {
 public:
  FullRankOnBackend(Backend& backend, MatrixView<const float> B) : backend_(backend), B_(backend, B) {}
  void score(CsrView histories, MatrixView<float> scores) override {
    histories.values = {};
    backend_.spmm(histories, std::as_const(B_).view(), scores);
  }

 private:
  Backend& backend_;
  Resident<float> B_;
};

}  // namespace

std::unique_ptr<BackendScorer> FullRank::on(Backend& backend, const Execution& /*execution*/) const {
  return sparse_ ? nullptr : std::make_unique<FullRankOnBackend>(backend, dense_);
}

double FullRank::operations(CsrView histories) const {
  // A gathered row costs what is read of it, several operations for each number.
  const double per_item = sparse_ ? static_cast<double>(sparse_->entries()) / static_cast<double>(items())
                                  : static_cast<double>(items());
  return 8 * static_cast<double>(histories.entries()) * per_item;
}

void FullRank::score(CsrView histories, std::int64_t first, MatrixView<float> scores) const {
  if (sparse_) {
    score_sparse(*sparse_, histories, first, scores);
  } else {
    score_dense(dense_, histories, first, scores);
  }
}

std::vector<double> FullRank::contributions(std::span<const std::int32_t> history,
                                            std::span<const float> /*values*/, std::int32_t item) const {
  std::vector<double> result;
  result.reserve(history.size());
  for (const std::int32_t j : history) result.push_back(contribution(j, item));
  return result;
}

float FullRank::contribution(std::int64_t j, std::int64_t i) const {
  if (!sparse_) return dense_(j, i);
  const auto columns = sparse_->row(j);
  const auto found = std::lower_bound(columns.begin(), columns.end(), i);
  if (found == columns.end() || *found != i) return 0.0F;
  return sparse_->row_values(j)[found - columns.begin()];
}

}  // namespace poise
