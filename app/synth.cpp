#include "poise/data/synth.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "poise/data/dataset_file.hpp"
#include "poise/data/split.hpp"

#include "command.hpp"
#include "dataset_report.hpp"

namespace poise::app {

namespace {

struct Options {
  std::string like;
  SynthOptions synth;
  std::filesystem::path out;
};

void run(const Options& options, const Context& context) {
  SynthOptions synth = options.synth;
  synth.shape = parse_synth_shape(options.like);
  Csr matrix = synthesize(synth, context.execution);
  if (options.out.extension() == ".csv") {
    const Json result = {{"users", matrix.rows}, {"items", matrix.cols}, {"interactions", matrix.entries()}};
    write_synth_csv(options.out, matrix.view(), synth.seed, context.execution);
    context.print(result, fmt::format("{} users x {} items, {} interactions\n", grouped(matrix.rows),
                                      grouped(matrix.cols), grouped(matrix.entries())));
  } else {
    const Interactions log = synth_interactions(std::move(matrix), synth.seed, context.execution);
    const Dataset dataset = split_users(log, {.min_user_items = 5}, {}, context.execution);
    write_dataset(options.out, dataset, context.execution);
    context.print(dataset_json(dataset), dataset_text(dataset));
  }
  context.say(fmt::format("written to {}", options.out.string()));
}

}  // namespace

Run setup_synth(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.add_option("--like", options->like, "ml-20m, netflix, msd or demo")
      ->required()
      ->check(CLI::IsMember({"ml-20m", "netflix", "msd", "demo"}));
  parser.add_option("--scale", options->synth.scale, "Multiplies the users")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  parser.add_option("--seed", options->synth.seed, "Seed; the same one gives the same bytes")
      ->capture_default_str();
  parser.add_flag("--values", options->synth.values,
                  "Also a count per interaction, for the weighting schemes");
  parser
      .add_option("--out", options->out,
                  "FILE.csv for a raw log, or a folder for prepared data (as `poise prepare --split users`)")
      ->required();
  parser.footer(
      "Examples:\n  poise synth --like demo --out demo\n  poise synth --like ml-20m --scale 0.1 --out "
      "ratings.csv");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
