#include "poise/train/update_model.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/model/family.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/trained_json.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

namespace {

/// In a model's options: only its largest entries are there.
constexpr const char* keep_top_option = "keep-top";
/// In a model's options: its Lambda or weights are of earlier data.
constexpr const char* keep_lambda_option = "keep-lambda";
/// In a model's report: how often it was updated since its training.
constexpr const char* updates_key = "updates";

}  // namespace

ModelParameters EarlierModel::parameters() const { return parameters_of(info.options); }

void check_can_be_updated(const EarlierModel& earlier) {
  if (earlier.info.options.contains(keep_top_option))
    fail(ErrorKind::usage, "the model holds only the largest entries of its columns ({}); train it again",
         "keep-top"_p);
}

std::string why_trained_again(const EarlierModel& earlier, const Merged& merged,
                              const UpdateOptions& options) {
  if (options.refit) return "as asked, the model is";
  const ModelParameters parameters = earlier.parameters();
  if (parameters.family != Family::full_rank) {
    const std::int64_t live = Json::parse(earlier.info.report).value("live_directions", std::int64_t{0});
    const std::string why = why_not_warm(parameters, live, merged.dataset.train.view());
    return why.empty() ? why : fmt::format("a model of the family {}: {}; it is", earlier.info.model, why);
  }
  if (parameters.neighbours == 0 && !earlier.kept)
    return fmt::format("it was trained without {}: it is", "keep-inverse"_p);
  return {};
}

Updated update_model(const EarlierModel& earlier, const Dataset& data, const Merged& merged,
                     const UpdateOptions& options, Backend& backend, const Execution& execution) {
  check_can_be_updated(earlier);
  const ModelParameters parameters = earlier.parameters();
  if (const std::string again = why_trained_again(earlier, merged, options); !again.empty()) {
    const CsrView X = merged.dataset.train.view();
    check_memory(parameters, {X, merged.dataset.features.rows.view()}, options.memory_limit,
                 weights_of(parameters, X, execution.threads));
    return train_again(parameters, merged, again + " trained again", options, backend, execution);
  }
  if (parameters.family != Family::full_rank)
    return update_low_rank(earlier.model, parameters, merged, options, backend, execution);
  const auto& model = dynamic_cast<const FullRank&>(earlier.model);
  if (parameters.neighbours > 0)
    return update_neighbours(model, parameters, data, merged, options, backend, execution);
  return update_full_rank(model, parameters, earlier.kept(), data, merged, options, backend, execution);
}

std::map<std::string, std::string> updated_options(const ModelParameters& parameters,
                                                   const Updated& updated) {
  std::map<std::string, std::string> texts = option_texts(parameters);
  if (updated.lambda_kept) texts[keep_lambda_option] = "true";
  return texts;
}

Json updated_report(const EarlierModel& earlier, const ModelParameters& parameters, const Updated& updated) {
  Json report = trained_json(parameters, updated.trained);
  if (updated.refitted.empty())
    report[updates_key] = Json::parse(earlier.info.report).value(updates_key, 0) + 1;
  return report;
}

Json update_json(const MergeCounts& counts, const Updated& updated,
                 const std::function<std::string(std::string_view)>& name) {
  return {{"log_rows", counts.log_rows},
          {"added", counts.added},
          {"known", counts.known},
          {"duplicates", counts.duplicates},
          {"held_out", counts.held_out},
          {"removed", counts.removed},
          {"not_there", counts.not_there},
          {"new_users", counts.new_users},
          {"changed_users", counts.changed_users},
          {"new_items", counts.new_items},
          {"described_items", counts.described_items},
          {"described_before", counts.described_before},
          {"unknown_features", counts.unknown_features},
          {"rank", updated.rank},
          {"operations", updated.operations},
          {"refit_operations", updated.refit_operations},
          {"kept_columns", updated.kept_columns},
          {"lambda_kept", updated.lambda_kept},
          {"warm", updated.warm},
          {"refitted", updated.refitted.empty() ? Json() : Json(with_names(updated.refitted, name))}};
}

}  // namespace poise
