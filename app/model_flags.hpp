#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "poise/train/parameter_table.hpp"

#include "command.hpp"

namespace poise::app {

/// The given flags of a model: the parameters by id, with their values as text.
struct ModelFlags {
  std::string model;       ///< of --model; after expand_short_form() a family
  std::string short_form;  ///< the name that --model had, where expand_short_form() replaced it
  std::map<std::string, std::vector<std::string>> given;

  [[nodiscard]] bool has(const std::string& id) const { return given.contains(id); }
};

/// Whether a flag of a parameter takes one value or, if a search can vary it, several.
enum class FlagValues { one, several };

/// --model, and a flag for every parameter of the table (train/parameter_table.hpp). With FlagValues::several
/// only models with parameters.
void add_model_flags(CLI::App& parser, ModelFlags& flags, FlagValues values);

/// The values of a short form such as ease, besides its family and fixed parameters: all values that `study`
/// tries, the middle one, or the range that it searches.
enum class Usual { middle, values, range };
/// Replaces a short form of a model (ease, edlae, weight-decay, ...: the names that `study` uses) by the
/// family and the flags that it stands for. Error{usage} for flags that contradict the name.
void expand_short_form(ModelFlags& flags, Usual usual);

/// Error{usage} if a flag was given that this model does not use.
void refuse_other_flags(const ModelFlags& flags);
/// The same for a flag that is no parameter, for these families.
void refuse_unless(bool fits, std::string_view flag, const ModelFlags& flags,
                   const std::vector<std::string>& families);

/// The checked parameters of the flags, with defaults for the others. An axis has its first value; alpha with
/// several values, and axes left to a search, have their defaults.
ModelParameters parameters_of(const ModelFlags& flags, const Context& context);

/// Before any work: Error{input} if a weighting needs values and the data have none, and a message if it
/// takes each as 1.
void check_values(Scheme scheme, bool has_values, const Context& context);

}  // namespace poise::app
