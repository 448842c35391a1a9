#include <algorithm>

#include <fmt/format.h>

#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/full_rank/spread_full_rank.hpp"
#include "poise/train/validation.hpp"

#include "train.hpp"

namespace poise::app {

FullRank sparsify(const Scorer& dense, std::int64_t keep, const LoadedDataset& data, CsrView X,
                  const ModelParameters& parameters, const Weights& W, Backend& backend,
                  const Context& context, TrainReport& report) {
  const Dataset& dataset = data.dataset;
  const int threads = context.execution.threads;
  const auto* const spread = dynamic_cast<const SpreadFullRank*>(&dense);
  FullRank sparse(spread != nullptr ? spread->keep_top(keep, threads)
                                    : keep_top(dynamic_cast<const FullRank&>(dense).dense(), keep, threads));
  Json kept = {{"per_column", keep}, {"entries", sparse.sparse()->entries()}};
  report.text += fmt::format("  kept       {} of {} entries", grouped(sparse.sparse()->entries()),
                             grouped(dense.items() * dense.items()));
  const Execution of_dense{.threads = spread != nullptr ? 1 : threads,
                           .observer = context.execution.observer};
  const std::optional<double> all = validation_ndcg(dense, dataset, of_dense);
  if (all) {
    const double after = *validation_ndcg(sparse, dataset, context.execution);
    kept["validation"] = {{"ndcg@100", {{"all", *all}, {"kept", after}}}};
    report.text += fmt::format("; validation ndcg@100 {:.4f} instead of {:.4f}", after, *all);
  }
  report.text += "\n";
  report.json["kept"] = kept;
  const double objective = full_rank_objective(
      X, W, full_rank_options(parameters, context.memory_limit, dataset.features.rows.view()),
      *sparse.sparse(), backend, context.execution);
  const double before = report.json["objective"];
  const double absolute = report.json["certificate"]["absolute"].get<double>() +
                          report.json["objective_error"].get<double>() + std::max(0.0, objective - before);
  const double explained = report.json["observed_weight"].get<double>() - objective;
  report.json["objective"] = objective;
  report.json["objective_error"] = 0;
  report.json["certificate"]["absolute"] = absolute;
  report.json["certificate"]["relative"] = explained > 0 ? Json(absolute / explained) : Json();
  report.json["certificate"]["worst_column"] = nullptr;
  report.text += fmt::format("  its objective {:.6g} instead of {:.6g}\n", objective, before);
  return sparse;
}

}  // namespace poise::app
