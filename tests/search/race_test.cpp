#include "poise/search/race.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "poise/search/user_sample.hpp"

namespace poise {
namespace {

using Values = std::vector<std::int32_t>;

double mean_of(const Values& values) {
  return sample_unit * std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

/// A leader, two points alike and a point, over all users, in the order in which they are scored.
struct Runners {
  Values leader;
  Values first;
  Values second;
  Values point;

  [[nodiscard]] Race race() const {
    return {.users = std::ssize(leader),
            .leader = {mean_of(leader), leader},
            .alike = {{mean_of(first), first}, {mean_of(second), second}}};
  }
};

/// Users differ from each other more than points do, as they do in truth; `behind` is on average.
Runners runners(int users, double behind, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Runners made;
  for (int k = 0; k < users; ++k) {
    const double user = 0.4 + 0.25 * normal(random);
    const double taste = 0.1 * normal(random);
    const auto value = [&](double at) {
      return static_cast<std::int32_t>(std::lround(std::clamp(at, 0.0, 1.0) / sample_unit));
    };
    made.leader.push_back(value(user));
    made.first.push_back(value(user + taste - 0.004 + 0.03 * normal(random)));
    made.second.push_back(value(user + 0.5 * taste + 0.03 * normal(random)));
    made.point.push_back(value(user + taste - behind + 0.03 * normal(random)));
  }
  return made;
}

std::vector<std::size_t> ends_of(int users) { return sampled_users(users).ends; }

TEST(Race, AllUsersLeaveNoError) {
  std::mt19937 random(1);
  const Runners some = runners(300, 0.01, random);
  const Standing standing = standing_of(some.point, some.race());
  EXPECT_NEAR(standing.mean, mean_of(some.point), 1e-12);
  EXPECT_NEAR(standing.error, 0, 1e-12);
  EXPECT_EQ(standing.users, 300);
}

/// What follows from the points alike is known without scoring anybody.
TEST(Race, ACombinationOfThoseAlikeIsKnownAtOnce) {
  std::mt19937 random(2);
  Runners some = runners(400, 0, random);
  for (std::size_t k = 0; k < some.point.size(); ++k)
    some.point[k] = 2 * some.first[k] + some.second[k] - 2 * some.leader[k];
  const Standing standing = standing_of(std::span(some.point).first(50), some.race());
  EXPECT_NEAR(standing.mean, mean_of(some.point), 1e-9);
  EXPECT_NEAR(standing.error, 0, 1e-9);
}

/// Points that are the leader itself, or each other, say nothing and break nothing.
TEST(Race, RepeatedPointsSayNothingNew) {
  std::mt19937 random(3);
  const Runners some = runners(200, 0.02, random);
  Race once = some.race();
  once.alike.resize(1);
  Race twice = once;
  twice.alike.push_back(once.alike[0]);
  twice.alike.insert(twice.alike.begin(), once.leader);
  const auto values = std::span(some.point).first(60);
  EXPECT_DOUBLE_EQ(standing_of(values, once).mean, standing_of(values, twice).mean);
  EXPECT_DOUBLE_EQ(standing_of(values, once).error, standing_of(values, twice).error);
}

/// The error is what the estimates scatter by, with and without points alike.
TEST(Race, TheErrorIsTheOneThatIsMade) {
  std::mt19937 random(4);
  const Runners some = runners(400, 0.01, random);
  for (const bool alike : {false, true}) {
    for (const std::size_t count : {50U, 200U, 350U}) {
      std::vector<std::size_t> order(some.point.size());
      std::iota(order.begin(), order.end(), 0U);
      double squares = 0;
      double said = 0;
      constexpr int draws = 400;
      for (int draw = 0; draw < draws; ++draw) {
        std::ranges::shuffle(order, random);
        Runners shuffled;
        for (const std::size_t k : order) {
          shuffled.leader.push_back(some.leader[k]);
          shuffled.first.push_back(some.first[k]);
          shuffled.second.push_back(some.second[k]);
          shuffled.point.push_back(some.point[k]);
        }
        Race race = shuffled.race();
        if (!alike) race.alike.clear();
        const Standing standing = standing_of(std::span(shuffled.point).first(count), race);
        squares += std::pow(standing.mean - mean_of(some.point), 2) / draws;
        said += std::pow(standing.error, 2) / draws;
      }
      EXPECT_NEAR(std::sqrt(said / squares), 1, 0.2) << alike << " " << count;
    }
  }
}

TEST(Race, WhoIsNotBehindIsNotCut) {
  std::mt19937 random(5);
  int cut = 0;
  int wrong = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const int users = 100 + draw % 400;
    const Runners some = runners(users, 0.001 * (draw % 20), random);
    const std::vector<std::size_t> ends = ends_of(users);
    if (!lost(some.point, ends, some.race())) continue;
    ++cut;
    wrong += mean_of(some.point) >= mean_of(some.leader) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cut, 300);
}

TEST(Race, WhoIsFarBehindIsCutAtOnce) {
  std::mt19937 random(6);
  const Runners some = runners(400, 0.2, random);
  const auto standing = lost(some.point, ends_of(400), some.race());
  ASSERT_TRUE(standing);
  EXPECT_EQ(standing->users, 25);
  EXPECT_NEAR(standing->mean, mean_of(some.point), 4 * standing->error);
  // Those who were scored are enough to know it again.
  const auto again = lost(std::span(some.point).first(25), ends_of(400), some.race());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->mean, standing->mean);
}

TEST(Race, AFewUsersJudgeNobody) {
  std::mt19937 random(7);
  const Runners some = runners(20, 0.2, random);
  EXPECT_FALSE(lost(some.point, ends_of(20), some.race()));
  EXPECT_FALSE(lost(Values(), ends_of(400), runners(400, 0.2, random).race()));
}

/// All users of a small part, a thousand of a large one; each part, and any number of them, evenly spread.
TEST(Race, SampledUsersAreEvenlySpread) {
  for (const std::int64_t users : {0, 1, 7, 240, 1000, 1001, 40'000}) {
    SampledUsers sampled = sampled_users(users);
    ASSERT_EQ(sampled.ends.size(), 16U);
    ASSERT_EQ(sampled.ends.back(), sampled.users.size());
    EXPECT_EQ(std::ssize(sampled.users), std::min<std::int64_t>(users, 1000));
    if (users >= 240) {
      for (const std::size_t end : sampled.ends) {
        const double sum =
            std::accumulate(sampled.users.begin(), sampled.users.begin() + std::ptrdiff_t(end), 0.0);
        EXPECT_NEAR(sum / static_cast<double>(end) / static_cast<double>(users), 0.5, 0.04);
      }
    }
    std::ranges::sort(sampled.users);
    EXPECT_EQ(std::ranges::adjacent_find(sampled.users), sampled.users.end());
    if (users > 0) {
      EXPECT_LT(sampled.users.back(), users);
    }
  }
}

/// A search that goes on from its journal may find more users of a point than it was cut at: they do not
/// count.
TEST(UserSampleTest, ErrorsOfCutPointsAreOfTheUsersBeforeTheCut) {
  const UserSample a{.users = 4, .values = {{"ndcg@100", {1000, 3000, 9000, 100}}}};
  const UserSample b{.users = 4, .values = {{"ndcg@100", {2000, 1000, 1000, 5000}}}};
  const UserSample cut{.users = 4, .values = {{"ndcg@100", {2000, 1000}}}};
  EXPECT_EQ(paired_error(a, b, "ndcg@100", 2), paired_error(a, cut, "ndcg@100"));
  EXPECT_NE(paired_error(a, b, "ndcg@100", 2), paired_error(a, b, "ndcg@100"));
}

}  // namespace
}  // namespace poise
