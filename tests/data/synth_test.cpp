#include "poise/data/synth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/data/synth/user.hpp"

#include "support/stop_at_once.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

Csr make(SynthShape shape, double scale, std::uint64_t seed = 1, bool values = false, int threads = 2) {
  return synthesize({.shape = shape, .scale = scale, .seed = seed, .values = values}, {.threads = threads});
}

struct Statistics {
  double top_tenth = 0;  ///< share of the interactions that the most popular tenth of the items holds
  double first = 0;      ///< share of the users who have the most popular item
  double median_to_mean = 0;
  std::int64_t min_item_users = 0;
  std::int64_t min_user_items = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_user_items = 0;
};

Statistics statistics(const Csr& matrix) {
  Statistics result;
  std::vector<std::int64_t> counts = column_counts(matrix.view());
  std::sort(counts.begin(), counts.end(), std::greater<>());
  const auto entries = static_cast<double>(matrix.entries());
  result.top_tenth = static_cast<double>(std::accumulate(counts.begin(), counts.begin() + matrix.cols / 10,
                                                         std::int64_t{0})) /
                     entries;
  result.first = static_cast<double>(counts.front()) / static_cast<double>(matrix.rows);
  result.min_item_users = counts.back();
  std::vector<std::int64_t> activity;
  for (std::int64_t u = 0; u < matrix.rows; ++u) activity.push_back(matrix.view().row_size(u));
  std::sort(activity.begin(), activity.end());
  result.min_user_items = activity.front();
  result.max_user_items = activity.back();
  result.median_to_mean =
      static_cast<double>(activity[activity.size() / 2]) * static_cast<double>(matrix.rows) / entries;
  return result;
}

void expect_valid(const Csr& matrix) {
  ASSERT_EQ(std::int64_t(matrix.offsets.size()), matrix.rows + 1);
  ASSERT_EQ(matrix.offsets.back(), matrix.entries());
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    const auto row = matrix.view().row(u);
    ASSERT_TRUE(std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end()) << u;
    ASSERT_GE(row.front(), 0);
    ASSERT_LT(row.back(), matrix.cols);
  }
}

void expect_movies(const Csr& matrix) {
  expect_valid(matrix);
  const Statistics s = statistics(matrix);
  EXPECT_GE(s.min_user_items, 5);
  EXPECT_LE(s.max_user_items, matrix.cols / 5);
  EXPECT_NEAR(s.median_to_mean, 0.5, 0.08);
  EXPECT_NEAR(s.top_tenth, 0.86, 0.06);
  EXPECT_NEAR(s.first, 0.35, 0.10);
}

