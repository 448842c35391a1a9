#include <map>

#include <fmt/ranges.h>

#include "command.hpp"
#include "option_values.hpp"

namespace poise::app {

namespace {

/// The completion of an option's value, or of a positional: words to choose from, files, folders, or nothing.
std::string completes(CLI::Option& option) {
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty())
    return fmt::format("words=\"{}\"", fmt::join(choices, " "));
  const std::string type = option.get_type_name();
  if (type.starts_with("FILE")) return "files=-f";
  return type.starts_with("DIR") ? "files=-d" : "";
}

/// The branch of a command: the values of its options, by the preceding word; then its flags and positionals.
std::string branch(const Command& command) {
  CLI::App parser;
  SharedOptions shared;
  command.setup(parser);
  add_shared_options(parser, shared);
  std::string flags;
  std::string positional;
  std::map<std::string, std::string> by_value;  // completion -> the flags that use it
  for (CLI::Option* option : all_options(parser)) {
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (names.empty()) {
      const std::string value = completes(*option);
      positional = value.empty() || (!positional.empty() && positional != value) ? "files=-f" : value;
      continue;
    }
    flags += fmt::format("{}{}", flags.empty() ? "" : " ", fmt::join(names, " "));
    if (option->get_expected_min() == 0) continue;
    std::string& same = by_value[completes(*option)];
    same += fmt::format("{}{}", same.empty() ? "" : "|", fmt::join(names, "|"));
  }
  std::string text = fmt::format("    {})\n      case \"$previous\" in\n", command.name);
  for (const auto& [value, names] : by_value) text += fmt::format("        {}) {} ;;\n", names, value);
  return text + fmt::format("        *) flags=\"{}\" {} ;;\n      esac ;;\n", flags, positional);
}

void run_completion(const Context& context) {
  std::string names;
  std::string branches;
  for (const Command& command : commands()) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
    branches += branch(command);
  }
  // bash splits --flag=value into three words. In a list with commas the last part is completed.
  const std::string script = fmt::format(
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
      names, branches);
  context.print({{"bash", script}}, script);
}

}  // namespace

Run setup_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  parser.add_option("SHELL", *shell, "bash")->required()->check(one_of({"bash"}));
  parser.footer("Example:\n  source <(poise completion bash)");
  return [shell](const Context& context) { run_completion(context); };
}

}  // namespace poise::app
