#include "command.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <pthread.h>

#include "poise/base/json_text.hpp"
#include "poise/base/memory.hpp"

#include "config_file.hpp"
#include "option_values.hpp"
#include "progress.hpp"
#include "standard_streams.hpp"

namespace poise::app {

// Each is defined in the file of its command.
bool train_by_all(const std::vector<std::string>& arguments);
Run setup_synth(CLI::App& parser);
Run setup_prepare(CLI::App& parser);
Run setup_train(CLI::App& parser);
Run setup_search(CLI::App& parser);
Run setup_study(CLI::App& parser);
Run setup_evaluate(CLI::App& parser);
Run setup_certify(CLI::App& parser);
Run setup_update(CLI::App& parser);
Run setup_recommend(CLI::App& parser);
Run setup_similar(CLI::App& parser);
Run setup_serve(CLI::App& parser);
Run setup_export(CLI::App& parser);
Run setup_info(CLI::App& parser);
Run setup_doctor(CLI::App& parser);
Run setup_completion(CLI::App& parser);

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"synth", "make synthetic interactions of a well-known shape", setup_synth},
      {"prepare", "read raw logs, filter, split, and store them as prepared data", setup_prepare},
      {"train", "train a model on prepared data", setup_train, MemoryLimit::estimated, RunBy::first,
       train_by_all},
      {"search", "find the best lambda, alpha and more on the validation part", setup_search,
       MemoryLimit::estimated, RunBy::all},
      {"study", "does weighting help? the paper's tables from your own data", setup_study,
       MemoryLimit::estimated, RunBy::all},
      {"evaluate", "measure a model's ranking on held-out users", setup_evaluate, MemoryLimit::scoring,
       RunBy::all},
      {"certify", "prove how far a full-rank model is from its optimum", setup_certify,
       MemoryLimit::estimated},
      {"update", "bring new rows into a trained model without a new training", setup_update,
       MemoryLimit::estimated},
      {"recommend", "recommend items for a history", setup_recommend, MemoryLimit::scoring, RunBy::all},
      {"similar", "find the items similar to one", setup_similar},
      {"serve", "answer requests for recommendations over HTTP", setup_serve},
      {"export", "write a model's item factors for other programs", setup_export},
      {"info", "show what a model or prepared data holds", setup_info},
      {"doctor", "show BLAS, threads, memory and GPU, as Poise would use them", setup_doctor,
       MemoryLimit::estimated, RunBy::all},
      {"completion", "print a completion script for the shell", setup_completion},
  };
  return all;
}

namespace {

void add_shared_options(CLI::App& parser, SharedOptions& options) {
  parser
      .add_option("--threads", options.threads,
                  "Threads to use (default: all cores); results do not depend on it")
      ->check(whole_number(1, max_threads))
      ->capture_default_str()
      ->group("Shared");
  parser
      .add_option("--memory-limit", options.memory_limit,
                  "Most memory to use, e.g. 8G or 1.5G (default: 80 % of the machine's)")
      ->transform(memory_size())
      ->type_name("SIZE")
      ->group("Shared");
  parser
      .add_option("--device", options.device,
                  "auto, cpu or cuda; auto takes a GPU if there is one and the work is large enough")
      ->check(one_of({"auto", "cpu", "cuda"}))
      ->capture_default_str()
      ->group("Shared");
  if (parser.get_option_no_throw("--seed") == nullptr) {
    parser.add_option("--seed", options.seed, "Seed; has no effect on models without random numbers")
        ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
        ->capture_default_str()
        ->group("Shared");
  }
  parser.add_flag("--json", options.json, "Print one JSON object on stdout and nothing else there")
      ->group("Shared");
  parser.add_flag("--quiet", options.quiet, "No progress and no messages on stderr, errors excepted")
      ->group("Shared");
  parser.set_config("--config", "", "Read options from a TOML file with the same names")
      ->type_name("FILE")
      ->group("Shared");
  parser.config_formatter(std::make_shared<ConfigFile>(parser));
  parser.add_flag("--print-config", options.print_config, "Print the options as such a file and stop")
      ->configurable(false)
      ->group("Shared");
  parser
      .set_help_flag(
          "-h,--help",
          "Help: the main options; with the name of a group or of an option, its details; with all, "
          "everything")
      ->group("Shared");
}

/// Of commands that several processes run together.
void add_rank_timeout(CLI::App& parser, SharedOptions& options) {
  constexpr int a_day = 86'400;
  parser
      .add_option("--rank-timeout", options.rank_timeout,
                  "Under mpirun: end the job if one of its processes is silent for so many seconds")
      ->check(whole_number(1, a_day))
      ->type_name("SECONDS")
      ->group("Shared");
}

}  // namespace

Run declare_options(const Command& command, CLI::App& parser, SharedOptions& options) {
  Run run = command.setup(parser);
  add_shared_options(parser, options);
  if (command.run_by == RunBy::all || command.all_if != nullptr) add_rank_timeout(parser, options);
  return run;
}

std::uint64_t thread_stack_size() {
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }
  return size > 0 ? size : std::uint64_t{8} << 20U;
}

void Context::print(const Json& json_result, std::string_view text) const {
  progress->clear_state();  // a terminal may show both streams
  if (!json) return write_stdout(text);
  Json result = json_result;
  if (ranks) result["ranks"] = *ranks;
  write_stdout(to_text(result) + "\n");
}

void Context::say(std::string_view message) const { progress->say(message); }

std::string to_text(const Json& json) { return json_text(json); }

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, 1, ' ');
  return digits;
}

}  // namespace poise::app
