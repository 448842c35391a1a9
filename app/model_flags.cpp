#include "model_flags.hpp"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/study/models.hpp"

#include "help.hpp"
#include "option_values.hpp"

namespace poise::app {

namespace {

/// The names of a choice, the default first.
std::vector<std::string> names_of(const ModelParameter& parameter) {
  std::vector<std::string> names = parameter.is.names;
  const auto usual = std::ranges::find(names, usual_text(parameter));
  std::rotate(names.begin(), usual, usual + 1);
  return names;
}

/// The values that a flag of the parameter accepts. A free axis of a search may also be "auto".
CLI::Validator check_of(const ModelParameter& parameter, bool whole, FlagValues values) {
  const Parameter& is = parameter.is;
  if (!is.names.empty()) return one_of(names_of(parameter));
  if (values == FlagValues::several && is.axis == SearchAxis::free) return number_or("auto");
  if (whole) return whole_number(static_cast<std::int64_t>(is.least), static_cast<std::int64_t>(is.most));
  return is.above_least ? positive_number() : finite_number();
}

/// Where the help shows a flag: on its first page, or in a group.
std::string group_of(const std::string& id) {
  static const std::set<std::string> main = {"lambda",  "rank",          "alpha",      "weighting",
                                             "dropout", "zero-diagonal", "regularizer"};
  if (main.contains(id)) return main_group;
  const auto is_weight = [&](const auto& each) { return each.is.id == id; };
  if (std::ranges::any_of(weighting_parameters(), is_weight)) return "Weights";
  const std::vector<std::string> with = families_with(id);
  return std::ranges::find(with, "awmf") == with.end() ? "Full rank" : "Solving";
}

std::string flag_help(const ModelParameter& parameter, FlagValues values) {
  std::string help = with_names(help_of(parameter), flag_name);
  std::string usual = usual_text(parameter);
  std::string more;
  if (values == FlagValues::several && parameter.is.axis != SearchAxis::none) {
    more = ";\nseveral values: a,b,c";
    if (parameter.is.axis == SearchAxis::free) more += ", with --grid best a range, or auto";
    if (parameter.is.id == "lambda" || parameter.is.id == "alpha") usual = "that of --grid";
  }
  if (const std::size_t end = help.find("; ");
      end != std::string::npos && group_of(parameter.is.id) == main_group) {
    more = ";\n" + help.substr(end + 2) + more;
    help.resize(end);
  }
  return fmt::format("{} (default: {}){}", help, usual, more);
}

/// The flag with values of type T, kept as text.
template <class T>
void add_flag_of(CLI::App& parser, ModelFlags& flags, const ModelParameter& parameter, FlagValues values) {
  const std::string& id = parameter.is.id;
  const std::string help = flag_help(parameter, values);
  const auto text = [](const T& value) { return fmt::format("{}", value); };
  CLI::Option* option = nullptr;
  if (values == FlagValues::several && parameter.is.axis != SearchAxis::none) {
    const auto take = [&flags, id, text](const std::vector<T>& each) {
      flags.given[id].clear();
      for (const T& value : each) flags.given[id].push_back(text(value));
    };
    // One word, so that DATA may follow.
    option = parser.add_option_function<std::vector<T>>(flag_name(id), take, help)
                 ->delimiter(',')
                 ->allow_extra_args(false);
  } else {
    const auto take = [&flags, id, text](const T& value) { flags.given[id] = {text(value)}; };
    option = parser.add_option_function<T>(flag_name(id), take, help);
  }
  if (parameter.is.names.empty() && std::is_same_v<T, std::string>) option->type_name("FLOAT");
  option->check(check_of(parameter, std::is_same_v<T, std::int64_t>, values))->group(group_of(id));
}

void add_flag(CLI::App& parser, ModelFlags& flags, const ModelParameter& parameter, FlagValues values) {
  ModelParameters usual;
  const ParameterPlace place = parameter.in(usual);
  const bool free_axis = values == FlagValues::several && parameter.is.axis == SearchAxis::free;
  if (std::holds_alternative<bool*>(place)) {
    parser
        .add_flag_callback(
            flag_name(parameter.is.id), [&flags, id = parameter.is.id] { flags.given[id] = {"true"}; },
            with_names(help_of(parameter), flag_name))
        ->group(group_of(parameter.is.id));
  } else if (std::holds_alternative<ChoicePlace>(place) || free_axis) {
    add_flag_of<std::string>(parser, flags, parameter, values);
  } else if (std::holds_alternative<double*>(place)) {
    add_flag_of<double>(parser, flags, parameter, values);
  } else {
    add_flag_of<std::int64_t>(parser, flags, parameter, values);
  }
}

}  // namespace

void add_model_flags(CLI::App& parser, ModelFlags& flags, FlagValues values) {
  std::vector<std::string> names;
  std::vector<std::string> helps;
  for (const auto& family : families()) {
    if (family->parameters.empty() && values == FlagValues::several) continue;
    names.push_back(family->name);
    if (!family->help.empty())
      helps.push_back(fmt::format("{}: {}", family->name, with_names(family->help, flag_name)));
  }
  const std::string brief = fmt::format("{} or a short form: ease, edlae, ...", fmt::join(names, ", "));
  for (const ModelKind& kind : studied_kinds()) {
    if (std::ranges::find(names, kind.name) == names.end()) names.push_back(kind.name);
  }
  parser.add_option("--model", flags.model, fmt::format("{};\n{}", brief, fmt::join(helps, "; ")))
      ->required()
      ->check(one_of(names));
  for (const ModelParameter& parameter : parameter_table()) {
    if (!parameter.is.of_every_command) add_flag(parser, flags, parameter, values);
  }
}

void refuse_unless(bool fits, std::string_view flag, const ModelFlags& flags,
                   const std::vector<std::string>& families) {
  if (!fits)
    fail(ErrorKind::usage, "{} does not apply to --model {}; it is for {}", flag,
         flags.short_form.empty() ? flags.model : flags.short_form, fmt::join(families, " "));
}

void refuse_other_flags(const ModelFlags& flags) {
  for (const ModelParameter& parameter : parameter_table()) {
    const std::vector<std::string> with = families_with(parameter.is.id);
    const bool fits = !flags.has(parameter.is.id) || std::ranges::find(with, flags.model) != with.end();
    refuse_unless(fits, flag_name(parameter.is.id), flags, with);
  }
}

namespace {

/// A parameter of weights, and the schemes that read it.
struct ReadBy {
  const char* id;
  std::vector<Scheme> schemes;
};

/// Says which flags no scheme of the command line reads.
void note_unread(const ModelFlags& flags, const Context& context) {
  const ReadBy readers[] = {
      {"gamma", {Scheme::inverse_popularity}},
      {"epsilon", {Scheme::log}},
      {"clip", {Scheme::user_oriented, Scheme::item_oriented, Scheme::inverse_popularity}}};
  std::vector<Scheme> used = {WeightingOptions().scheme};
  if (const auto given = flags.given.find("weighting"); given != flags.given.end()) {
    used.clear();
    for (const std::string& name : given->second) used.push_back(parse_scheme(name));
  }
  for (const ReadBy& each : readers) {
    if (!flags.has(each.id) || std::ranges::find_first_of(used, each.schemes) != used.end()) continue;
    std::vector<std::string_view> names;
    for (const Scheme scheme : each.schemes) names.push_back(scheme_name(scheme));
    context.say(fmt::format("note: {} has no effect here; --weighting {} reads it", flag_name(each.id),
                            fmt::join(names, ", ")));
  }
}

}  // namespace

ModelParameters parameters_of(const ModelFlags& flags, const Context& context) {
  note_unread(flags, context);
  ModelParameters parameters;
  parameters.family = parse_family(flags.model);
  parameters.seed = context.seed;
  for (const auto& [id, texts] : flags.given) {
    if (texts.front() != "auto") set_value(parameters, id, texts.front());
  }
  validate(parameters);
  return parameters;
}

void check_values(Scheme scheme, bool has_values, const Context& context) {
  poise::check_values(scheme, has_values);
  if (reads_values(scheme) && !has_values)
    context.say(
        fmt::format("note: the data have no values; --weighting {} takes each as 1, so all entries "
                    "have the same weight, as with --weighting constant",
                    scheme_name(scheme)));
}

}  // namespace poise::app
