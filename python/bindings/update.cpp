#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include "poise/base/error.hpp"
#include "poise/data/merge.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/update_model.hpp"

#include "data.hpp"
#include "parts.hpp"
#include "train.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

struct Both {
  Model model;
  Data data;
  std::string how;
};

/// The rows that are new, or to be removed.
const Interactions* rows_of_log(const std::shared_ptr<Interactions>& log, const char* what) {
  if (log && log->rows() == 0) fail(ErrorKind::input, "there is no row to {}", what);
  return log.get();
}

Both updated(const Model& model, const Data& data, const Interactions* log, const Interactions* removed,
             const std::optional<std::string>& item_features, UpdateOptions options,
             const std::string& device, const Execution& execution) {
  const EarlierModel earlier{model.info, *model.scorer, kept_inverse_of(model, execution.threads)};
  check_can_be_updated(earlier);
  std::optional<FeatureTable> features;
  if (item_features) features = read_further_features(*item_features, data.dataset().features.names);
  Merged merged = merge(data.dataset(), log, removed, execution, features ? &*features : nullptr);
  const ModelParameters parameters = earlier.parameters();
  const CsrView X = merged.dataset.train.view();
  const TrainingInput on(X, merged.dataset.features.rows.view());
  const auto backend = backend_of(
      device,
      [&] { return work_of(training_cost(parameters, on, options.memory_limit, weights_of(parameters, X))); },
      execution);
  Updated result = update_model(earlier, data.dataset(), merged, options, *backend, execution);
  std::string report = updated_report(earlier, parameters, result).dump();
  std::string how = update_json(merged.counts, result, keyword_name).dump();
  Both both{{}, Data(std::move(merged.dataset)), std::move(how)};
  both.data.identify(execution);
  both.model = model_of(parameters, std::move(result.trained), both.data.dataset().items,
                        both.data.loaded()->checksum, std::move(report));
  both.model.info.options = updated_options(parameters, result);
  both.model.info.features = learnt_from(parameters, both.data.dataset().features);
  if (result.kept) both.model.inverse = std::make_shared<const KeptInverse>(*std::move(result.kept));
  return both;
}

}  // namespace

void bind_update(py::module_& module) {
  module.def("update", [](const Model& model, const Data& data, const std::shared_ptr<Interactions>& log,
                          const std::shared_ptr<Interactions>& removed,
                          const std::optional<std::string>& item_features, bool keep_lambda, bool refit,
                          const std::string& device, std::uint64_t memory_limit, int threads,
                          const py::object& progress) {
    const Interactions* const added = rows_of_log(log, "add");
    const Interactions* const taken = rows_of_log(removed, "remove");
    if (added == nullptr && taken == nullptr && !item_features)
      fail(ErrorKind::usage, "nothing to update: give new rows, rows to remove, or item features");
    const UpdateOptions options{.keep_lambda = keep_lambda, .refit = refit, .memory_limit = memory_limit};
    Both both = run({threads, progress}, [&](const Execution& execution) {
      return updated(model, data, added, taken, item_features, options, device, execution);
    });
    return py::make_tuple(std::move(both.model), std::move(both.data), std::move(both.how));
  });
}

}  // namespace poise::python
