// Trains a weighted full-rank model on generated interactions, measures it, saves it, and recommends with
// what was saved; docs/tutorial-cpp.md goes through it.
#include <cstdio>
#include <filesystem>

#include <poise/base/error.hpp>
#include <poise/data/dataset_file.hpp>
#include <poise/data/split.hpp>
#include <poise/data/synth.hpp>
#include <poise/evaluate/evaluate.hpp>
#include <poise/recommend/recommend.hpp>
#include <poise/train/model_file.hpp>
#include <poise/train/trainer.hpp>

namespace {

void run(const std::filesystem::path& file) {
  const poise::Execution execution;  // all cores, no observer

  // Interactions: here generated ones; read_log() of data/log_reader.hpp reads csv, MovieLens, Netflix and
  // other logs.
  const poise::Interactions log = poise::synth_interactions(poise::synthesize({}, execution), 1, execution);
  poise::LoadedDataset data;
  data.dataset = poise::split_users(log, {}, {}, execution);
  data.checksum = poise::checksum_of(data.dataset, execution);

  // Observed entries weigh 2.
  poise::Trainer trainer(data);
  const poise::Trained trained =
      trainer.train({.zero_diagonal = true, .lambda = 100, .weighting = {.alpha = 2}});
  std::printf("objective %.0f, proven to be above its minimum by at most %.1e of the explained weight\n",
              trained.objective, trained.certificate.relative);

  const poise::HeldOut& test = *data.dataset.test;
  const poise::EvaluationResult figures =
      poise::evaluate(*trained.model, data.dataset.histories(test), test.targets.view(), {}, {}, execution);
  for (const poise::MetricResult& figure : figures.metrics)
    std::printf("%s %.4f\n", poise::to_string(figure.metric).c_str(), figure.mean);

  poise::write_model(file,
                     {.model = "full-rank",
                      .options = {},
                      .data_checksum = data.checksum,
                      .report = "{}",
                      .items = data.dataset.items},
                     *trained.model);
  const poise::LoadedModel model = poise::read_model(file);
  const poise::RankedLists lists = poise::recommend(*model.scorer, test.fold_in.view(), {.k = 3}, execution);
  std::printf("for user %s:", std::string(test.users[0]).c_str());
  for (const std::int32_t item : lists.items(0))
    std::printf(" %s", std::string(model.info.items[item]).c_str());
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: train_weighted MODEL\n");
    return 2;
  }
  try {
    run(arguments[1]);
    return 0;
  } catch (const poise::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
