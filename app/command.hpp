#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"

namespace poise::app {

class TerminalObserver;

using Json = nlohmann::ordered_json;

/// What every command receives: how to run, and how to print.
struct Context {
  Execution execution;
  std::uint64_t memory_limit = 0;
  std::string device;
  std::uint64_t seed = 1;  ///< for commands without a --seed of their own
  bool json = false;
  TerminalObserver* progress = nullptr;  ///< the execution's observer
  Processes* processes = nullptr;        ///< that run this command; the first one prints and writes
  std::optional<int> ranks = {};         ///< how many processes a launcher started

  /// The result: the JSON object with --json, otherwise the text.
  void print(const Json& json_result, std::string_view text) const;
  /// A message for the user, on stderr.
  void say(std::string_view message) const;
};

using Run = std::function<void(const Context&)>;

/// Who runs a command that was started as several processes: the first one, while the others wait, or all.
enum class RunBy { first, all };

/// How a command keeps to --memory-limit.
enum class MemoryLimit {
  enforced,   ///< by the system, from the start
  scoring,    ///< by the system, once it is known where the command scores (scoring_backend_for)
  estimated,  ///< BLAS waits forever if it gets no memory: the command estimates its need and refuses to
              ///< start
};

/// A command of the program: setup() declares its options on a parser and returns the function that runs it.
struct Command {
  std::string name;
  std::string summary;
  Run (*setup)(CLI::App& parser);
  MemoryLimit memory = MemoryLimit::enforced;
  RunBy run_by = RunBy::first;
  /// Whether all processes run it with these arguments; null: as run_by says.
  bool (*all_if)(const std::vector<std::string>& arguments) = nullptr;
};

/// All commands, in the order of the help.
const std::vector<Command>& commands();

/// The options that all commands share, --config and --print-config included.
struct SharedOptions {
  int threads = Execution::default_threads();
  std::uint64_t memory_limit = 0;
  std::string device = "auto";
  std::uint64_t seed = 1;
  bool json = false;
  bool quiet = false;
  bool print_config = false;
  std::optional<int> rank_timeout = {};  ///< seconds
};
/// Declares all options of a command, its own first, and returns what runs it. `options` has the defaults of
/// --threads and --memory-limit.
Run declare_options(const Command& command, CLI::App& parser, SharedOptions& options);

/// One line of JSON, without the end of the line; bytes that are not UTF-8 are replaced.
std::string to_text(const Json& json);

constexpr int max_threads = 1024;
/// The bytes of the memory limit that each further thread takes.
std::uint64_t thread_stack_size();

/// 1234567 -> "1 234 567".
std::string grouped(std::int64_t number);

}  // namespace poise::app
