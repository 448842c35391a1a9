#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/data/attach_features.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/split.hpp"
#include "poise/evaluate/evaluate.hpp"
#include "poise/study/statistics.hpp"
#include "poise/train/trainer.hpp"

#include "data/log_of.hpp"
#include "support/expect_error.hpp"
#include "support/table_scorer.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

constexpr int users = 800;
constexpr int items = 500;
constexpr int genres = 12;
constexpr int makers = 40;
constexpr int colours = 3;
constexpr int sizes = 2;
constexpr int seasons = 4;
constexpr int styles = 2;

/// A shop whose users choose items by genre, maker and appeal. Nobody cares for colour, size, season and
/// style, and some items are bought by everybody.
struct Shop {
  Interactions log;
  FeatureTable features;
};

Shop shop(unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() % 100'000) / 1e5; };
  const auto one_of = [&](int count) { return static_cast<std::int32_t>(random() % count); };
  Shop made;
  Csr& rows = made.features.rows;
  rows = {.rows = items, .cols = 0, .offsets = {0}};
  for (const int count : {genres, makers, colours, sizes, seasons, styles}) {
    for (int k = 0; k < count; ++k) made.features.names.push_back(fmt::format("{}", rows.cols++));
  }
  std::vector<std::int32_t> genre;
  std::vector<std::int32_t> maker;
  std::vector<double> appeal;
  std::vector<double> least;
  for (int i = 0; i < items; ++i) {
    std::int32_t first = 0;
    for (const int count : {genres, makers, colours, sizes, seasons, styles}) {
      rows.indices.push_back(first + one_of(count));
      first += count;
    }
    genre.push_back(rows.indices[rows.offsets.back()]);
    maker.push_back(rows.indices[rows.offsets.back() + 1] - genres);
    rows.offsets.push_back(rows.entries());
    made.features.items.push_back(fmt::format("i{}", i));
    appeal.push_back(std::exp(1.5 * uniform()));
    least.push_back(uniform() < 0.08 ? 0.25 : 0);
  }
  std::vector<testing::LogRow> log;
  for (int u = 0; u < users; ++u) {
    const std::int32_t taste = one_of(genres);
    const std::int32_t brand = one_of(makers);
    for (int i = 0; i < items; ++i) {
      const double likes = (genre[i] == taste ? 0.10 : 0.004) * (maker[i] == brand ? 4 : 1) * appeal[i];
      if (uniform() < std::max(likes, least[i]))
        log.push_back({fmt::format("u{}", u), fmt::format("i{}", i), std::nullopt});
    }
  }
  made.log = testing::log_of(log);
  return made;
}

class ColdItemsTest : public ::testing::Test {
 protected:
  ColdItemsTest() {
    known_ = items_with_features(shop_.features);
    data_.dataset = split_cold_items(shop_.log, {.min_user_items = 5, .known_items = &known_}, 1, {});
    attach_features(data_.dataset, shop_.features);
    validate(data_.dataset);
    data_.checksum = checksum_of(data_.dataset, {});
    counts_ = column_counts(data_.dataset.train.view());
  }

  [[nodiscard]] EvaluationResult measure(const Scorer& model, const HeldOut& part) const {
    return evaluate(model, data_.dataset.histories(part), part.targets.view(), counts_,
                    {.metrics = {{MetricKind::ndcg, 10}, {MetricKind::auc, 0}}, .cold_items = true}, {});
  }
  [[nodiscard]] EvaluationResult measure(const Scorer& model) const {
    return measure(model, *data_.dataset.test);
  }
  /// Every user's nDCG of cold items.
  [[nodiscard]] std::vector<double> ndcg(const Scorer& model) const {
    const EvaluationResult result = measure(model);
    std::vector<double> values;
    for (std::int64_t u = 0; u < result.users; ++u) values.push_back(result.per_user(u, 0));
    return values;
  }
  [[nodiscard]] Trained train(const ModelParameters& parameters) const {
    const auto backend = testing::tested_backend(2);
    Trainer trainer(data_, "", Keep::nothing, 1U << 30U, *backend, {.threads = 2});
    return trainer.train(parameters);
  }

  /// An item's score is the mean cosine of its features and those of the history's items.
  [[nodiscard]] testing::TableScorer content_neighbours() const {
    const Csr of_items = transpose(data_.dataset.features.rows.view());
    const CsrView F = of_items.view();
    const CsrView histories = data_.dataset.test->fold_in.view();
    Matrix<float> scores(histories.rows, F.rows);
    for (std::int64_t u = 0; u < histories.rows; ++u) {
      for (std::int64_t i = 0; i < F.rows; ++i) {
        for (const std::int32_t j : histories.row(u)) {
          std::vector<std::int32_t> shared;
          std::ranges::set_intersection(F.row(i), F.row(j), std::back_inserter(shared));
          scores(u, i) += static_cast<float>(shared.size()) / 6 / static_cast<float>(histories.row_size(u));
        }
      }
    }
    return testing::TableScorer(std::move(scores));
  }

  Shop shop_ = shop(3);
  Ids known_;
  LoadedDataset data_;
  std::vector<std::int64_t> counts_;
};

