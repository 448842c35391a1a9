#include "poise/train/trainer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "poise/backend/backend.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"
#include "poise/model/family.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/neighbours/train.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {

struct Trainer::State {
  std::unique_ptr<Backend> own = {};
  FitContext context;
  UserRows X;
  Pin X_pin = {};
  double rate = 0;                                 ///< operations of a matrix product per second
  std::map<std::string, TrainingCost> costs = {};  ///< by the parameters they depend on

  const TrainingCost& cost(const ModelParameters& parameters) {
    const ModelParameters costly = cost_parameters(parameters);
    const auto [entry, unknown] = costs.try_emplace(fmt::format("{}", option_texts(costly)));
    if (unknown)
      entry->second = training_cost(costly, {context.X, context.features}, context.memory_limit,
                                    weights(costly), context.execution.threads);
    return entry->second;
  }
  [[nodiscard]] Weights weights(const ModelParameters& parameters) const {
    return weights_of(parameters, X, context.execution.threads);
  }
};

Trainer::Trainer(UserRows X, Keep keep, std::uint64_t memory_limit, Backend& backend, Execution execution)
    : state_(new State{.context = {X.items, memory_limit, backend, execution, keep == Keep::shared_parts},
                       .X = X}) {
  if (keep == Keep::shared_parts) state_->X_pin = backend.pin(support_of(X.items));
}

Trainer::Trainer(const LoadedDataset& data, std::filesystem::path folder, Keep keep,
                 std::uint64_t memory_limit, Backend& backend, Execution execution)
    : Trainer(data.dataset.training_rows(), keep, memory_limit, backend, execution) {
  data_ = &data;
  state_->context.folder = std::move(folder);
  state_->context.features = data.dataset.features.rows.view();
  state_->context.checksum = data.checksum;
}

Trainer::Trainer(const LoadedDataset& data, Keep keep, Execution execution) : data_(&data) {
  constexpr double usual_share = 0.8;
  std::unique_ptr<Backend> backend = make_backend(BackendKind::cpu, execution.threads, execution.observer);
  const auto limit = static_cast<std::uint64_t>(usual_share * static_cast<double>(total_memory()));
  *this = Trainer(data, {}, keep, limit, *backend, execution);
  state_->own = std::move(backend);
}

Trainer::~Trainer() = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::Trainer(Trainer&&) noexcept = default;

void Trainer::use_checkpoint(std::filesystem::path folder) { state_->context.checkpoint = std::move(folder); }
void Trainer::use_features(CsrView features) { state_->context.features = features; }
void Trainer::forget() { state_->context.forget(); }
Backend& Trainer::backend() { return state_->context.backend; }
std::uint64_t Trainer::memory_limit() const { return state_->context.memory_limit; }

Trained Trainer::train(const ModelParameters& parameters, const Weights* W) {
  validate(parameters);
  FitContext& context = state_->context;
  if (!context.checkpoint.empty())
    context.checkpoint_key = fmt::format("{} {} {}", version(), context.checksum, option_texts(parameters));
  return family_of(parameters).fit(parameters, W != nullptr ? *W : state_->weights(parameters), context);
}

std::pair<Trained, Trained> Trainer::train_both_diagonals(const ModelParameters& parameters) {
  validate(parameters);
  if (parameters.neighbours > 0) {  // two supports: nothing to share
    ModelParameters each = parameters;
    each.zero_diagonal = false;
    Trained unconstrained = train(each);
    each.zero_diagonal = true;
    return {std::move(unconstrained), train(each)};
  }
  FullRankOptions options =
      full_rank_options(parameters, state_->context.memory_limit, state_->context.features);
  options.unconstrained = options.zero_diagonal = true;
  std::vector<Trained> both = train_full_rank(options, state_->weights(parameters), state_->context);
  return {std::move(both[0]), std::move(both[1])};
}

Trained Trainer::train_to_score(const ModelParameters& parameters) {
  if (parameters.neighbours == 0) return train(parameters);
  return std::move(train_to_score(parameters, std::span(&parameters.neighbours, 1)).front());
}

std::vector<Trained> Trainer::train_to_score(const ModelParameters& parameters,
                                             std::span<const std::int64_t> neighbours) {
  validate(parameters);
  FitContext& context = state_->context;
  return train_neighbours_to_score(full_rank_options(parameters, context.memory_limit, context.features),
                                   neighbours, state_->weights(parameters), context);
}

double Trainer::expected_seconds(const ModelParameters& parameters) {
  if (family_of(parameters).parameters.empty()) return 0;
  if (state_->rate == 0) state_->rate = product_rate(state_->context.backend);
  // A weighted low-rank fit takes some fifteen rounds; eigenpairs are computed once.
  const TrainingCost& of_model = state_->cost(parameters);
  return (of_model.round > 0 ? 15 * of_model.round : of_model.fit - of_model.compared) / state_->rate;
}

double Trainer::expected_bytes(const ModelParameters& parameters) {
  const TrainingCost& of_model = state_->cost(parameters);
  return std::max(of_model.bytes, of_model.most_bytes);
}

}  // namespace poise
