#include <ctime>
#include <random>

#include <benchmark/benchmark.h>

#include "poise/data/synth.hpp"
#include "poise/evaluate/evaluate.hpp"
#include "poise/model/full_rank/full_rank.hpp"

namespace {

using namespace poise;

constexpr std::int64_t held_out = 10'000;

/// Rows [first, first + count), every fifth item apart.
std::pair<Csr, Csr> fold_in_and_targets(const Csr& all, std::int64_t first, std::int64_t count) {
  std::pair<Csr, Csr> parts{{.rows = count, .cols = all.cols}, {.rows = count, .cols = all.cols}};
  for (std::int64_t u = first; u < first + count; ++u) {
    const auto row = all.view().row(u);
    for (std::size_t k = 0; k < row.size(); ++k)
      (k % 5 == 2 ? parts.second : parts.first).indices.push_back(row[k]);
    for (Csr* const part : {&parts.first, &parts.second}) part->offsets.push_back(part->entries());
  }
  return parts;
}

/// A dense model that nobody had to train, whose lists are as popular as those of trained ones.
FullRank popular_lists(const std::vector<std::int64_t>& counts) {
  const auto items = static_cast<std::int64_t>(counts.size());
  Matrix<float> B = Matrix<float>::uninitialized(items, items);
  std::minstd_rand generator(1);
  for (std::int64_t j = 0; j < items; ++j) {
    const auto row = B.row(j);
    for (std::int64_t i = 0; i < items; ++i)
      row[i] = static_cast<float>(counts[i]) * static_cast<float>(1e-9 * static_cast<double>(generator()));
  }
  return FullRank(std::move(B));
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Every metric for 10 000 users of the size of ML-20M (20 108 items) against the three default ones, with a
/// dense full-rank model, in processor time.
void evaluate_all_metrics(benchmark::State& state) {
  const Execution execution{.threads = 2};
  const Csr all = synthesize({.shape = SynthShape::ml_20m}, execution);
  const std::int64_t train_users = all.rows - held_out;
  const Csr train = copy_of(all.view().block(0, train_users));
  const auto [fold_in, targets] = fold_in_and_targets(all, train_users, held_out);
  const std::vector<std::int64_t> counts = column_counts(train.view());
  const FullRank model = popular_lists(counts);
  const auto seconds_of = [&](const std::vector<Metric>& metrics) {
    const double begin = processor_seconds();
    benchmark::DoNotOptimize(evaluate(model, fold_in.view(), targets.view(), {counts, train.view()},
                                      {.metrics = metrics}, execution));
    return processor_seconds() - begin;
  };
  double three = 1e9;
  double every = 1e9;
  for (auto _ : state) {
    three = std::min(three, seconds_of(EvaluateOptions{}.metrics));
    every = std::min(every, seconds_of(parse_metrics(
                                "recall@20,recall@50,ndcg@100,map@10,mrr@10,hit-rate@10,precision@10,"
                                "stratified-recall@20,auc,coverage@20,gini@20,entropy@20,popularity@20,"
                                "tail-share@20,novelty@20,diversity@20,calibration@20")));
  }
  state.counters["seconds_of_three"] = three;
  state.counters["seconds_of_all"] = every;
  state.counters["ratio"] = every / three;
  for (const char* const metric : {"auc", "diversity@20"})
    state.counters[std::string("seconds_with_") + metric] = seconds_of(parse_metrics(metric));
}
BENCHMARK(evaluate_all_metrics)->Unit(benchmark::kMillisecond)->Iterations(2);

}  // namespace
