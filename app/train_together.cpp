#include "train_together.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/backend/team.hpp"
#include "poise/base/version.hpp"
#include "poise/model/family.hpp"
#include "poise/model/full_rank/dense_parts.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/spread_fit.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"
#include "poise/model/neighbours/train.hpp"
#include "poise/train/parameter_table.hpp"

#include "progress.hpp"

namespace poise::app {
namespace {

bool is_spread(const ModelParameters& parameters, const Processes& processes) {
  return processes.several() && parameters.family == Family::full_rank && parameters.neighbours == 0;
}

/// Identifies what a checkpoint belongs to.
std::string checkpoint_key(const ModelParameters& parameters, const LoadedDataset& data) {
  return fmt::format("{} {} {}", version(), data.checksum, option_texts(parameters));
}

/// A low-rank model by all processes, or with a checkpoint, or both. With a checkpoint Ctrl-C ends a round
/// before it ends the program.
Trained train_low_rank(const ModelParameters& parameters, const LoadedDataset& data, CsrView X,
                       const Weights& W, const std::filesystem::path& folder,
                       const std::filesystem::path& checkpoint, Backend& backend, const Context& context) {
  RoundObserver by_rounds(context.execution.observer);
  Execution execution = context.execution;
  if (!checkpoint.empty()) execution.observer = &by_rounds;
  std::unique_ptr<Backend> own;
  if (context.processes->several())
    own = make_team(*context.processes, execution.threads, execution.observer);
  else if (!backend.traits().own_memory)
    own = make_backend(BackendKind::cpu, execution.threads, execution.observer);
  FitContext fit{.X = X,
                 .memory_limit = context.memory_limit,
                 .backend = own ? *own : backend,
                 .execution = execution,
                 .folder = folder,
                 .checksum = data.checksum,
                 .checkpoint = checkpoint,
                 .processes = context.processes};
  if (!checkpoint.empty()) {
    fit.checkpoint_key = checkpoint_key(parameters, data);
    if (const std::int64_t rounds = RoundCheckpoint::rounds_in(checkpoint))
      context.say(fmt::format("{} rounds were in {} already", rounds, checkpoint.string()));
  }
  context.processes->watch(execution.observer);
  Trained trained = family_of(parameters).fit(parameters, W, fit);
  context.processes->watch(context.execution.observer);
  return trained;
}

/// A dense full-rank model by all processes, or with a checkpoint, or both. With a checkpoint Ctrl-C ends a
/// block of columns before it ends the program.
Trained train_dense(const ModelParameters& parameters, const LoadedDataset& data, CsrView X, const Weights& W,
                    const std::filesystem::path& checkpoint, Backend& backend, const Context& context) {
  Processes& processes = *context.processes;
  RoundObserver by_blocks(context.execution.observer);
  Execution execution = context.execution;
  std::unique_ptr<Backend> own;
  if (!checkpoint.empty()) {
    execution.observer = &by_blocks;
    own = make_backend(BackendKind::cpu, execution.threads, execution.observer);
    const std::string found = DenseParts::found_in(checkpoint);
    if (!found.empty()) context.say(fmt::format("{} were in {} already", found, checkpoint.string()));
  }
  FitContext fit{.X = X,
                 .memory_limit = context.memory_limit,
                 .backend = own ? *own : backend,
                 .execution = execution,
                 .checkpoint = checkpoint,
                 .checkpoint_key = checkpoint_key(parameters, data),
                 .features = data.dataset.features.rows.view()};
  const FullRankOptions options = full_rank_options(parameters, context.memory_limit, fit.features);
  if (is_spread(parameters, processes) && options.with_features())
    fail(ErrorKind::usage,
         "the data have features of items, and a dense model by several processes does not learn from them: "
         "train it by one process, or give {} 0",
         "feature-weight"_p);
  processes.watch(execution.observer);
  const auto train = [&] {
    if (!is_spread(parameters, processes)) return std::move(train_full_rank(options, W, fit).front());
    const ColumnShare share(fit.X.cols, processes);
    return train_full_rank_spread(options, W, share, fit);
  };
  Trained trained = train();
  processes.watch(context.execution.observer);
  return trained;
}

}  // namespace

bool train_by_all(const std::vector<std::string>& arguments) {
  const auto is_trained = [](std::string_view name) {
    return std::ranges::any_of(families(),
                               [&](const auto& each) { return each->low_rank() && each->name == name; }) ||
           std::ranges::any_of(model_kinds(), [&](const ModelKind& each) {
             return (each.low_rank() || each.family == Family::full_rank) && each.name == name;
           });
  };
  constexpr std::string_view model = "--model=";
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string_view each = arguments[k];
    if (each == "--neighbours" || each.starts_with("--neighbours=")) return true;
    if (each.starts_with(model) && is_trained(each.substr(model.size()))) return true;
    if (each == "--model" && k + 1 < arguments.size() && is_trained(arguments[k + 1])) return true;
  }
  return false;
}

bool is_shared(const ModelParameters& parameters, const Processes& processes) {
  return parameters.neighbours > 0 || parameters.low_rank() || is_spread(parameters, processes);
}

TrainingCost cost_of_each(TrainingCost cost, CsrView X, const Weights& W, const Processes& processes) {
  cost.bytes = static_cast<double>(spread_full_rank_memory(X, !W.uniform(), false, processes.size()));
  cost.gpu_bytes = static_cast<double>(spread_gpu_memory(X.cols, processes.size()));
  cost.fit /= processes.size();
  return cost;
}

Trained train_together(const ModelParameters& parameters, const LoadedDataset& data, CsrView X,
                       const Weights& W, const std::filesystem::path& folder,
                       const std::filesystem::path& checkpoint, Backend& backend, const Context& context) {
  Processes& processes = *context.processes;
  const bool dense = parameters.family == Family::full_rank && parameters.neighbours == 0;
  if (is_spread(parameters, processes) || (dense && !checkpoint.empty()))
    return train_dense(parameters, data, X, W, checkpoint, backend, context);
  if (processes.several() && parameters.neighbours > 0) {
    FitContext fit{.X = X,
                   .memory_limit = context.memory_limit,
                   .backend = backend,
                   .execution = context.execution,
                   .checkpoint = checkpoint,
                   .checkpoint_key = checkpoint_key(parameters, data)};
    return train_neighbours(
        full_rank_options(parameters, context.memory_limit, data.dataset.features.rows.view()),
        parameters.neighbours, W, fit, &processes);
  }
  if (parameters.low_rank() && (processes.several() || !checkpoint.empty()))
    return train_low_rank(parameters, data, X, W, folder, checkpoint, backend, context);
  Trainer trainer(data, folder, Keep::nothing, context.memory_limit, backend, context.execution);
  if (!checkpoint.empty()) trainer.use_checkpoint(checkpoint);
  return trainer.train(parameters, &W);
}

}  // namespace poise::app
