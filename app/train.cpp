#include <chrono>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "poise/base/memory.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/io/model_file.hpp"
#include "poise/model/popularity.hpp"

#include "command.hpp"
#include "output_check.hpp"

namespace poise::app {

namespace {

struct Options {
  std::filesystem::path data;
  std::string model;
  std::filesystem::path out;
};

class Stopwatch {
 public:
  /// Seconds since the last call, or since the start.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void run(const Options& options, const Context& context) {
  check_file_can_be_written(options.out);
  Stopwatch watch;
  const LoadedDataset data = read_dataset(options.data, context.execution);
  const double load = watch.lap();
  const Popularity model = Popularity::train(data.dataset.train.view());
  const double train = watch.lap();
  // A count has no objective, nothing to converge and nothing to certify.
  Json report = {{"model", options.model},
                 {"rank", nullptr},
                 {"lambda", nullptr},
                 {"alpha", nullptr},
                 {"weighting", nullptr},
                 {"objective", nullptr},
                 {"observed_weight", nullptr},
                 {"certificate", nullptr},
                 {"iterations", 0},
                 {"rounds", 0},
                 {"converged", true}};
  write_model(options.out,
              {.model = options.model,
               .options = {{"model", options.model}},
               .data_checksum = data.checksum,
               .report = report.dump(),
               .items = data.dataset.items},
              model);
  const double save = watch.lap();
  report["seconds"] = {{"total", load + train + save}, {"load", load}, {"train", train}, {"save", save}};
  report["peak_bytes"] = peak_memory();
  context.print(
      report, fmt::format("{} over {} users x {} items trained in {:.2f} s (loading {:.2f}, saving {:.2f})\n",
                          options.model, grouped(data.dataset.train.rows), grouped(data.dataset.train.cols),
                          train, load, save));
  context.say(fmt::format("written to {}", options.out.string()));
}

}  // namespace

Run setup_train(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.add_option("DATA", options->data, "Folder that `poise prepare` wrote")->required();
  parser.add_option("--model", options->model, "popularity: items by their number of training users")
      ->required()
      ->check(CLI::IsMember({"popularity"}));
  parser.add_option("--out", options->out, "Model file to write")->required();
  parser.footer("Example:\n  poise train ml-20m.data --model popularity --out popularity.model");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
