#include "poise/model/popularity.hpp"

#include <algorithm>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"

namespace poise {
namespace {

class PopularityOnBackend final : public BackendScorer {
 public:
  PopularityOnBackend(Backend& backend, std::span<const float> counts)
      : backend_(backend),
        counts_(backend, MatrixView<const float>{counts.data(), 1, std::ssize(counts), std::ssize(counts)}) {}
  void score(CsrView histories, MatrixView<float> scores) override {
    const std::vector<std::int32_t> first_row(histories.rows, 0);
    backend_.copy_rows(std::as_const(counts_).view(), first_row, scores, {});
  }

 private:
  Backend& backend_;
  Resident<float> counts_;
};

}  // namespace

Popularity Popularity::train(CsrView X) {
  const std::vector<std::int64_t> counts = column_counts(X);
  return Popularity(std::vector<float>(counts.begin(), counts.end()));
}

void Popularity::score(CsrView /*histories*/, std::int64_t /*first*/, MatrixView<float> scores) const {
  for (std::int64_t k = 0; k < scores.rows; ++k)
    std::copy(counts_.begin(), counts_.end(), scores.row(k).begin());
}

std::unique_ptr<BackendScorer> Popularity::on(Backend& backend, const Execution& /*execution*/) const {
  return std::make_unique<PopularityOnBackend>(backend, counts_);
}

std::vector<double> Popularity::contributions(std::span<const std::int32_t> /*history*/,
                                              std::span<const float> /*values*/,
                                              std::int32_t /*item*/) const {
  fail(ErrorKind::usage, "the popularity model does not use the history; {} needs a model that does",
       "explain"_p);
}

void Popularity::similarity(std::int32_t /*item*/, std::span<float> /*scores*/) const {
  fail(ErrorKind::usage,
       "the popularity model does not use the history; similar items need a model that does");
}

}  // namespace poise
