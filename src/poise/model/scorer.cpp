#include "poise/model/scorer.hpp"

#include "poise/base/error.hpp"

namespace poise {

std::unique_ptr<BackendScorer> Scorer::on(Backend& /*backend*/, const Execution& /*execution*/) const {
  return nullptr;
}

double Scorer::operations(CsrView histories) const {
  return static_cast<double>(histories.rows) * static_cast<double>(items());
}

std::vector<double> Scorer::contributions(std::span<const std::int32_t> /*history*/,
                                          std::span<const float> /*values*/, std::int32_t /*item*/) const {
  fail(ErrorKind::usage, "this model's scores are no sum over the history; {} needs a model whose scores are",
       "explain"_p);
}

void Scorer::similarity(std::int32_t item, std::span<float> scores) const {
  const std::vector<std::int32_t> history = {item};
  const std::vector<std::int64_t> offsets = {0, 1};
  score({.rows = 1, .cols = items(), .offsets = offsets, .indices = history, .values = {}}, 0,
        {.data = scores.data(), .rows = 1, .cols = items(), .stride = items()});
}

}  // namespace poise
