#include "command.hpp"
#include "completion_script.hpp"
#include "help.hpp"
#include "option_values.hpp"

namespace poise::app {

namespace {

/// An option's help as one line for a list: the first sentence of its first line.
std::string short_help(const CLI::Option& option) {
  std::string text = brief_description(option);
  if (const std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  return text;
}

CompletedOption completed(CLI::Option& option) {
  CompletedOption found{.help = short_help(option), .takes_value = option.get_expected_min() != 0};
  for (const std::string& name : option.get_snames()) found.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) found.names.push_back("--" + name);
  found.words = choices_of(option);
  const std::string type = option.get_type_name();
  if (!found.words.empty())
    found.offer = Offer::words;
  else if (type.starts_with("FILE"))
    found.offer = Offer::files;
  else if (type.starts_with("DIR"))
    found.offer = Offer::folders;
  return found;
}

/// A command's options, and what its positional arguments complete to: files if they differ.
CompletedCommand completed(const Command& command) {
  CLI::App parser;
  SharedOptions shared;
  declare_options(command, parser, shared);
  CompletedCommand found{.name = command.name, .summary = command.summary};
  bool first = true;
  for (CLI::Option* option : all_options(parser)) {
    CompletedOption each = completed(*option);
    if (option == parser.get_help_ptr()) {
      each.takes_value = true;
      each.offer = Offer::words;
      each.words = help_topics(parser);
    }
    if (!each.names.empty()) {
      found.options.push_back(std::move(each));
      continue;
    }
    const bool same = first || (each.offer == found.positional.offer && each.words == found.positional.words);
    if (each.offer == Offer::nothing || !same) each = {.offer = Offer::files};
    each.help.clear();
    found.positional = std::move(each);
    first = false;
  }
  return found;
}

void run_completion(const Context& context, const std::string& shell) {
  std::vector<CompletedCommand> all;
  for (const Command& command : commands()) all.push_back(completed(command));
  const std::string script = shell == "zsh"    ? zsh_script(all)
                             : shell == "fish" ? fish_script(all)
                                               : bash_script(all);
  context.print({{shell, script}}, script);
}

}  // namespace

Run setup_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  parser.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  parser.footer(
      "Example:\n  source <(poise completion bash)\n"
      "  poise completion fish > ~/.config/fish/completions/poise.fish");
  return [shell](const Context& context) { run_completion(context, *shell); };
}

}  // namespace poise::app
