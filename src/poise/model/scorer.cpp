#include "poise/model/scorer.hpp"

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"

namespace poise {

void Scorer::score(const UserRows& histories, MatrixView<float> scores, const Execution& execution) const {
  check_histories(*this, histories);
  const auto processor = make_backend(BackendKind::cpu, execution.threads, execution.observer);
  on(*processor, execution)(histories, 0, Borrowed<float>(*processor, scores).view());
}

double Scorer::operations(CsrView histories) const {
  return static_cast<double>(histories.rows) * static_cast<double>(items());
}

std::vector<double> Scorer::contributions(std::span<const std::int32_t> /*history*/,
                                          std::span<const float> /*values*/,
                                          std::span<const std::int32_t> /*disliked*/,
                                          std::int32_t /*item*/) const {
  fail(ErrorKind::usage,
       "this model's scores are not a sum over the history; {} needs a model whose scores are", "explain"_p);
}

void Scorer::similarity(std::int32_t item, std::span<float> scores) const {
  const std::vector<std::int32_t> history = {item};
  const std::vector<std::int64_t> offsets = {0, 1};
  score(CsrView{.rows = 1, .cols = items(), .offsets = offsets, .indices = history},
        {.data = scores.data(), .rows = 1, .cols = items(), .stride = items()});
}

void Scorer::similarities(std::span<const std::int32_t> items, MatrixView<float> near) const {
  std::vector<float> of_all(this->items());
  for (std::size_t a = 0; a < items.size(); ++a) {
    similarity(items[a], of_all);
    const auto row = near.row(static_cast<std::int64_t>(a));
    for (std::size_t b = 0; b < items.size(); ++b) row[b] = of_all[items[b]];
  }
}

ScoreRows scores_in_memory(
    Backend& backend,
    std::function<void(CsrView histories, std::int64_t first, MatrixView<float> scores)> score) {
  return
      [&backend, score = std::move(score)](const UserRows& histories, std::int64_t first, Out<float> scores) {
        if (!backend.traits().own_memory) return score(histories.items, first, scores.host());
        Matrix<float> rows(scores.rows, scores.cols);
        score(histories.items, first, rows.view());
        backend.upload(rows.view(), scores);
      };
}

void refuse_dislike_share(const UserRows& histories) {
  if (histories.dislike_share == 0) return;
  fail(ErrorKind::usage,
       "this model's scores are not a sum over the history, which {} could enter; it is for full-rank and "
       "awmf",
       "dislike-share"_p);
}

void check_histories(const Scorer& scorer, const UserRows& histories) {
  if (histories.cols() != scorer.items())
    fail(ErrorKind::input,
         "the histories are over {} items but the model knows {}: use the data it was trained on",
         histories.cols(), scorer.items());
  const CsrView disliked = histories.disliked;
  if (disliked.rows != 0 && (disliked.rows != histories.rows() || disliked.cols != histories.cols()))
    fail(ErrorKind::input, "the dislikes are {} x {} but the histories are {} x {}: give them the same shape",
         disliked.rows, disliked.cols, histories.rows(), histories.cols());
}

}  // namespace poise
