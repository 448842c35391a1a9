#include "poise/model/full_rank/full_rank.hpp"

#include <algorithm>

#include "poise/backend/resident.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

ScoreRows FullRank::on(Backend& backend, const Execution& /*execution*/) const {
  if (sparse_) {
    const auto pinned = std::make_shared<const Pin>(backend.pin(*sparse_));
    return
        [&backend, B = *sparse_, pinned](const UserRows& histories, std::int64_t first, Out<float> scores) {
          Csr room;
          backend.spmm(summed_rows(histories.block(first, scores.rows), room), B, scores);
        };
  }
  return [&backend, B = Lent(backend, dense_)](const UserRows& histories, std::int64_t first,
                                               Out<float> scores) {
    Csr room;
    backend.spmm(summed_rows(histories.block(first, scores.rows), room), B.view(), scores);
  };
}

double FullRank::operations(CsrView histories) const {
  // A gathered row costs several operations for each number that is read.
  const double per_item = sparse_ ? static_cast<double>(sparse_->entries()) / static_cast<double>(items())
                                  : static_cast<double>(items());
  return 8 * static_cast<double>(histories.entries()) * per_item;
}

std::vector<double> FullRank::contributions(std::span<const std::int32_t> history,
                                            std::span<const float> /*values*/,
                                            std::span<const std::int32_t> /*disliked*/,
                                            std::int32_t item) const {
  std::vector<double> result;
  result.reserve(history.size());
  for (const std::int32_t j : history) result.push_back(contribution(j, item));
  return result;
}

void FullRank::similarities(std::span<const std::int32_t> items, MatrixView<float> near) const {
  for (std::size_t a = 0; a < items.size(); ++a) {
    const auto row = near.row(static_cast<std::int64_t>(a));
    for (std::size_t b = 0; b < items.size(); ++b) row[b] = contribution(items[a], items[b]);
  }
}

float FullRank::contribution(std::int64_t j, std::int64_t i) const {
  if (!sparse_) return dense_(j, i);
  const auto columns = sparse_->row(j);
  const auto found = std::lower_bound(columns.begin(), columns.end(), i);
  if (found == columns.end() || *found != i) return 0.0F;
  return sparse_->row_values(j)[found - columns.begin()];
}

}  // namespace poise
