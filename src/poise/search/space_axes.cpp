#include "poise/search/space_axes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// The numbers that a space holds for an axis, and whether it is automatic.
struct NumberAxis {
  std::string_view id;
  std::vector<double> SearchSpace::*values;
  bool SearchSpace::Automatic::*automatic = nullptr;
};
constexpr NumberAxis number_axes[] = {
    {"lambda", &SearchSpace::lambda},
    {"alpha", &SearchSpace::alpha},
    {"dropout", &SearchSpace::dropout, &SearchSpace::Automatic::dropout},
    {"lambda-exponent", &SearchSpace::lambda_exponent, &SearchSpace::Automatic::lambda_exponent},
    {"feature-weight", &SearchSpace::feature_weight, &SearchSpace::Automatic::feature_weight},
    {"alpha-negative", &SearchSpace::alpha_negative, &SearchSpace::Automatic::alpha_negative},
    {"gamma", &SearchSpace::gamma, &SearchSpace::Automatic::gamma},
};

}  // namespace

void set_axis(SearchSpace& space, std::string_view id, std::span<const std::string> texts) {
  const bool automatic = texts.size() == 1 && texts.front() == "auto";
  if (automatic && space.method != SearchMethod::best)
    fail(ErrorKind::usage, "auto is for {} best; give the values of the axis", "grid"_p);
  if (!automatic && std::ranges::find(texts, "auto") != texts.end())
    fail(ErrorKind::usage, "{} is auto or has values, not both", ParameterName{id});
  if (!automatic && !texts.empty() && id != "alpha") set_value(space.base, id, texts.front());
  const auto values = [&]<class T>(T ModelParameters::*member) {
    std::vector<T> numbers;
    for (const std::string& text : texts) {
      ModelParameters parameters;
      set_value(parameters, id, text);
      numbers.push_back(parameters.*member);
    }
    return numbers;
  };
  if (id == "rank") space.rank = values(&ModelParameters::rank);
  if (id == "neighbours") space.neighbours = values(&ModelParameters::neighbours);
  if (id == "weighting") {
    space.scheme.clear();
    for (const WeightingOptions& each : values(&ModelParameters::weighting))
      space.scheme.push_back(each.scheme);
  }
  for (const NumberAxis& axis : number_axes) {
    if (axis.id != id) continue;
    if (axis.automatic != nullptr) space.automatic.*axis.automatic = automatic;
    (space.*axis.values).clear();
    for (const std::string& text : texts) {
      if (automatic) break;
      // All numbers have the same form, so lambda can stand for any of them.
      ModelParameters parameters;
      set_value(parameters, "lambda", text);
      (space.*axis.values).push_back(parameters.lambda);
    }
  }
}

void set_axis(SearchSpace& space, std::string_view id, std::span<const double> values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(fmt::format("{}", value));
  set_axis(space, id, texts);
}

}  // namespace poise
