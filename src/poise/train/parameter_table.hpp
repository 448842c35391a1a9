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
/// The parameter with this id, which must exist.
const ModelParameter& parameter_of(std::string_view id);

/// The names of the families that read a parameter.
std::vector<std::string> families_with(std::string_view id);
/// The help text of a parameter, with its families unless all trained ones have it: "For awmf and wmf:
/// columns of U and V". It names parameters by id (base/parameter_name.hpp).
std::string help_of(const ModelParameter& parameter);
/// Its default value in the shortest form: "1e-6".
std::string usual_text(const ModelParameter& parameter);

/// Python's name of a parameter or another flag: "lambda" is regularization, "memory-limit" memory_limit.
std::string keyword_name(std::string_view id);

std::string value_text(const ModelParameters& parameters, const ModelParameter& parameter);
/// Error{usage} if the text is no value of the parameter.
void set_value(ModelParameters& parameters, std::string_view id, std::string_view text);

/// The parameters that the family reads, by id: what model files and journals store.
std::map<std::string, std::string> option_texts(const ModelParameters& parameters);
/// Reads the texts of option_texts; Error{input} if they are malformed.
ModelParameters parameters_of(const std::map<std::string, std::string>& texts);

/// A representative of all parameters with the same cost: those that do not affect it are set to one value.
ModelParameters cost_parameters(ModelParameters parameters);

/// "lambda_exponent" for the id "lambda-exponent".
std::string json_key(std::string_view id);
/// Whether JSON omits the parameters that the model file omits, or has all.
enum class Reported { as_kept, all };
/// Sets the parameters in the JSON of a trained model.
void put_parameters(nlohmann::ordered_json& json, const ModelParameters& parameters, Reported which);

}  // namespace poise
