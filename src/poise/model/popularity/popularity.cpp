#include "poise/model/popularity.hpp"

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"

namespace poise {

Popularity Popularity::train(CsrView X) {
  const std::vector<std::int64_t> counts = column_counts(X);
  return Popularity(std::vector<float>(counts.begin(), counts.end()));
}

ScoreRows Popularity::on(Backend& backend, const Execution& /*execution*/) const {
  const MatrixView<const float> counts{counts_.data(), 1, items(), items()};
  return [&backend, counts = Lent(backend, counts)](const UserRows& histories, std::int64_t /*first*/,
                                                    Out<float> scores) {
    refuse_dislike_share(histories);
    backend.copy_rows(counts.view(), std::vector<std::int32_t>(scores.rows, 0), scores, {});
  };
}

std::vector<double> Popularity::contributions(std::span<const std::int32_t> /*history*/,
                                              std::span<const float> /*values*/,
                                              std::span<const std::int32_t> /*disliked*/,
                                              std::int32_t /*item*/) const {
  fail(ErrorKind::usage, "the popularity model does not use the history; {} needs a model that does",
       "explain"_p);
}

void Popularity::similarity(std::int32_t /*item*/, std::span<float> /*scores*/) const {
  fail(ErrorKind::usage,
       "the popularity model does not use the history; similar items need a model that does");
}

}  // namespace poise
