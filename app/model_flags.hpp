#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "poise/train/parameter_table.hpp"

#include "command.hpp"

namespace poise::app {

/// The flags of a model, as they were given: the parameters by their ids, with their values as text.
struct ModelFlags {
  std::string model;       ///< of --model; after expand_short_form() a family
  std::string short_form;  ///< the name that --model had, where expand_short_form() replaced it
  std::map<std::string, std::vector<std::string>> given;

  [[nodiscard]] bool has(const std::string& id) const { return given.contains(id); }
};

/// What a flag of a parameter takes: one value, or, where a search can vary it, several.
enum class FlagValues { one, several };

/// --model, and a flag for every parameter of the table (train/parameter_table.hpp). With FlagValues::several
/// only models that have parameters.
void add_model_flags(CLI::App& parser, ModelFlags& flags, FlagValues values);

/// What a name such as ease stands for beside its family and the parameters that it fixes: the values that
/// `study` tries, the one in their middle, or the range that it searches.
enum class Usual { middle, values, range };
/// Replaces a short form of a model (ease, edlae, weight-decay, ...: the names that `study` uses) by the
/// family and the flags that it stands for. Error{usage} for flags that contradict the name.
void expand_short_form(ModelFlags& flags, Usual usual);

/// Error{usage} when a flag was given that this model has no use for.
void refuse_other_flags(const ModelFlags& flags);
/// The same of a flag that is no parameter, for these families.
void refuse_unless(bool fits, std::string_view flag, const ModelFlags& flags,
                   const std::vector<std::string>& families);

/// What the flags ask for, checked, with the defaults of those that were not given. An axis has its first
/// value; alpha of several values, and what is left to a search, their defaults.
ModelParameters parameters_of(const ModelFlags& flags, const Context& context);

/// Before any work: Error{input} where a weighting cannot do without values and the data have none, and a
/// message where it makes nothing of that.
void check_values(Scheme scheme, bool has_values, const Context& context);

}  // namespace poise::app
