#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "poise/model/family.hpp"

namespace poise {

/// Every parameter of a model, as the weighting and the families declare them; those that a search can vary
/// first. Flags, config files, model files, journals, Python's keywords and docs/cli.md are made from this
/// list.
const std::vector<ModelParameter>& parameter_table();
/// The parameter with this id; it must be there.
const ModelParameter& parameter_of(std::string_view id);

/// The names of the families that read a parameter.
std::vector<std::string> families_with(std::string_view id);
/// What a parameter is, with the families where not all trained ones have it: "Of awmf and wmf: columns of U
/// and V". Parameters stand in it by their ids (base/parameter_name.hpp).
std::string help_of(const ModelParameter& parameter);
/// Its value in new parameters, as short as it is written: "1e-6".
std::string usual_text(const ModelParameter& parameter);

/// What Python calls a parameter or another flag: "lambda" is regularization, "memory-limit" memory_limit.
std::string keyword_name(std::string_view id);

std::string value_text(const ModelParameters& parameters, const ModelParameter& parameter);
/// Error{usage} where the text is no value of the parameter.
void set_value(ModelParameters& parameters, std::string_view id, std::string_view text);

/// Those that the family reads, by their ids: what a model file and a journal keep.
std::map<std::string, std::string> option_texts(const ModelParameters& parameters);
/// What option_texts wrote; Error{input} where that is not it.
ModelParameters parameters_of(const std::map<std::string, std::string>& texts);

/// A model of the same cost, the same for all that differ only in what does not matter to it.
ModelParameters cost_parameters(ModelParameters parameters);

/// "lambda_exponent" for the id "lambda-exponent".
std::string json_key(std::string_view id);
/// Whether JSON has what a plain model's file does not.
enum class Reported { as_kept, all };
/// Sets what the JSON of a trained model says of its parameters.
void put_parameters(nlohmann::ordered_json& json, const ModelParameters& parameters, Reported which);

}  // namespace poise