TEST_F(ColdItemsTest, ATenthOfTheItemsHasNoTrainingRow) {
  EXPECT_EQ(data_.dataset.items.size(), items);
  EXPECT_EQ(cold_items(data_.dataset), items / 10);
  std::set<std::int32_t> found[2];
  const HeldOut* const parts[] = {&*data_.dataset.validation, &*data_.dataset.test};
  for (int p = 0; p < 2; ++p) {
    for (const std::int32_t item : parts[p]->targets.indices) {
      EXPECT_EQ(counts_[item], 0);
      found[p].insert(item);
    }
  }
  EXPECT_EQ(found[0].size(), items / 20);
  EXPECT_EQ(found[1].size(), items / 20);
  for (const std::int32_t item : found[0]) EXPECT_FALSE(found[1].contains(item));
}

TEST_F(ColdItemsTest, TheOrderOfRowsAndFeaturesHasNoInfluence) {
  const auto cold = [&](const Interactions& log, const Ids& known) {
    const Dataset dataset = split_cold_items(log, {.min_user_items = 5, .known_items = &known}, 1, {});
    std::set<std::string> names;
    for (const std::int32_t item : dataset.test->targets.indices) names.emplace(dataset.items[item]);
    return names;
  };
  std::vector<testing::LogRow> backwards;
  for (std::int64_t r = shop_.log.rows() - 1; r >= 0; --r)
    backwards.push_back({std::string(shop_.log.users[shop_.log.user[r]]),
                         std::string(shop_.log.items[shop_.log.item[r]]), std::nullopt});
  Ids other;
  for (std::int64_t k = known_.size() - 1; k >= 0; --k) other.push_back(known_[k]);
  EXPECT_EQ(cold(shop_.log, known_), cold(testing::log_of(backwards), other));
}

TEST_F(ColdItemsTest, FeaturesRankColdItemsBetterThanPopularityAndContent) {
  // Chosen on the validation part, whose cold items are others.
  Trained best;
  double highest = -1;
  for (const double lambda : {100, 500, 3000}) {
    for (const double beta : {10, 100}) {
      Trained each = train({.zero_diagonal = true, .lambda = lambda, .feature_weight = beta});
      const double found = measure(*each.model, *data_.dataset.validation).metrics.front().mean;
      if (found <= highest) continue;
      highest = found;
      best = std::move(each);
    }
  }
  const std::vector<double> learnt = ndcg(*best.model);
  const std::vector<double> popular = ndcg(*train({.family = Family::popularity}).model);
  const std::vector<double> content = ndcg(content_neighbours());
  ASSERT_GT(learnt.size(), 100U);
  for (const auto& [name, other] : {std::pair("popularity", &popular), {"content", &content}}) {
    const PairedDifference difference = paired_difference(learnt, *other);
    RecordProperty(name, fmt::format("{} p {}", difference.difference, difference.p));
    EXPECT_GT(difference.difference, 0);
    EXPECT_LT(difference.p, 0.01);
  }
}

TEST_F(ColdItemsTest, WithoutFeaturesColdItemsAreAllTheSame) {
  const ModelParameters plain{.zero_diagonal = true, .lambda = 20, .feature_weight = 0};
  const EvaluationResult none = measure(*train(plain).model);
  const EvaluationResult popular = measure(*train({.family = Family::popularity}).model);
  for (std::size_t m = 0; m < none.metrics.size(); ++m)
    EXPECT_EQ(none.metrics[m].mean, popular.metrics[m].mean);
  EXPECT_NEAR(none.metrics[1].mean, 0.5, 1e-12) << "all are equal: half of the pairs";
}

/// The ranking is that of the cold items alone, which a model says that scores them high, or only them.
TEST_F(ColdItemsTest, OtherItemsAreNotRanked) {
  const Csr histories = data_.dataset.test->fold_in;
  Matrix<float> scores(histories.rows, items);
  std::mt19937 random(5);
  for (std::int64_t u = 0; u < scores.rows(); ++u) {
    for (float& score : scores.row(u)) score = static_cast<float>(random() % 1000);
  }
  Matrix<float> raised(scores.rows(), items);
  for (std::int64_t u = 0; u < scores.rows(); ++u) {
    for (std::int64_t i = 0; i < items; ++i) raised(u, i) = scores(u, i) + (counts_[i] > 0 ? 0.0F : 1e6F);
  }
  const HeldOut& part = *data_.dataset.test;
  const auto of = [&](Matrix<float> table, bool cold) {
    return evaluate(testing::TableScorer(std::move(table)), data_.dataset.histories(part),
                    part.targets.view(), counts_,
                    {.metrics = {{MetricKind::ndcg, 10}, {MetricKind::recall, 5}}, .cold_items = cold}, {});
  };
  const EvaluationResult restricted = of(std::move(scores), true);
  const EvaluationResult all = of(std::move(raised), false);
  for (std::size_t m = 0; m < all.metrics.size(); ++m)
    EXPECT_EQ(restricted.metrics[m].mean, all.metrics[m].mean);
}

TEST_F(ColdItemsTest, DataOnDiskAreTheSame) {
  const Dataset& dataset = data_.dataset;
  const auto bytes = encode_dataset(dataset, {});
  EXPECT_EQ(decode_dataset(Container::parse(bytes, "data"), {}), dataset);
}

TEST_F(ColdItemsTest, RefusesWithoutFeaturesOfTheItems) {
  testing::expect_error(ErrorKind::usage, "item-features", [&] { split_cold_items(shop_.log, {}, 1, {}); });
  Ids others;
  others.push_back("another");
  testing::expect_error(ErrorKind::input, "0 items",
                        [&] { split_cold_items(shop_.log, {.known_items = &others}, 1, {}); });
}

}  // namespace
}  // namespace poise