TEST(Synth, Ml20mAtFullSize) {
  const Csr matrix = make(SynthShape::ml_20m, 1.0);
  EXPECT_EQ(matrix.rows, 136'677);
  EXPECT_EQ(matrix.cols, 20'108);
  EXPECT_NEAR(double(matrix.entries()), 10.0e6, 0.1e6);
  EXPECT_GE(statistics(matrix).min_item_users, 3);
  expect_movies(matrix);
}

TEST(Synth, NetflixScaledDown) {
  const Csr matrix = make(SynthShape::netflix, 0.02);
  EXPECT_EQ(matrix.rows, 9'269);
  EXPECT_EQ(matrix.cols, 17'769);
  EXPECT_NEAR(double(matrix.entries()), 0.02 * 56.9e6, 0.01 * 0.02 * 56.9e6);
  expect_movies(matrix);
}

TEST(Synth, MsdScaledDown) {
  const Csr matrix = make(SynthShape::msd, 0.05);
  EXPECT_EQ(matrix.rows, 28'568);
  EXPECT_EQ(matrix.cols, 41'140);
  EXPECT_NEAR(double(matrix.entries()), 0.05 * 33.6e6, 0.01 * 0.05 * 33.6e6);
  expect_valid(matrix);
  const Statistics s = statistics(matrix);
  EXPECT_GE(s.min_item_users, 10);
  EXPECT_GE(s.min_user_items, 20);
  EXPECT_NEAR(s.median_to_mean, 0.5, 0.08);
  EXPECT_NEAR(s.top_tenth, 0.5, 0.05);
}

TEST(Synth, AmazonBookAtFullSize) {
  const Csr matrix = make(SynthShape::amazon_book, 1.0);
  EXPECT_EQ(matrix.rows, 52'643);
  EXPECT_EQ(matrix.cols, 91'599);
  EXPECT_NEAR(double(matrix.entries()), 2.98e6, 0.01e6);
  expect_valid(matrix);
  const Statistics s = statistics(matrix);
  EXPECT_GE(s.min_item_users, 10);
  EXPECT_GE(s.min_user_items, 10);
  EXPECT_NEAR(s.median_to_mean, 0.5, 0.08);
  EXPECT_NEAR(s.top_tenth, 0.45, 0.05);
}

TEST(Synth, AMillionItemsScaledDown) {
  const Csr matrix = make(SynthShape::million, 0.02);
  EXPECT_EQ(matrix.rows, 200'000);
  EXPECT_EQ(matrix.cols, 1'000'000);
  EXPECT_NEAR(double(matrix.entries()), 2e6, 0.02e6);
  expect_valid(matrix);
  const Statistics s = statistics(matrix);
  EXPECT_GE(s.min_user_items, 5);
  EXPECT_NEAR(s.median_to_mean, 0.6, 0.08);
  EXPECT_NEAR(s.top_tenth, 0.7, 0.05);
  EXPECT_EQ(matrix, make(SynthShape::million, 0.02, 1, false, 1));
}

TEST(Synth, Demo) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Csr matrix = make(SynthShape::demo, 1.0, seed);
    EXPECT_EQ(matrix.rows, 2'400);
    EXPECT_EQ(matrix.cols, 700);
    EXPECT_NEAR(double(matrix.entries()), 100e3, 1e3);
    expect_valid(matrix);
    const Statistics s = statistics(matrix);
    EXPECT_GE(s.min_item_users, 5);
    EXPECT_GE(s.min_user_items, 5);
    EXPECT_NEAR(s.median_to_mean, 0.5, 0.08);
    EXPECT_NEAR(s.top_tenth, 0.45, 0.05);
    EXPECT_NEAR(s.first, 0.35, 0.10);
  }
}

TEST(Synth, SameBytesForAnyThreadCount) {
  const Csr one = make(SynthShape::ml_20m, 0.05, 7, true, 1);
  EXPECT_EQ(one, make(SynthShape::ml_20m, 0.05, 7, true, 2));
  EXPECT_EQ(one, make(SynthShape::ml_20m, 0.05, 7, true, 5));
}

TEST(Synth, ValuesLeaveTheEntriesAlone) {
  const Csr with = make(SynthShape::demo, 1.0, 1, true);
  const Csr without = make(SynthShape::demo, 1.0, 1, false);
  EXPECT_EQ(with.indices, without.indices);
  EXPECT_TRUE(without.values.empty());
  EXPECT_EQ(with.values.size(), with.indices.size());
}

TEST(Synth, SeedChangesEverything) {
  EXPECT_NE(make(SynthShape::demo, 1.0, 1).indices, make(SynthShape::demo, 1.0, 2).indices);
  EXPECT_NE(make(SynthShape::demo, 1.0, 1).offsets, make(SynthShape::demo, 1.0, 2).offsets);
}

TEST(Synth, ScaleMultipliesTheUsers) {
  EXPECT_EQ(make(SynthShape::demo, 0.5).rows, 1'200);
  EXPECT_EQ(make(SynthShape::demo, 2.5).rows, 6'000);
  EXPECT_EQ(make(SynthShape::ml_20m, 0.001).rows, 137);
  expect_valid(make(SynthShape::msd, 1.0 / 571'355));
}

TEST(Synth, SizeIsKnownBefore) {
  const SynthOptions options{.shape = SynthShape::ml_20m, .scale = 0.02};
  const SynthSize size = synth_size(options);
  const Csr matrix = synthesize(options, {});
  EXPECT_EQ(size.users, matrix.rows);
  EXPECT_EQ(size.items, matrix.cols);
  EXPECT_NEAR(double(size.interactions), double(matrix.entries()), 0.01 * double(size.interactions));
}

TEST(Synth, BadOptionsAreUsageErrors) {
  const auto kind_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::numerical;
  };
  for (const double scale : {0.0, -1.0, 1e-9, 1e9, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(kind_of([&] { make(SynthShape::demo, scale); }), ErrorKind::usage) << scale;
  }
  EXPECT_EQ(kind_of([] { parse_synth_shape("ml-1m"); }), ErrorKind::usage);
  EXPECT_EQ(parse_synth_shape("msd"), SynthShape::msd);
  EXPECT_EQ(parse_synth_shape("amazon-book"), SynthShape::amazon_book);
  EXPECT_EQ(parse_synth_shape("million"), SynthShape::million);
}

TEST(Synth, PopularItemsAreNotTheLowestNumbers) {
  const Csr matrix = make(SynthShape::ml_20m, 0.05);
  const std::vector<std::int64_t> counts = column_counts(matrix.view());
  const std::int64_t low = std::accumulate(counts.begin(), counts.begin() + matrix.cols / 2, std::int64_t{0});
  EXPECT_NEAR(double(low) / double(matrix.entries()), 0.5, 0.1);
}

TEST(Synth, CountsAreHeavyTailedAndFollowAffinity) {
  const Csr matrix = make(SynthShape::demo, 1.0, 1, true);
  const synth::Shape& shape = synth::shape_of(SynthShape::demo);
  const synth::Catalogue catalogue = synth::make_catalogue(shape, 1);
  std::vector<float> liked;
  std::vector<float> other;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    const synth::Taste taste = synth::make_taste(shape, catalogue, 1, u);
    for (std::int64_t k = matrix.offsets[u]; k < matrix.offsets[u + 1]; ++k) {
      const float value = matrix.values[k];
      ASSERT_GE(value, 1.0F);
      ASSERT_EQ(value, std::floor(value));
      (taste.affinity(catalogue, matrix.indices[k]) > 0.5 ? liked : other).push_back(value);
    }
  }
  const auto quantile = [](std::vector<float>& values, double q) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * double(values.size()));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  EXPECT_GE(quantile(liked, 0.5), 2 * quantile(other, 0.5));
  EXPECT_GE(quantile(liked, 0.99), 5 * quantile(liked, 0.5));
}

TEST(Synth, StopsWhenAsked) {
  testing::StopAtOnce observer;
  EXPECT_THROW(synthesize({}, {.threads = 2, .observer = &observer}), Error);
}

/// The rows of an in-memory log, as the csv's text.
std::string text_of(const Interactions& log) {
  std::string text = log.value.empty() ? "user,item\n" : "user,item,count\n";
  for (std::int64_t k = 0; k < log.rows(); ++k) {
    text += fmt::format("{},{}", log.users[log.user[k]], log.items[log.item[k]]);
    text += log.value.empty() ? "\n" : fmt::format(",{}\n", log.value[k]);
  }
  return text;
}

TEST(SynthLog, FileAndMemoryAgreeForAnyThreadCount) {
  const testing::TemporaryFolder folder;
  for (const bool values : {false, true}) {
    const Csr matrix = make(SynthShape::demo, 1.0, 3, values);
    write_synth_csv(folder / "one.csv", matrix.view(), 3, {.threads = 1});
    write_synth_csv(folder / "five.csv", matrix.view(), 3, {.threads = 5});
    const std::string text = testing::read_file(folder / "one.csv");
    EXPECT_TRUE(text == testing::read_file(folder / "five.csv"));
    EXPECT_TRUE(text == text_of(synth_interactions(matrix, 3, {.threads = 1})));
    EXPECT_TRUE(text == text_of(synth_interactions(matrix, 3, {.threads = 5})));
  }
}

TEST(SynthLog, HoldsTheMatrixInAnUnsortedOrder) {
  const Csr matrix = make(SynthShape::demo, 1.0, 1, true);
  const Interactions log = synth_interactions(matrix, 1, {});
  ASSERT_EQ(log.rows(), matrix.entries());
  ASSERT_EQ(log.users.size(), matrix.rows);
  ASSERT_EQ(log.items.size(), matrix.cols);
  std::int64_t descents = 0;
  std::int32_t fresh = 0;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    EXPECT_EQ(log.users[u], std::to_string(u + 1));
    std::vector<std::pair<std::int32_t, float>> row;
    for (std::int64_t k = matrix.offsets[u]; k < matrix.offsets[u + 1]; ++k) {
      ASSERT_EQ(log.user[k], u);
      ASSERT_LE(log.item[k], fresh);  // numbered by first appearance
      if (log.item[k] == fresh) ++fresh;
      row.emplace_back(std::stoi(std::string(log.items[log.item[k]])) - 1, log.value[k]);
      if (row.size() > 1 && row.back() < row[row.size() - 2]) ++descents;
    }
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      ASSERT_EQ(row[k].first, matrix.view().row(u)[k]);
      ASSERT_EQ(row[k].second, matrix.view().row_values(u)[k]);
    }
  }
  EXPECT_NEAR(double(descents), 0.5 * double(log.rows()), 0.05 * double(log.rows()));
}

}  // namespace
}  // namespace poise
