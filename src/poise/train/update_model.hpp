#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "poise/train/model_file.hpp"
#include "poise/train/update.hpp"

namespace poise {

/// A model that is to be updated, from a file or from memory.
struct EarlierModel {
  const ModelInfo& info;
  const Scorer& model;
  std::function<KeptInverse()> kept = {};  ///< its inverse; empty: it has none

  [[nodiscard]] ModelParameters parameters() const;
};

/// Error{usage} for models that cannot be updated.
void check_can_be_updated(const EarlierModel& earlier);

/// Why a model is trained again before anything else is tried, as the beginning of a sentence that goes on
/// with "trained again"; empty: it is not.
std::string why_trained_again(const EarlierModel& earlier, const Merged& merged,
                              const UpdateOptions& options);

/// A model of the merged data from that of `data`, by the way of its kind (train/update.hpp), or trained
/// again. Error{usage} as of check_can_be_updated(), Error{resources} where it would not fit.
Updated update_model(const EarlierModel& earlier, const Dataset& data, const Merged& merged,
                     const UpdateOptions& options, Backend& backend, const Execution& execution);

/// What the updated model's file holds: its options, and its report without the kept inverse.
std::map<std::string, std::string> updated_options(const ModelParameters& parameters, const Updated& updated);
nlohmann::ordered_json updated_report(const EarlierModel& earlier, const ModelParameters& parameters,
                                      const Updated& updated);

/// What was done to the data and how the model was updated; `name` names parameters.
nlohmann::ordered_json update_json(const MergeCounts& counts, const Updated& updated,
                                   const std::function<std::string(std::string_view)>& name);

}  // namespace poise
