#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "train.hpp"

namespace poise::app {

/// A parameter of a model as a flag, declared once for every command that has it.
struct ModelFlag {
  std::string name;
  std::string help;
  std::string default_text;
  std::optional<CLI::Validator> check;
};
const ModelFlag& model_flag(const std::string& name);

/// The flag with one value.
template <class T>
void add_value(CLI::App& parser, const std::string& name, std::optional<T>& target) {
  const ModelFlag& flag = model_flag(name);
  CLI::Option* const option =
      parser.add_option(name, target, flag.help + " (default: " + flag.default_text + ")");
  if (flag.check) option->check(*flag.check);
}

/// The flag as an axis of a search, with several values.
template <class T>
void add_axis(CLI::App& parser, const std::string& name, std::vector<T>& target,
              const std::string& default_text = {}) {
  const ModelFlag& flag = model_flag(name);
  CLI::Option* const option =
      parser.add_option(name, target,
                        flag.help + "; several values: a,b,c (default: " +
                            (default_text.empty() ? flag.default_text : default_text) + ")");
  // One word, so that DATA may follow.
  option->delimiter(',')->allow_extra_args(false);
  if (flag.check) option->check(*flag.check);
}

/// An axis of a search that may also be left to it: numbers, or auto.
struct FreeAxis {
  std::vector<std::string> texts;

  [[nodiscard]] bool automatic() const { return texts == std::vector<std::string>{"auto"}; }
  /// None where it is automatic. Error{usage} where auto stands beside numbers.
  [[nodiscard]] std::vector<double> values(const std::string& name) const;
};
void add_free_axis(CLI::App& parser, const std::string& name, FreeAxis& target,
                   const std::string& default_text = {});

/// --model itself; `popularity` only where a command takes it.
void add_family(CLI::App& parser, std::string& family, bool popularity);

/// Those that are no axes of a search.
void add_fixed_flags(CLI::App& parser, TrainOptions& options);

}  // namespace poise::app
