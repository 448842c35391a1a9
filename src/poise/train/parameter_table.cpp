#include "poise/train/parameter_table.hpp"

#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"

namespace poise {
namespace {

const ModelParameter* find(std::string_view id) {
  const auto found =
      std::ranges::find_if(parameter_table(), [&](const ModelParameter& each) { return each.is.id == id; });
  return found == parameter_table().end() ? nullptr : &*found;
}

ParameterPlace place_in(ModelParameters& parameters, const ModelParameter& parameter) {
  return parameter.in(parameters);
}

}  // namespace

const std::vector<ModelParameter>& parameter_table() {
  static const std::vector<ModelParameter> table = [] {
    std::vector<ModelParameter> all = shared_parameters();
    const auto weights = [](const auto& in) {
      return [in](ModelParameters& parameters) { return in(parameters.weighting); };
    };
    for (const auto& each : weighting_parameters()) all.push_back({each.is, weights(each.in)});
    for (const auto& family : families()) all.insert(all.end(), family->own.begin(), family->own.end());
    std::stable_partition(all.begin(), all.end(),
                          [](const ModelParameter& each) { return each.is.axis != SearchAxis::none; });
    return all;
  }();
  return table;
}

const ModelParameter& parameter_of(std::string_view id) { return *find(id); }

std::vector<std::string> families_with(std::string_view id) {
  std::vector<std::string> names;
  for (const auto& family : families()) {
    if (family->find(id) != nullptr) names.push_back(family->name);
  }
  return names;
}

std::string help_of(const ModelParameter& parameter) {
  const std::vector<std::string> with = families_with(parameter.is.id);
  const auto trained =
      std::ranges::count_if(families(), [](const auto& family) { return !family->parameters.empty(); });
  if (std::ssize(with) == trained) return parameter.is.help;
  std::string text;
  for (const auto& family : families()) {
    const FamilyParameter* const use = family->find(parameter.is.id);
    if (use != nullptr && !use->help.empty())
      text += fmt::format("{} {}: {}", text.empty() ? "For" : "; for", family->name, use->help);
  }
  return text.empty() ? fmt::format("For {}: {}", fmt::join(with, " and "), parameter.is.help) : text;
}

std::string usual_text(const ModelParameter& parameter) {
  std::string text = value_text({}, parameter);
  if (const std::size_t zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

std::string keyword_name(std::string_view id) {
  if (const ModelParameter* const parameter = find(id)) return parameter->is.python_keyword();
  return id == "threads" ? "num_threads" : json_key(id);
}

std::string value_text(const ModelParameters& parameters, const ModelParameter& parameter) {
  ModelParameters copy = parameters;
  return value_text(parameter.is, place_in(copy, parameter));
}

void set_value(ModelParameters& parameters, std::string_view id, std::string_view text) {
  const ModelParameter& parameter = parameter_of(id);
  set_value(parameter.is, place_in(parameters, parameter), text);
}

std::map<std::string, std::string> option_texts(const ModelParameters& parameters) {
  const ModelFamily& family = family_of(parameters);
  std::map<std::string, std::string> texts = {{"model", family.name}};
  for (const FamilyParameter& each : family.parameters) {
    if (each.kept == nullptr || each.kept(parameters))
      texts[std::string(each.id)] = value_text(parameters, parameter_of(each.id));
  }
  return texts;
}

ModelParameters parameters_of(const std::map<std::string, std::string>& texts) {
  ModelParameters parameters;
  try {
    if (const auto model = texts.find("model"); model != texts.end())
      parameters.family = parse_family(model->second);
    for (const FamilyParameter& each : family_of(parameters).parameters) {
      const auto found = texts.find(std::string(each.id));
      if (found != texts.end()) set_value(parameters, each.id, found->second);
      if (found == texts.end() && each.kept == nullptr)
        fail(ErrorKind::input, "the model file has no {}", ParameterName{each.id});
    }
  } catch (const Error& error) {
    throw Error(ErrorKind::input, error.sentence());
  }
  return parameters;
}

ModelParameters cost_parameters(ModelParameters parameters) {
  for (const FamilyParameter& each : family_of(parameters).parameters) {
    if (!each.costs) set_value(parameters, each.id, value_text({}, parameter_of(each.id)));
  }
  return parameters;
}

std::string json_key(std::string_view id) {
  std::string key(id);
  std::ranges::replace(key, '-', '_');
  return key;
}

void put_parameters(nlohmann::ordered_json& json, const ModelParameters& parameters, Reported which) {
  ModelParameters copy = parameters;
  for (const FamilyParameter& each : family_of(parameters).parameters) {
    const bool kept = each.kept == nullptr || each.kept(parameters);
    if (!each.reported || (which == Reported::as_kept && !kept)) continue;
    const ModelParameter& parameter = parameter_of(each.id);
    nlohmann::ordered_json& value = json[json_key(each.id)];
    std::visit(
        [&]<class Place>(const Place& place) {
          if constexpr (std::is_same_v<Place, ChoicePlace>) {
            value = parameter.is.names[place.get()];
          } else {
            value = *place;
          }
        },
        place_in(copy, parameter));
  }
}

}  // namespace poise
