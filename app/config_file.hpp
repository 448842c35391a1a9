#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace poise::app {

/// Config files: NAME = VALUE lines in TOML (read by toml++), where a value is text, a number, true, false or
/// a list of these. Tables have no meaning and are refused. Any other file throws CLI::ConfigError with the
/// line.
class ConfigFile : public CLI::Config {
 public:
  explicit ConfigFile(const CLI::App& parser) : parser_(&parser) {}

  /// The options as a config file that reads back the same, defaults included; options with neither value nor
  /// default are left out.
  std::string to_config(const CLI::App* parser, bool defaults, bool descriptions,
                        std::string prefix) const override;
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  /// The line that sets an option; 0 if none does.
  [[nodiscard]] int line_of(const std::string& name) const;

 private:
  const CLI::App* parser_;
  mutable std::map<std::string, int> lines_;
};

}  // namespace poise::app
