#include "train.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "poise/backend/choose.hpp"
#include "poise/base/error.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/trained_json.hpp"
#include "poise/train/update.hpp"
#include "poise/train/validation.hpp"

#include "arrays.hpp"
#include "data.hpp"
#include "parts.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {

namespace {

/// An unavailable device is a wrong argument here, not a lack of memory.
BackendKind kind_of(std::string_view device, const std::function<Work()>& work) {
  const DeviceChoice choice = parse_device(device);
  const bool undecided = choice == DeviceChoice::automatic && built_with_cuda();
  try {
    return choose_device(choice, undecided ? work() : Work{}).kind;
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, error.sentence());
  }
}

}  // namespace

std::unique_ptr<Backend> backend_of(std::string_view device, const std::function<Work()>& work,
                                    const Execution& execution) {
  return make_backend(kind_of(device, work), execution.threads, execution.observer);
}

std::unique_ptr<Backend> scoring_backend_of(std::string_view device, const std::function<Work()>& work,
                                            const Execution& execution) {
  const BackendKind kind = kind_of(device, work);
  return kind == BackendKind::cpu ? nullptr : make_backend(kind, execution.threads, execution.observer);
}

Model model_of(const ModelParameters& parameters, Trained trained, Ids items, std::string data_checksum,
               std::string report) {
  return {.info = {.model = std::string(family_name(parameters.family)),
                   .options = option_texts(parameters),
                   .data_checksum = std::move(data_checksum),
                   .report = std::move(report),
                   .items = std::move(items)},
          .scorer = std::move(trained.model),
          .seconds = std::move(trained.seconds),
          .trace = std::move(trained.trace)};
}

namespace {

void check_features(CsrView F, const UserRows& X) {
  if (F.rows > 0 && F.cols != X.cols())
    fail(ErrorKind::input, "the features are of {} items and the matrix has {}", F.cols, X.cols());
  if (!std::ranges::all_of(F.values, [](float value) { return value > 0 && std::isfinite(value); }))
    fail(ErrorKind::input, "features have to be finite numbers of at least 0");
}

/// How to train besides the parameters.
struct Training {
  std::string_view device;
  std::uint64_t memory_limit;
  bool keep_inverse;
  CsrView features;
};

/// `trainer_on` makes the trainer, given the backend. Weights are made once for all that reads them.
template <class TrainerOn>
Model train(const UserRows& rows, const ModelParameters& parameters, const Training& how,
            const Execution& execution, const TrainerOn& trainer_on, Ids items, std::string checksum) {
  const std::uint64_t memory_limit = how.memory_limit;
  const CsrView X = rows.items;
  const Weights W = weights_of(parameters, rows, execution.threads);
  const TrainingCost cost = training_cost(parameters, {X, how.features}, memory_limit, W, execution.threads);
  const auto backend = backend_of(
      how.device, [&] { return work_of(cost); }, execution);
  check_device(std::span(&parameters, 1), *backend);
  check_memory(parameters, {X, how.features}, memory_limit, W, &cost);
  std::shared_ptr<const KeptInverse> inverse;
  Trained trained;
  if (how.keep_inverse) {
    TrainedToUpdate both =
        train_keeping_inverse(parameters, X, how.features, W, memory_limit, *backend, execution);
    trained = std::move(both.trained);
    inverse = std::make_shared<const KeptInverse>(std::move(both.kept));
  } else {
    trained = trainer_on(*backend).train(parameters, &W);
  }
  std::string report = trained_json(parameters, trained).dump();
  Model model =
      model_of(parameters, std::move(trained), std::move(items), std::move(checksum), std::move(report));
  model.inverse = std::move(inverse);
  return model;
}

}  // namespace

void bind_train(py::module_& module) {
  module.def("check_device", [](const std::string& device) {
    if (parse_device(device) == DeviceChoice::cuda) kind_of(device, [] { return Work{}; });
  });
  module.def("train_csr", [](const UserArrays& arrays, const std::optional<CsrArrays>& features,
                             const std::vector<std::string>& item_ids, const py::dict& values,
                             bool keep_inverse, const std::string& device, std::uint64_t memory_limit,
                             int threads, const py::object& progress) {
    const UserRows X = rows_of(arrays);
    const CsrView F = features ? view_of(*features) : CsrView();
    check_features(F, X);
    const ModelParameters parameters = parameters_of(values);
    return run({threads, progress}, [&](const Execution& execution) {
      const auto trainer_on = [&](Backend& backend) {
        Trainer trainer(X, Keep::nothing, memory_limit, backend, execution);
        trainer.use_features(F);
        return trainer;
      };
      return train(X, parameters, {device, memory_limit, keep_inverse, F}, execution, trainer_on,
                   ids_of(item_ids), {});
    });
  });
  module.def("train_data", [](const Data& data, const std::string& folder, const py::dict& values,
                              bool keep_inverse, const std::string& device, std::uint64_t memory_limit,
                              int threads, const py::object& progress) {
    const ModelParameters parameters = parameters_of(values);
    return run({threads, progress}, [&](const Execution& execution) {
      const LoadedDataset& loaded = *data.loaded();
      const auto trainer_on = [&](Backend& backend) {
        return Trainer(loaded, folder, Keep::nothing, memory_limit, backend, execution);
      };
      Model model = train(loaded.dataset.training_rows(), parameters,
                          {device, memory_limit, keep_inverse, loaded.dataset.features.rows.view()},
                          execution, trainer_on, loaded.dataset.items, loaded.checksum);
      model.info.features = learnt_from(parameters, loaded.dataset.features);
      if (const auto ndcg = reported_ndcg(parameters, *model.scorer, loaded.dataset, execution)) {
        auto report = nlohmann::ordered_json::parse(model.info.report);
        report["validation"] = {{"ndcg@100", *ndcg}};
        model.info.report = report.dump();
      }
      return model;
    });
  });
}

}  // namespace poise::python
