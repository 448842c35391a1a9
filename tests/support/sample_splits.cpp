#include "support/sample_splits.hpp"

#include "poise/report/report.hpp"

namespace poise::test {

StudyResults one_split(double unweighted, double weighted, double alpha) {
  StudyResults results;
  results.metrics = {"ndcg@100"};
  results.choice = "ndcg@100";
  results.version = "0";
  results.data = {{.name = "shop & <co>",
                   .checksum = "0123456789abcdef",
                   .users = 100,
                   .items = 50,
                   .interactions = 1000,
                   .train_users = 80,
                   .train_interactions = 800,
                   .validation_users = 10,
                   .test_users = 10,
                   .paper_data = "",
                   .test_to_train = 0.125}};
  const auto put = [&](const StudyModel& model, RowKind kind, double value, double weight) {
    StudyRow row;
    row.data = results.data[0].name;
    row.model = model;
    row.kind = kind;
    row.alpha = weight;
    row.lambda = 100;
    row.validation = {{"ndcg@100", {value, 0.01}}};
    row.test = {{"ndcg@100", {value, 0.01}}};
    results.rows.push_back(row);
  };
  const StudyModel ease{.key = "full-rank", .zero_diagonal = true};
  put(ease, RowKind::unweighted, unweighted, 1);
  put(ease, RowKind::weighted, weighted, alpha);
  put({.key = "popularity"}, RowKind::unweighted, 0.1, 1);
  StudyPair pair;
  pair.data = results.data[0].name;
  pair.model = ease;
  pair.kind = RowKind::weighted;
  pair.metric = "ndcg@100";
  pair.test.difference = weighted - unweighted;
  results.pairs.push_back(pair);
  return results;
}

SplitsResults sample_splits(const std::vector<double>& unweighted, const std::vector<double>& weighted) {
  std::vector<StudyResults> splits;
  std::vector<std::uint32_t> seeds;
  for (std::size_t k = 0; k < unweighted.size(); ++k) {
    splits.push_back(one_split(unweighted[k], weighted[k], static_cast<double>(2U << k)));
    seeds.push_back(static_cast<std::uint32_t>(k + 1));
  }
  SplitsResults results = over_splits(seeds, splits);
  results.means.conclusions = conclude(results);
  return results;
}

}  // namespace poise::test
