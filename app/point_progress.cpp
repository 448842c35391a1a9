#include "point_progress.hpp"

#include <vector>

#include <fmt/format.h>

#include "poise/train/parameter_table.hpp"

namespace poise::app {

namespace {

/// "EASE, lambda 100, alpha 2": the model's name, which has its rank, and the point.
std::string name_of(const ModelParameters& parameters, const std::string& model) {
  return model.empty()
             ? point_name(parameters)
             : fmt::format("{}, lambda {}, alpha {}", model, parameters.lambda, parameters.weighting.alpha);
}

}  // namespace

std::string setting_name(const ModelParameters& parameters) {
  std::vector<std::string> parts;
  if (parameters.low_rank()) parts.push_back(fmt::format("rank {}", parameters.rank));
  if (parameters.neighbours > 0) parts.push_back(fmt::format("{} neighbours", parameters.neighbours));
  for (const ModelParameter& each : parameter_table()) {
    const Parameter& is = each.is;
    if (is.axis != SearchAxis::free || is.id == "gamma" || family_of(parameters).find(is.id) == nullptr)
      continue;
    if (const std::string text = value_text(parameters, each); text != value_text({}, each))
      parts.push_back(fmt::format("{} {}", is.id, text));
  }
  if (parameters.weighting.scheme != Scheme::constant)
    parts.emplace_back(scheme_name(parameters.weighting.scheme));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string point_name(const ModelParameters& parameters) {
  const std::string setting = setting_name(parameters);
  return fmt::format("{}{}lambda {}, alpha {}", setting, setting.empty() ? "" : ", ", parameters.lambda,
                     parameters.weighting.alpha);
}

std::string counted_points(std::size_t count) {
  return fmt::format("{} point{}", count, count == 1 ? "" : "s");
}

void PointProgress::begin_data(const std::string& name) {
  data_ = name;
  done_ = 0;
  best_.reset();
}

void PointProgress::begin_model(const std::string& name) { model_ = name; }

void PointProgress::trained(const PointResult& result, std::size_t left, double seconds) {
  ++done_;
  const std::string name = name_of(result.parameters, model_);
  if (!result.failure.empty()) {
    observer_.say(fmt::format("no model at {}: {}", name, result.failure));
  } else if (const double score = result.score(choice_); !result.cut && (!best_ || score > best_->score)) {
    best_ = {score, name};
  }
  std::string state = fmt::format("{}{}{} done", data_, data_.empty() ? "" : ": ", counted_points(done_));
  // More points may follow: a grid is extended if its best point lies on an edge.
  if (left > 0) state += fmt::format(", at least {} left, about {}", left, duration(seconds));
  if (best_) state += fmt::format("; best {} {:.4f} ({})", to_string(choice_), best_->score, best_->name);
  if (!model_.empty()) state += fmt::format("; now {}", model_);
  observer_.show_state(std::move(state));
}

}  // namespace poise::app
