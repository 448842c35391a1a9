#include "poise/train/trained_json.hpp"

#include "poise/train/certificate_json.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

Json trained_json(const ModelParameters& parameters, const Trained& trained) {
  Json json = {{"model", family_name(parameters.family)}};
  if (parameters.family == Family::popularity) {
    // A count has no objective, nothing to converge and nothing to certify.
    for (const char* const key :
         {"rank", "lambda", "alpha", "weighting", "objective", "observed_weight", "certificate"})
      json[key] = nullptr;
    json.update({{"iterations", 0}, {"rounds", 0}, {"converged", true}});
    return json;
  }
  const bool full_rank = parameters.family == Family::full_rank;
  json["rank"] = full_rank ? Json() : Json(parameters.rank);
  if (full_rank) json["zero_diagonal"] = parameters.zero_diagonal;
  if (parameters.family == Family::awmf) json["regularizer"] = regularizer_name(parameters.regularizer);
  // A plain full-rank model's file is that of the time before there was an exponent.
  if (parameters.family == Family::wmf || (full_rank && parameters.lambda_exponent != 0))
    json["lambda_exponent"] = parameters.lambda_exponent;
  json["lambda"] = parameters.lambda;
  if (full_rank) json["dropout"] = parameters.dropout;
  json.update({{"alpha", parameters.weighting.alpha},
               {"weighting", scheme_name(parameters.weighting.scheme)},
               {"objective", trained.objective},
               {"observed_weight", trained.observed_weight},
               {"certificate", to_json(trained.certificate, full_rank)},
               {"iterations", trained.iterations},
               {"rounds", trained.rounds},
               {"converged", trained.converged}});
  if (full_rank) {
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
