#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "poise/backend/choose.hpp"
#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/suggest.hpp"
#include "poise/base/version.hpp"
#include "poise/comm/launcher.hpp"

#include "command.hpp"
#include "config_file.hpp"
#include "exit_code.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "option_values.hpp"
#include "progress.hpp"
#include "rank_gpu.hpp"
#include "ranks.hpp"
#include "restart.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

std::string usage() {
  std::string text =
      "Poise: exact, fast, certified linear recommendation from implicit feedback\n\n"
      "Usage: poise COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : commands())
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  text +=
      "\n`poise COMMAND --help` shows a command's options and examples.\n\n"
      "Example:\n"
      "  poise synth --like demo --out demo\n"
      "  poise train demo --model popularity --out demo.model\n"
      "  poise evaluate demo.model demo\n";
  return text;
}

/// Also by a process that is silent otherwise, if the first one does not answer.
void print_error(const std::string& sentence) {
  silence_streams(false);
  if (!sentence.empty()) write_stderr(fmt::format("poise: {}\n", sentence));
}

/// An error, which main() prints: of several processes only the first one prints, and each error once.
Outcome failure(int code, std::string message) { return {.code = code, .sentence = std::move(message)}; }

/// The position of a wrong value from the config file: "FILE: line N: "; otherwise nothing.
std::string place_in_config(const CLI::App& parser, const std::string& message,
                            const std::vector<std::string>& arguments) {
  const CLI::Option* const config = parser.get_config_ptr();
  if (config->count() == 0 || !message.starts_with("--")) return {};
  const std::string name = message.substr(2, message.find(':') - 2);
  const auto* const file = dynamic_cast<const ConfigFile*>(parser.get_config_formatter().get());
  const int line = file == nullptr ? 0 : file->line_of(name);
  const bool by_flag = std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == "--" + name || argument.starts_with("--" + name + "=");
  });
  return line == 0 || by_flag ? "" : fmt::format("{}: line {}: ", config->as<std::string>(), line);
}

/// Refuses '' as a value: an empty path or name is always a mistake, e.g. an unset variable.
void refuse_empty_values(const CLI::App& parser) {
  for (const CLI::Option* option : all_options(parser)) {
    for (const std::string& value : option->results()) {
      if (value.empty())
        fail(ErrorKind::usage, "{} has an empty value; give one, or leave the flag out", option->get_name());
    }
  }
}

/// The message about the first argument that the command does not know; empty if it knows all. A misspelled
/// flag comes first, because its value is then unknown too.
std::string unknown_argument(const CLI::App& parser) {
  const std::vector<std::string> unknown = parser.remaining(true);
  if (unknown.empty()) return {};
  const auto flag = std::ranges::find_if(unknown, [](const auto& word) { return word.starts_with('-'); });
  if (flag == unknown.end()) return fmt::format("'{}' is one argument too many", unknown.front());
  std::vector<std::string> known;
  for (const CLI::Option* option : all_options(parser)) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  const std::string name = flag->substr(0, flag->find('='));
  return fmt::format("there is no {}{}", name, did_you_mean(name, known));
}

/// The threads to run on. Their stacks count towards the memory limit, and the runtime cannot report a thread
/// that does not start: too many requested threads are refused, too many by default are reduced.
int affordable_threads(const CLI::App& parser, const SharedOptions& shared) {
  const std::uint64_t stack = thread_stack_size();
  const auto most =
      static_cast<int>(std::clamp<std::uint64_t>(shared.memory_limit / 2 / stack, 1, max_threads));
  if (shared.threads <= most || parser.count("--threads") == 0) return std::min(shared.threads, most);
  fail(ErrorKind::resources,
       "the stacks of {} threads take more than half of the --memory-limit of {}; use --threads {} or fewer",
       shared.threads, amount(static_cast<double>(shared.memory_limit), "B"), most);
}

/// Several processes use a GPU each if they are asked to, and else the processors: results are to be those of
/// one process, wherever a rank runs.
std::string device_of(const std::string& asked, const std::vector<Rank>& ranks, Processes& processes) {
  if (!processes.several()) {
    if (asked == "cuda") static_cast<void>(choose_device(DeviceChoice::cuda, {}));
    return asked;
  }
  if (asked != "cuda") return "cpu";
  use_own_gpu(ranks, processes.rank());
  check_same_gpus(choose_device(DeviceChoice::cuda, {}).reason, processes);
  return asked;
}

RunBy run_by(const Command& command, const std::vector<std::string>& arguments) {
  return command.all_if != nullptr && command.all_if(arguments) ? RunBy::all : command.run_by;
}

