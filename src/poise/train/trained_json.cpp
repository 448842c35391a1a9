#include "poise/train/trained_json.hpp"

#include "poise/train/certificate_json.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

Json trained_json(const ModelParameters& parameters, const Trained& trained) {
  const ModelFamily& family = family_of(parameters);
  Json json = {{"model", family.name}, {"rank", nullptr}};
  put_parameters(json, parameters, Reported::as_kept);
  if (family.parameters.empty()) {
    // A popularity model has no objective, convergence or certificate.
    for (const char* const key :
         {"lambda", "alpha", "weighting", "objective", "observed_weight", "certificate"})
      json[key] = nullptr;
    json.update({{"iterations", 0}, {"rounds", 0}, {"converged", true}});
    return json;
  }
  const bool columns = !parameters.low_rank();
  json.update({{"objective", trained.objective},
               {"observed_weight", trained.observed_weight},
               {"certificate", to_json(trained.certificate, columns)},
               {"iterations", trained.iterations},
               {"rounds", trained.rounds},
               {"converged", trained.converged}});
  if (columns) {
    json.update({{"objective_error", trained.objective_error},
                 {"condition", trained.condition},
                 {"precision", trained.float64 ? "float64" : "float32"},
                 {"tensor_cores", trained.tensor_cores},
                 {"direct_columns", trained.direct_columns},
                 {"iterated_columns", trained.iterated_columns}});
  } else {
    json["live_directions"] = trained.live_directions;
  }
  return json;
}

}  // namespace poise
