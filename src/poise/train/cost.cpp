#include "poise/train/cost.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// Whether there is anything to train.
bool trained(const ModelParameters& parameters) { return !family_of(parameters).parameters.empty(); }

}  // namespace

Weights weights_of(const ModelParameters& parameters, const UserRows& X, int threads) {
  return trained(parameters) ? make_weights(X, parameters.weighting, threads) : Weights();
}

TrainingCost training_cost(const ModelParameters& parameters, const TrainingInput& on,
                           std::uint64_t memory_limit, const Weights& W, int threads) {
  if (!trained(parameters)) return {};
  TrainingCost cost = family_of(parameters).cost(parameters, on, memory_limit, W, threads);
  cost.gpu_bytes = family_of(parameters).gpu_bytes(parameters, on.X);
  return cost;
}

Work training_work(std::span<const ModelParameters> points, const UserRows& X, CsrView features,
                   std::uint64_t memory_limit, double enough) {
  std::map<std::map<std::string, std::string>, double> known;
  Work work;
  for (const ModelParameters& point : points) {
    work.gpu_bytes = std::max(work.gpu_bytes, family_of(point).gpu_bytes(point, X.items));
    if (work.operations >= enough) continue;
    const ModelParameters costly = cost_parameters(point);
    const auto [entry, unknown] = known.try_emplace(option_texts(costly));
    if (unknown)
      entry->second =
          training_cost(costly, {X.items, features}, memory_limit, weights_of(costly, X)).gpu_operations();
    work.operations += entry->second;
  }
  return work;
}

void check_device(std::span<const ModelParameters> points, const Backend& backend) {
  const auto on_processors = [](const ModelParameters& point) {
    return point.family == Family::full_rank && point.neighbours > 0;
  };
  if (backend.traits().own_memory && std::ranges::all_of(points, on_processors))
    fail(ErrorKind::usage, "models with {} are trained on the processor alone; use {} cpu or auto",
         "neighbours"_p, "device"_p);
}

void check_memory(const ModelParameters& parameters, const TrainingInput& on, std::uint64_t memory_limit,
                  const Weights& W, const TrainingCost* cost, bool both_diagonals) {
  if (trained(parameters))
    family_of(parameters).check_memory(parameters, on, memory_limit, W, cost, both_diagonals);
}

double product_rate(Backend& backend) {
  // A product that keeps a processor busy is too small for a GPU.
  const std::int64_t size = backend.traits().own_memory ? 4096 : 1024;
  const Resident<float> a(backend, Matrix<float>(size, size, 1.0F));
  Resident<float> c(backend, size, size);
  Matrix<float> entry(1, 1);
  const auto multiply = [&] {
    const auto begin = std::chrono::steady_clock::now();
    backend.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
    // The GPU has finished when a part of its result has been copied.
    backend.download(c.view().block(0, 1).columns(0, 1), entry.view());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  multiply();
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / std::min({multiply(), multiply(), multiply()});
}

}  // namespace poise
