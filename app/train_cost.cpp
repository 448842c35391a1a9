#include "train_cost.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/family.hpp"

#include "device.hpp"
#include "product_speed.hpp"
#include "progress.hpp"

namespace poise::app {
namespace {

/// Prints the expected time and memory, before any work. `rate` is that of matrix products.
void print_cost(const ModelParameters& parameters, CsrView X, const TrainingCost& cost, double rate,
                const Context& context) {
  const std::string memory = amount(cost.bytes, "B") + " of memory";
  if (parameters.neighbours > 0) {
    context.say(fmt::format("{} items with {} neighbours each: about {} and {}", grouped(X.cols),
                            grouped(std::min(parameters.neighbours, X.cols)), duration(cost.fit / rate),
                            memory));
    return;
  }
  if (!parameters.low_rank()) {
    context.say(fmt::format("{} x {} items: about {} and {}", grouped(X.cols), grouped(X.cols),
                            duration(cost.fit / rate), memory));
    return;
  }
  if (cost.eigenpairs + 20 * cost.round < 2 * rate) return;
  std::string text = "expected: ";
  if (cost.eigenpairs > 0)
    text +=
        fmt::format("about {} for eigenvectors, unless they are stored; ", duration(cost.eigenpairs / rate));
  if (cost.round > 0) text += fmt::format("about {} a round; ", duration(cost.round / rate));
  context.say(text + memory);
}

}  // namespace

double least_operations(const ModelParameters& parameters, const std::filesystem::path& data) {
  if (!built_with_cuda() || parameters.neighbours > 0) return 0;
  return family_of(parameters).least_operations(static_cast<double>(dataset_sizes(data).items));
}

void announce(Backend& backend, const ModelParameters& parameters, CsrView X, const TrainingCost& cost,
              double rate, const Context& context) {
  if (rate == 0 || !backend.traits().own_memory) rate = product_rate(backend);
  constexpr double worth_saying = 2;  // seconds
  if (cost.operations() >= worth_saying * rate) warn_if_slow(backend, context);
  print_cost(parameters, X, cost, rate, context);
}

void check_memory_or_suggest(const ModelParameters& parameters, const TrainingInput& on, const Weights& W,
                             const TrainingCost& cost, Backend& backend, const Context& context) {
  try {
    check_memory(parameters, on, context.memory_limit, W, &cost);
  } catch (const Error& error) {
    constexpr std::int64_t usual_neighbours = 100;
    if (parameters.family != Family::full_rank || parameters.neighbours > 0) throw;
    ModelParameters other = parameters;
    other.neighbours = usual_neighbours;
    const TrainingCost sparse = training_cost(other, on, context.memory_limit, W, context.execution.threads);
    if (sparse.bytes > static_cast<double>(context.memory_limit)) throw;
    throw Error(
        error.kind(),
        fmt::format("{}: {} of them an item would take about {} and {}", error.sentence(), usual_neighbours,
                    duration(sparse.fit / product_rate(backend)), amount(sparse.bytes, "B")));
  }
}

}  // namespace poise::app
