#include "completion_script.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace poise::app {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// A word in single quotes.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string names_of(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CompletedCommand& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_offer(const CompletedOption& option) {
  switch (option.offer) {
    case Offer::words:
      return fmt::format("words=\"{}\"", fmt::join(option.words, " "));
    case Offer::files:
      return "files=-f";
    case Offer::folders:
      return "files=-d";
    default:
      return {};
  }
}

/// The branch of a command: the values of its options, by the preceding word; then its flags and positionals.
std::string bash_branch(const CompletedCommand& command) {
  std::vector<std::string> flags;
  std::map<std::string, std::vector<std::string>> by_value;  // completion -> the flags that use it
  for (const CompletedOption& option : command.options) {
    flags.insert(flags.end(), option.names.begin(), option.names.end());
    if (!option.takes_value) continue;
    std::vector<std::string>& same = by_value[bash_offer(option)];
    same.insert(same.end(), option.names.begin(), option.names.end());
  }
  std::string text = fmt::format("    {})\n      case \"$previous\" in\n", command.name);
  for (const auto& [value, names] : by_value)
    text += fmt::format("        {}) {} ;;\n", fmt::join(names, "|"), value);
  return text + fmt::format("        *) flags=\"{}\" {} ;;\n      esac ;;\n", fmt::join(flags, " "),
                            bash_offer(command.positional));
}

std::string zsh_offer(const CompletedOption& option) {
  switch (option.offer) {
    case Offer::words:
      return fmt::format("({})", fmt::join(option.words, " "));
    case Offer::files:
      return "_files";
    case Offer::folders:
      return "_files -/";
    default:
      return " ";
  }
}

/// A line for _arguments: '(-h --help)'{-h,--help}'[help]:value:(words)'.
std::string zsh_option(const CompletedOption& option) {
  std::string help = option.help;
  for (const char* const special : {"\\", "[", "]", ":"})
    help = replaced(help, special, std::string("\\") + special);
  const std::string value = option.takes_value ? ":value:" + zsh_offer(option) : "";
  const std::string rest = quoted(fmt::format("[{}]{}", help, value));
  if (option.names.size() == 1) return quoted(option.names[0]) + rest;
  return fmt::format("'({})'{{{}}}{}", fmt::join(option.names, " "), fmt::join(option.names, ","), rest);
}

std::string fish_option(const CompletedCommand& command, const CompletedOption& option) {
  std::string text = fmt::format("complete -c poise -n '__fish_seen_subcommand_from {}'", command.name);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.offer == Offer::words)
    text += fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
  else if (option.offer == Offer::files)
    text += option.names.empty() ? " -F" : " -r -F";
  else if (option.offer == Offer::folders)
    text += " -x -a '(__fish_complete_directories)'";
  else if (option.takes_value)
    text += " -x";
  if (!option.help.empty()) text += " -d '" + replaced(replaced(option.help, "\\", "\\\\"), "'", "\\'") + "'";
  return text + "\n";
}

}  // namespace

std::string bash_script(const std::vector<CompletedCommand>& commands) {
  std::string branches;
  for (const CompletedCommand& command : commands) branches += bash_branch(command);
  // bash splits --flag=value into three words. In a list with commas the last part is completed.
  return fmt::format(
      "_poise() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local flags=\"\" words=\"\" files=\"\"\n"
      "  if [ \"$current\" = \"=\" ]; then\n"
      "    current=\"\"\n"
      "  elif [ \"$previous\" = \"=\" ]; then\n"
      "    previous=\"${{COMP_WORDS[COMP_CWORD-2]}}\"\n"
      "  fi\n"
      "  case \"$COMP_CWORD ${{COMP_WORDS[1]}}\" in\n"
      "    1\\ *) words=\"{0} help --help --version\" ;;\n"
      "    *\\ help) words=\"{0}\" ;;\n"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -gt 1 ] && case \"${{COMP_WORDS[1]}}\" in\n{1}  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ \"$flags\" && \"$current\" == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$current\")\n"
      "  elif [ \"$words\" ]; then\n"
      "    local last=\"${{current##*,}}\"\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"${{current%\"$last\"}}\" -W \"$words\" -- \"$last\")\n"
      "  elif [ \"$files\" ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen \"$files\" -- \"$current\")\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _poise poise\n",
      names_of(commands), branches);
}

std::string zsh_script(const std::vector<CompletedCommand>& commands) {
  std::string descriptions;
  std::string branches;
  for (const CompletedCommand& command : commands) {
    descriptions += "    " + quoted(command.name + ":" + replaced(command.summary, ":", "\\:")) + "\n";
    branches += fmt::format("    {})\n      _arguments", command.name);
    for (const CompletedOption& option : command.options) branches += " \\\n        " + zsh_option(option);
    if (command.positional.offer != Offer::nothing)
      branches += " \\\n        " + quoted("*:argument:" + zsh_offer(command.positional));
    branches += " ;;\n";
  }
  return fmt::format(
      "#compdef poise\n\n"
      "_poise() {{\n"
      "  local -a commands\n"
      "  commands=(\n{0}    'help:show the help of a command'\n  )\n"
      "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{1}  esac\n"
      "}}\n\n"
      "if [ \"$funcstack[1]\" = _poise ]; then _poise \"$@\"; else compdef _poise poise; fi\n",
      descriptions, branches);
}

std::string fish_script(const std::vector<CompletedCommand>& commands) {
  std::string text = "complete -c poise -f\n";
  for (const CompletedCommand& command : commands)
    text += fmt::format("complete -c poise -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        "'" + replaced(command.summary, "'", "\\'") + "'");
  text += fmt::format(
      "complete -c poise -n __fish_use_subcommand -a help -d 'show the help of a command'\n"
      "complete -c poise -n __fish_use_subcommand -l version -d 'the version'\n"
      "complete -c poise -n '__fish_seen_subcommand_from help' -a '{}'\n",
      names_of(commands));
  for (const CompletedCommand& command : commands) {
    for (const CompletedOption& option : command.options) text += fish_option(command, option);
    if (command.positional.offer != Offer::nothing) text += fish_option(command, command.positional);
  }
  return text;
}

}  // namespace poise::app
