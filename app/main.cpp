#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"

#include "command.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace poise::app {

namespace {

std::string usage() {
  std::string text =
      "Poise: exact, fast, certified linear recommendation from implicit feedback\n\n"
      "Usage: poise COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : commands())
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  text +=
      "\n`poise COMMAND --help` shows a command's options and examples; `poise --version` the version.\n\n"
      "Example:\n"
      "  poise synth --like demo --out demo\n"
      "  poise train demo --model popularity --out demo.model\n"
      "  poise evaluate demo.model demo\n";
  return text;
}

int report(int code, std::string_view message) {
  fmt::print(stderr, "poise: {}\n", message);
  return code;
}

/// The options as a config file, defaults included; those with no value and no default are left out.
std::string config_text(const CLI::App& parser) {
  std::istringstream lines(parser.config_to_str(true, true));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with("=\"\"")) text += line + "\n";
  }
  return text;
}

/// Parses and runs one command; errors leave as exceptions.
int run_command(const Command& command, std::vector<std::string> arguments) {
  CLI::App parser(command.summary, "poise " + command.name);
  parser.get_formatter()->column_width(36);
  SharedOptions shared;
  const Run run = command.setup(parser);
  add_shared_options(parser, shared);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    parser.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", parser.help());
    return exit_done;
  } catch (const CLI::FileError& error) {
    return report(exit_input, fmt::format("cannot read the file given with --config: {}", error.what()));
  } catch (const CLI::ParseError& error) {
    return report(exit_usage, fmt::format("{}; see `poise {} --help`", error.what(), command.name));
  }
  if (shared.print_config) {
    fmt::print("{}", config_text(parser));
    return exit_done;
  }
  if (shared.device == "cuda") {
    fail(ErrorKind::resources, "this poise was built without CUDA; use --device cpu");
  }
  limit_memory(shared.memory_limit);
  TerminalObserver observer(shared.quiet);
  run({.execution = {.threads = shared.threads, .observer = &observer},
       .memory_limit = shared.memory_limit,
       .device = shared.device,
       .json = shared.json,
       .quiet = shared.quiet});
  return exit_done;
}

int run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", usage());
    return exit_usage;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    fmt::print("{}", usage());
    return exit_done;
  }
  if (name == "--version") {
    fmt::print("poise {}\n", version());
    return exit_done;
  }
  const auto command = std::find_if(commands().begin(), commands().end(),
                                    [&](const Command& candidate) { return candidate.name == name; });
  if (command == commands().end()) {
    return report(exit_usage, fmt::format("there is no command '{}'; see `poise --help`", name));
  }
  return run_command(*command, {arguments.begin() + 1, arguments.end()});
}

}  // namespace

}  // namespace poise::app

int main(int argc, char** argv) {
  using namespace poise::app;
  watch_for_interrupts();
  try {
    return run_program({argv + 1, argv + argc});
  } catch (const poise::Error& error) {
    return report(exit_code(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return report(exit_resources, "out of memory; raise --memory-limit, or use less data or fewer threads");
  } catch (const std::filesystem::filesystem_error& error) {
    return report(exit_input, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report(exit_unexpected, fmt::format("unexpected error: {}; please report it", error.what()));
  }
}
