#include "poise/search/scoring.hpp"

#include <algorithm>
#include <chrono>

namespace poise {

ScoredUsers scored_users(CsrView targets) {
  ScoredUsers users;
  for (std::int64_t row = 0; row < targets.rows; ++row) users.count += targets.row_size(row) > 0 ? 1 : 0;
  users.sampled = sampled_users(users.count);
  std::vector<bool> in_sample(users.count);
  for (const std::int64_t user : users.sampled.users) in_sample[user] = true;
  for (std::int64_t user = 0; user < users.count; ++user) {
    if (!in_sample[user]) users.others.push_back(user);
  }
  return users;
}

Scoring::Scoring(const ModelParameters& parameters, Trained trained, double seconds, Trainer& trainer,
                 const EvaluateOptions& options, const ScoredUsers& users, const Execution& execution)
    : trained_(std::move(trained)),
      result_{.parameters = parameters,
              .objective = trained_.objective,
              .certificate = trained_.certificate,
              .iterations = trained_.iterations,
              .rounds = trained_.rounds,
              .converged = trained_.converged,
              .seconds = seconds},
      users_(users),
      evaluation_(*trained_.model, trainer.data().dataset.histories(*trainer.data().dataset.validation),
                  trainer.data().dataset.validation->targets.view(),
                  {column_counts(trainer.data().dataset.train.view()), trainer.data().dataset.train.view()},
                  options, execution, &trainer.backend()) {}

double Scoring::bytes() const {
  const auto items = static_cast<double>(trained_.model->items());
  const ModelParameters& parameters = result_.parameters;
  if (parameters.neighbours > 0)
    return items * (16 + (sizeof(float) + sizeof(std::int32_t)) *
                             std::min(items, static_cast<double>(parameters.neighbours)));
  const double columns = parameters.low_rank() ? 2 * static_cast<double>(parameters.rank) : items;
  return items * columns * sizeof(float);
}

PointResult Scoring::run(const std::optional<Race>& race, const std::string& metric) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::vector<std::size_t>& ends = users_.sampled.ends;
  const auto is_lost = [&] {
    result_.cut = race ? lost(result_.sample.of(metric), ends, *race) : std::nullopt;
    return result_.cut.has_value();
  };
  while (!is_lost() && parts_done_ < ends.size()) {
    const std::size_t first = parts_done_ == 0 ? 0 : ends[parts_done_ - 1];
    const std::size_t end = ends[parts_done_++];
    evaluation_.measure(std::span(users_.sampled.users).subspan(first, end - first));
    result_.sample = sample_of(evaluation_.so_far(), users_.sampled, end);
  }
  if (!result_.cut) {
    evaluation_.measure(users_.others);
    result_.validation = estimates_of(evaluation_.finish());
  } else {
    evaluation_.pause();
  }
  result_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return result_;
}

}  // namespace poise