/// --rank-timeout.
void end_if_silent(Processes& processes, const std::vector<Rank>& ranks, int seconds) {
  Pulse::Options options{
      .limit = std::chrono::seconds(seconds), .hosts = {}, .code = exit_resources, .print = print_error};
  for (const Rank& each : ranks) options.hosts.push_back(each.host);
  processes.end_if_silent(std::move(options));
}

/// Parses and runs one command; other errors than those of parsing are thrown.
Outcome run_command(const Command& command, const std::vector<std::string>& arguments, Processes& job) {
  const bool by_first = run_by(command, arguments) == RunBy::first;
  if (by_first && !job.first()) return {};
  Processes alone;
  Processes& processes = by_first ? alone : job;
  CLI::App parser(command.summary, "poise " + command.name);
  SharedOptions shared{.memory_limit = total_memory() / 5 * 4};
  std::vector<Rank> ranks;
  if (processes.several()) {
    ranks = meet(processes);
    if (command.name != "doctor") check_same_program(ranks);
    shared.threads = threads_of(ranks, processes.rank());
    shared.memory_limit = memory_of(ranks);
  }
  const Run run = declare_options(command, parser, shared);
  if (const AskedHelp help = asked_help(arguments); help.asked) {
    write_stdout(help_page(parser, command.name, help.topic));
    return {};
  }
  try {
    std::vector<std::string> last_first(arguments.rbegin(), arguments.rend());
    parser.parse(last_first);
  } catch (const CLI::CallForHelp&) {
    write_stdout(help_page(parser, command.name, ""));
    return {};
  } catch (const CLI::FileError& error) {
    return failure(exit_input, fmt::format("cannot read the file given with --config: {}", error.what()));
  } catch (const CLI::ConfigError& error) {
    return failure(exit_usage,
                   fmt::format("{}: {}", parser.get_config_ptr()->as<std::string>(), error.what()));
  } catch (const CLI::RequiredError& error) {
    // A misspelled name is the most likely reason.
    const std::string unknown = unknown_argument(parser);
    return failure(exit_usage, fmt::format("{}{}{}; see `poise {} --help`", error.what(),
                                           unknown.empty() ? "" : ", and ", unknown, command.name));
  } catch (const CLI::ArgumentMismatch& error) {
    // "--out: At Most 1 required but received 2", "--model: 1 required TEXT:{...} missing"
    const std::string_view text = error.what();
    const bool missing = text.ends_with("missing");
    return failure(exit_usage, fmt::format("{} {}; see `poise {} --help`", text.substr(0, text.find(':')),
                                           missing ? "needs a value" : "is given too often", command.name));
  } catch (const CLI::ExtrasError&) {
    return failure(exit_usage,
                   fmt::format("{}; see `poise {} --help`", unknown_argument(parser), command.name));
  } catch (const CLI::ParseError& error) {
    const std::string place = place_in_config(parser, error.what(), arguments);
    return failure(exit_usage, fmt::format("{}{}; see `poise {} --help`", place, error.what(), command.name));
  }
  refuse_empty_values(parser);
  if (processes.several()) check_same_options(parser, processes);
  if (shared.print_config) {
    write_stdout(parser.config_to_str(true, true));
    return {};
  }
  shared.device = device_of(shared.device, ranks, processes);
  const int threads = affordable_threads(parser, shared);
  const bool may_use_gpu = built_with_cuda() && shared.device != "cpu";
  if (command.memory == MemoryLimit::enforced || (command.memory == MemoryLimit::scoring && !may_use_gpu))
    limit_memory(shared.memory_limit);
  TerminalObserver observer(shared.quiet);
  processes.watch(&observer);
  if (shared.rank_timeout) end_if_silent(processes, ranks, *shared.rank_timeout);
  if (by_first && job.several())
    observer.say(fmt::format("note: `poise {}` runs in the first of the {} processes; the others wait",
                             command.name, job.size()));
  run({.execution = {.threads = threads, .observer = &observer},
       .memory_limit = shared.memory_limit,
       .device = shared.device,
       .seed = shared.seed,
       .json = shared.json,
       .progress = &observer,
       .processes = &processes,
       .ranks = job.launched() ? std::optional(job.size()) : std::nullopt});
  return {};
}

