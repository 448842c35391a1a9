#include <fmt/format.h>

#include "command.hpp"

namespace poise::app {

namespace {

/// The long options of a command, as its parser declares them.
std::string option_words(const Command& command) {
  CLI::App parser;
  SharedOptions shared;
  command.setup(parser);
  add_shared_options(parser, shared);
  std::string words;
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& name : option->get_lnames())
      words += fmt::format("{}--{}", words.empty() ? "" : " ", name);
  }
  return words;
}

void run(const Context& context) {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, option_words(command));
  }
  const std::string script = fmt::format(
      "_poise() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _poise poise\n",
      names, cases);
  context.print({{"bash", script}}, script);
}

}  // namespace

Run setup_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  parser.add_option("SHELL", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  parser.footer("Example:\n  source <(poise completion bash)");
  return [shell](const Context& context) { run(context); };
}

}  // namespace poise::app
