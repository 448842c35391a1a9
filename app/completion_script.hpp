#pragma once

#include <string>
#include <vector>

namespace poise::app {

/// What the shell offers as a value.
enum class Offer { nothing, words, files, folders };

/// An option, or with no names the positional arguments of a command.
struct CompletedOption {
  std::vector<std::string> names = {};  ///< "-k", "--like"
  std::string help = {};                ///< its first sentence, on one line
  bool takes_value = false;
  Offer offer = Offer::nothing;
  std::vector<std::string> words = {};
};

struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<CompletedOption> options = {};
  CompletedOption positional = {};
};

/// A completion script for each shell: commands, their flags, and the values of flags.
std::string bash_script(const std::vector<CompletedCommand>& commands);
std::string zsh_script(const std::vector<CompletedCommand>& commands);
std::string fish_script(const std::vector<CompletedCommand>& commands);

}  // namespace poise::app