const Command& find_command(const std::string& name) {
  const auto command = std::find_if(commands().begin(), commands().end(),
                                    [&](const Command& candidate) { return candidate.name == name; });
  if (command == commands().end()) {
    std::vector<std::string> names;
    for (const Command& each : commands()) names.push_back(each.name);
    for (const char* const other : {"help", "--help", "--version"}) names.emplace_back(other);
    const std::string meant = did_you_mean(name, names);
    if (name.starts_with('-') && meant.empty())
      fail(ErrorKind::usage, "the command comes before {}: poise COMMAND [OPTIONS]; see `poise --help`",
           name);
    fail(ErrorKind::usage, "there is no command '{}'{}; see `poise --help`", name, meant);
  }
  return *command;
}

/// Whether the command works in rounds, after which threads wait for each other: those that call BLAS do.
bool trains(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const Command& each) {
    return each.name == name && each.memory == MemoryLimit::estimated;
  });
}

/// Processes with different commands would wait for each other.
void compare_commands(const std::vector<std::string>& arguments, Processes& processes) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  const auto command = std::ranges::find(commands(), name, &Command::name);
  const bool all =
      command != commands().end() && run_by(*command, {arguments.begin() + 1, arguments.end()}) == RunBy::all;
  check_same_command(name, all ? "by all processes" : "by the first process alone", processes);
}

Outcome run_program(const std::vector<std::string>& arguments, Processes& processes) {
  compare_commands(arguments, processes);
  if (arguments.empty()) {
    write_stderr(usage());
    return {.code = exit_usage};
  }
  const std::string& name = arguments.front();
  const bool help = name == "--help" || name == "-h" || name == "help";
  if (help && arguments.size() == 1) {
    write_stdout(usage());
    return {};
  }
  if (name == "--version") {
    write_stdout(fmt::format("poise {}\n", version()));
    return {};
  }
  if (help) {
    std::vector<std::string> asked = {"--help"};
    asked.insert(asked.end(), arguments.begin() + 2, arguments.end());
    return run_command(find_command(arguments[1]), asked, processes);
  }
  return run_command(find_command(name), {arguments.begin() + 1, arguments.end()}, processes);
}

/// The message and the exit code of the current exception.
Outcome current_failure() {
  // Work that is asked to stop may end with any error, e.g. that of an interrupted read.
  if (interrupted()) return {.code = exit_interrupted, .sentence = "interrupted", .interrupted = true};
  const auto too_large = [] {
    return failure(exit_resources, "out of memory; raise --memory-limit, or use less data or fewer threads");
  };
  try {
    throw;
  } catch (const OtherProcessFailed&) {
    return {.code = exit_unexpected, .because_of_other = true};
  } catch (const Error& error) {
    return failure(exit_code(error.kind()), with_names(error.sentence(), flag_name));
  } catch (const std::bad_alloc&) {
    return too_large();
  } catch (const std::length_error&) {
    return too_large();
  } catch (const std::filesystem::filesystem_error& error) {
    return failure(exit_input, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return failure(exit_unexpected, fmt::format("unexpected error: {}; please report it", error.what()));
  }
}

/// Passes Ctrl-C on to processes that wait for others at the end.
class Interruptible : public Observer {
 public:
  [[nodiscard]] bool stop_requested() const override { return interrupted(); }
};

/// The end of a job of several processes.
int conclude_job(Processes& processes, const Outcome& outcome) {
  const Interruptible observer;
  processes.watch(&observer);
  try {
    return processes.conclude(outcome, host_name(), print_error).code;
  } catch (const Error&) {  // interrupted while it waited: then it tells the others, who may still be at work
    return processes.conclude(failure(exit_interrupted, "interrupted"), host_name(), print_error).code;
  }
}

/// From now on memory of some megabytes goes back to the system when it is freed. Several processes of a host
/// count on that: kept between blocks of other sizes, it would add up to the half of what they need.
void return_large_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

/// Runs the program, together with the other processes of the job if there are any.
int run_together(const std::vector<std::string>& arguments) {
  std::unique_ptr<Processes> processes;
  Outcome outcome;
  try {
    processes = start_processes();
    if (!processes->first()) silence_streams(true);
    if (processes->several()) return_large_memory();
    outcome = run_program(arguments, *processes);
  } catch (...) {
    outcome = current_failure();
  }
  if (processes && processes->several()) return conclude_job(*processes, outcome);
  print_error(outcome.sentence);
  return outcome.code;
}

}  // namespace

}  // namespace poise::app

int main(int argc, char** argv) {
  if (argc > 1) poise::app::restart_with_settings(argv, poise::app::trains(argv[1]));
  poise::app::fill_closed_streams();
  poise::app::watch_for_interrupts();
  return poise::app::run_together({argv + 1, argv + argc});
}
