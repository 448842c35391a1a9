#include "poise/data/synth.hpp"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/split.hpp"

#include "command.hpp"
#include "dataset_report.hpp"
#include "estimate.hpp"
#include "option_values.hpp"
#include "output_check.hpp"

namespace poise::app {

namespace {

struct SynthFlags {
  std::string like;
  SynthOptions synth;
  std::filesystem::path out;
};

/// Whether --out names a csv file rather than a folder; Error{usage} for other kinds of files.
bool wants_csv(const std::filesystem::path& out) {
  std::string ending = out.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* other : {".gz", ".zst", ".tsv", ".txt", ".bz2", ".xz", ".zip", ".json", ".parquet"}) {
    if (ending == other) {
      fail(ErrorKind::usage,
           "synth cannot write {}; --out takes FILE.csv for a plain log, or a folder for prepared data",
           out.string());
    }
  }
  return ending == ".csv";
}

/// 0.01234 -> 0.012: a short number, not above the given one.
double rounded_down(double number) {
  const double step = std::pow(10.0, std::floor(std::log10(number)) - 1);
  return std::floor(number / step) * step;
}

/// The constants are peak memory and processor time measured at 10, 17 and 100 million interactions.
void say_synth_estimate(const SynthOptions& synth, bool csv, const Context& context) {
  const SynthSize size = synth_size(synth);
  const auto entries = static_cast<double>(size.interactions);
  const double users_per_entry = static_cast<double>(size.users) / entries;
  constexpr double base = 80e6;
  const double each =
      (csv ? 6.5 : 20) + (synth.values ? (csv ? 5 : 13) : 0) + (csv ? 0 : 76 * users_per_entry);
  const double seconds = ((csv ? 2.5e-7 : 3e-7) + (csv ? 0 : 2e-6 * users_per_entry)) * entries /
                         std::min(context.execution.threads, 8);
  const Estimate expected{seconds, base + each * entries};
  say_estimate(expected, context);
  const double room = (static_cast<double>(context.memory_limit) - base) / each;
  const double scale = rounded_down(synth.scale * std::max(room, 1.0) / entries);
  refuse_if_too_large(expected, context, fmt::format("--scale {:.2g} fits", scale));
}

void run_synth(const SynthFlags& options, const Context& context) {
  SynthOptions synth = options.synth;
  synth.shape = parse_synth_shape(options.like);
  const bool csv = wants_csv(options.out);
  say_synth_estimate(synth, csv, context);
  if (csv) {
    check_file_can_be_written(options.out);
  } else {
    check_folder_can_be_written(options.out);
  }
  Csr matrix = synthesize(synth, context.execution);
  if (csv) {
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
  auto options = std::make_shared<SynthFlags>();
  parser.add_option("--like", options->like, "The shape: ml-20m, netflix, msd, amazon-book, million or demo")
      ->required()
      ->check(one_of({"ml-20m", "netflix", "msd", "amazon-book", "million", "demo"}));
  parser.add_option("--scale", options->synth.scale, "Multiplies the users")
      ->check(positive_number())
      ->capture_default_str();
  parser.add_option("--seed", options->synth.seed, "Seed; the same one gives the same bytes")
      ->capture_default_str();
  parser.add_flag("--values", options->synth.values,
                  "Also a count per interaction, for the weighting schemes");
  parser
      .add_option("--out", options->out,
                  "FILE.csv for a raw log, or a folder for prepared data,\nas `poise prepare --split users` "
                  "writes them")
      ->required()
      ->type_name("FILE");
  parser.footer(
      "Examples:\n  poise synth --like demo --out demo\n  poise synth --like ml-20m --scale 0.1 --out "
      "ratings.csv");
  return [options](const Context& context) { run_synth(*options, context); };
}

}  // namespace poise::app
