#include "poise/search/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace poise {
namespace {

/// A response over log10 lambda and log10 alpha (and what other axes there are, as their values), seen with
/// an error that is a function of the place alone.
struct ProfiledSurface {
  std::function<double(const std::vector<double>&)> truth;
  double noise = 0;  ///< the paired standard error of two places
  unsigned seed = 0;
};

ProfileSpace plain_space(const std::vector<double>& lambda = {}, const std::vector<double>& alpha = {}) {
  ProfileSpace space{.axes = {lambda_axis(lambda), alpha_axis(alpha)}, .kinds = {}};
  space.kinds = kinds_of(space.axes[1], 1.0);
  return space;
}

class ProfiledSearch {
 public:
  ProfiledSearch(ProfileSpace space, ProfiledSurface surface)
      : space_(std::move(space)), surface_(std::move(surface)) {
    scores_.noise = [this](const Place& a, const Place& b) { return a == b ? 0 : surface_.noise; };
  }

  /// To the end, one round after the other; the places of a round in the given order.
  void run(unsigned order = 0) {
    for (;;) {
      profiles_ = profiles_of(space_, scores_);
      std::vector<Place> round = next_round(profiles_);
      if (round.empty()) return;
      ASSERT_LT(scores_.score.size(), 2000U) << "this does not end";
      std::shuffle(round.begin(), round.end(), std::mt19937(order));
      for (const Place& place : round) {
        EXPECT_FALSE(scores_.score.contains(place)) << "nothing is asked for twice";
        scores_.score[place] = seen(place);
      }
      ++rounds_;
    }
  }

  [[nodiscard]] std::vector<double> at(const Place& place) const {
    std::vector<double> positions;
    for (std::size_t k = 0; k < place.size(); ++k) positions.push_back(space_.axes[k].position[place[k]]);
    return positions;
  }
  [[nodiscard]] double truth(const Place& place) const { return surface_.truth(at(place)); }
  [[nodiscard]] double seen(const Place& place) const {
    std::vector<unsigned> words(place.begin(), place.end());
    words.push_back(surface_.seed);
    std::seed_seq seeds(words.begin(), words.end());
    std::mt19937_64 draw(seeds);
    return truth(place) + surface_.noise / std::sqrt(2.0) * std::normal_distribution<double>()(draw);
  }
  /// The highest value of a kind over all its nodes.
  [[nodiscard]] double highest(const ProfileKind& kind) const {
    double best = -1;
    for (int lambda = 0; lambda < space_.axes[0].nodes(); ++lambda) {
      for (int alpha = kind.low; alpha <= kind.high; ++alpha) best = std::max(best, truth({lambda, alpha}));
    }
    return best;
  }
  void expect_solved(double within) const {
    for (std::size_t k = 0; k < space_.kinds.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "kind " << k << ", seed " << surface_.seed);
      ASSERT_TRUE(profiles_[k].best);
      EXPECT_TRUE(profiles_[k].complete);
      EXPECT_LE(short_of_highest(k), within);
    }
  }
  [[nodiscard]] double short_of_highest(std::size_t k) const {
    return highest(space_.kinds[k]) - truth(*profiles_[k].best);
  }

  ProfileSpace space_;
  ProfiledSurface surface_;
  ProfileScores scores_;
  std::vector<Profile> profiles_;
  int rounds_ = 0;
};

/// lambda in thirds of a decade over six decades, twelve alphas.
constexpr std::size_t exhaustive = std::size_t{19} * 12;

double bell(double x) { return std::exp(-x * x / 2); }

/// The best lambda grows as alpha squared; 1 % below its top the ridge is a third of a decade wide.
double narrow_ridge(const std::vector<double>& x, double best_alpha) {
  const double off = x[0] - 2.5 - 2 * x[1];
  return 0.1 + 0.25 * bell(off / 1.0) * (0.9 + 0.1 * bell((x[1] - best_alpha) / 0.8)) -
         0.0025 * std::min(off * off / 0.03, 4.0);
}

TEST(ProfilesTest, ANarrowCurvedRidgeIsFollowed) {
  std::size_t most = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const double best_alpha = -0.9 + 0.018 * seed;
    ProfiledSearch search(plain_space(),
                          {[=](const auto& x) { return narrow_ridge(x, best_alpha); }, 2e-4, seed});
    search.run();
    search.expect_solved(5e-4);
    for (const Profile& profile : search.profiles_) EXPECT_TRUE(profile.interior);
    most = std::max(most, search.scores_.score.size());
  }
  EXPECT_LE(most, exhaustive / 3);
}

/// Where directions vanish one after the other the ridge has a fold that is a few percent of lambda wide and
/// moves with alpha: an alpha whose ordinary lambdas lie beside it looks worse than it is. Now and then the
/// best alphas look so much worse that they are not read between their nodes.
TEST(ProfilesTest, AFoldedRidgeIsFollowedBetweenTheNodes) {
  std::size_t most = 0;
  int misses = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const double best_alpha = -0.7 + 0.014 * seed;
    const auto folded = [=](const auto& x) {
      const double off = x[0] - 0.9 - 0.0037 * seed - 0.7 * x[1];
      return 0.3 + 0.03 * bell((x[1] - best_alpha) / 0.5) - std::min(0.04 * std::abs(off), 0.1) -
             0.01 * off * off;
    };
    ProfiledSearch search(plain_space(), {folded, 1e-4, seed});
    search.run();
    search.expect_solved(1.5e-3);
    for (std::size_t k = 0; k < search.space_.kinds.size(); ++k)
      misses += search.short_of_highest(k) > 9e-4 ? 1 : 0;
    most = std::max(most, search.scores_.score.size());
  }
  EXPECT_LE(misses, 3) << "of 300";
  EXPECT_LE(most, 113U);
}

/// The noise of fewer users: what is found is as good as they can tell.
TEST(ProfilesTest, MoreNoiseCostsNoMorePoints) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    ProfiledSearch search(plain_space(), {[](const auto& x) { return narrow_ridge(x, 0.3); }, 1e-3, seed});
    search.run();
    search.expect_solved(2.5e-3);
    EXPECT_LE(search.scores_.score.size(), 113U);  // a third of the grid of docs/search.md
  }
}

/// Low-rank models: a long plateau, the top right before the cliff where all directions die, and dead models
/// of one and the same score beyond it.
double before_a_cliff(const std::vector<double>& x, double at) {
  const double off = x[0] - at - x[1];
  if (off > 0.6) return 0.2776;
  const double rise = 0.005 * bell((off + 0.1) / 0.25);
  return 0.49 + rise - (off > 0 ? 0.05 * off + 0.1 * off * off : 0) - 0.02 * x[1] * x[1];
}

TEST(ProfilesTest, ATopBeforeACliffIsFoundAndPlateausAreNotChased) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const double at : {-1.5, 0.0, 1.0, 2.3, 4.0}) {
      SCOPED_TRACE(at);
      ProfiledSearch search(plain_space(), {[=](const auto& x) { return before_a_cliff(x, at); }, 0, seed});
      search.run();
      search.expect_solved(5e-4);
      EXPECT_LE(search.scores_.score.size(), exhaustive / 3);
    }
  }
}

TEST(ProfilesTest, AFlatSurfaceIsLeftSoon) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const double noise = seed == 0 ? 0 : 2e-4;
    ProfiledSearch search(plain_space(), {[](const auto&) { return 0.3; }, noise, seed});
    search.run();
    search.expect_solved(5e-4);
    // Noise that has nothing to do with its neighbours' is followed for a while.
    EXPECT_LE(search.scores_.score.size(), noise == 0 ? exhaustive / 3 : exhaustive * 2 / 3);
  }
}

/// The first points are lambda 3 to 3000 and alpha 0.15 to 6.8; tops lie beyond either end of both.
TEST(ProfilesTest, AnOptimumBeyondTheFirstPointsIsReached) {
  for (const double lambda : {-2.0, -1.0, 5.5, 6.0}) {
    for (const double slope : {0.0, 1.0, 2.0}) {
      SCOPED_TRACE(::testing::Message() << lambda << " " << slope);
      const auto truth = [=](const std::vector<double>& x) {
        // Weights of 1 are the worst there are; both sides rise to a top of their own.
        const double side = x[1] > 0 ? x[1] - 1.7 : x[1] + 1.7;
        return 0.1 + 0.1 * bell((x[0] - lambda - slope * x[1]) / 1.3) + 0.15 * bell(side / 1.1);
      };
      ProfiledSearch search(plain_space(), {truth, 1e-4, 7});
      search.run();
      search.expect_solved(5e-4);
      for (const Profile& profile : search.profiles_) EXPECT_TRUE(profile.interior);
    }
  }
}

/// All models score the same at tiny lambda, and at huge lambda.
TEST(ProfilesTest, PlateausOfDeadModels) {
  for (const double at : {-2.0, 0.0, 2.0, 5.0}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(at);
      const double noise = seed * 1e-5;
      const auto truth = [=](const std::vector<double>& x) {
        const double off = x[0] - at - x[1];
        return 0.25 + (off < 0 ? 0.04 : 0) + (off < 0 ? 0.06 : 0.1) * bell(off / 0.7) * bell(x[1] / 1.5);
      };
      ProfiledSearch search(plain_space(), {truth, noise, seed});
      search.run();
      search.expect_solved(5e-4);
      EXPECT_LE(search.scores_.score.size(), exhaustive / 3);
    }
  }
}

/// A weighted row is never worse than the unweighted one by more than noise: weights close to 1 are tried.
TEST(ProfilesTest, WeightsNearOneAreFeasible) {
  const auto truth = [](const std::vector<double>& x) {
    return 0.3 * bell((x[0] - 2 - x[1]) / 1.5) - 0.05 * std::abs(x[1]);
  };
  ProfiledSearch search(plain_space(), {truth, 0, 1});
  search.run();
  const double none = search.truth(*search.profiles_[0].best);
  for (std::size_t k = 1; k < 3; ++k) EXPECT_GE(search.truth(*search.profiles_[k].best), none - 1e-3);
}

TEST(ProfilesTest, TheOrderOfARoundDoesNotMatter) {
  const ProfiledSurface surface{[](const auto& x) { return narrow_ridge(x, 0.2); }, 3e-4, 5};
  ProfiledSearch first(plain_space(), surface);
  first.run(1);
  ProfiledSearch second(plain_space(), surface);
  second.run(2);
  EXPECT_EQ(first.scores_.score, second.scores_.score);
  EXPECT_EQ(first.rounds_, second.rounds_);
}

TEST(ProfilesTest, PointsWithoutAModelAreAvoided) {
  const auto truth = [](const std::vector<double>& x) {
    if (x[0] < 1.4 + x[1]) return -std::numeric_limits<double>::infinity();
    return 0.3 * bell((x[0] - 2 - x[1]) / 1.0) * bell((x[1] - 0.4) / 1.2);
  };
  ProfiledSearch search(plain_space(), {truth, 1e-4, 3});
  search.run();
  search.expect_solved(5e-4);

  // All first points are without one.
  const auto far = [](const std::vector<double>& x) {
    return x[0] < 4 ? -std::numeric_limits<double>::infinity() : 0.3 * bell((x[0] - 5 - x[1]) / 1.5);
  };
  ProfiledSearch later(plain_space(), {far, 1e-4, 3});
  later.run();
  later.expect_solved(5e-4);
}

TEST(ProfilesTest, GivenRangesBoundTheAxes) {
  const auto truth = [](const std::vector<double>& x) { return 0.3 + 0.01 * x[0] + 0.01 * x[1]; };
  ProfiledSearch search(plain_space({5, 70}, {1, 3}), {truth, 0, 3});
  search.run();
  search.expect_solved(1e-9);
  ASSERT_EQ(search.space_.kinds.size(), 2U);
  for (const auto& [place, score] : search.scores_.score) {
    EXPECT_GE(search.space_.axes[0].value[place[0]], 5);
    EXPECT_LE(search.space_.axes[0].value[place[0]], 70);
  }
  EXPECT_FALSE(search.profiles_[0].interior) << "nothing may be tried beyond it";
  EXPECT_EQ(search.space_.axes[0].value[(*search.profiles_[1].best)[0]], 70);
  EXPECT_EQ(search.space_.axes[1].value[(*search.profiles_[1].best)[1]], 3);

  ProfiledSearch one(plain_space({100}, {1}), {truth, 0, 3});
  one.run();
  EXPECT_EQ(one.scores_.score.size(), 1U);
  EXPECT_TRUE(one.profiles_[0].complete && one.profiles_[0].interior);
}

TEST(ProfilesTest, SlopesBeginAtZero) {
  ProfileSpace space{.axes = {lambda_axis({}), slope_axis({})}, .kinds = {}};
  space.kinds = kinds_of(space.axes[1], 0.0);
  ASSERT_EQ(space.kinds.size(), 2U);
  EXPECT_EQ(space.axes[1].value[space.kinds[0].low], 0);
  for (const double best : {-2.0, 0.0, 1.5}) {
    const auto truth = [=](const std::vector<double>& x) {
      const double weight = std::log10(1 + std::pow(10, x[1]));
      // A slope of nearly 0 is nearly the unweighted model, which is not dead.
      return 0.2 + 0.1 * bell((x[0] - 2 - weight) / 1.2) * (0.5 + 0.5 * bell((x[1] - best) / 1.0));
    };
    for (unsigned seed = 0; seed < 20; ++seed) {
      ProfiledSearch search(space, {truth, 1e-4, seed});
      search.run();
      search.expect_solved(5e-4);
    }
  }
}

/// Dropout and an exponent beside lambda and alpha, all of them coupled.
TEST(ProfilesTest, FurtherAxesAreSearchedJointly) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    ProfileSpace space = plain_space();
    space.axes.push_back(even_axis({}, 0, 0.9, 0.05, 0.3, 4));
    space.axes.push_back(even_axis({}, -0.5, 1.5, 0.125, 0, 4));
    const auto truth = [](const std::vector<double>& x) {
      const double p = x[2] - 0.45 - 0.1 * x[1];
      const double nu = x[3] - 0.6 + 0.2 * (x[2] - 0.45);
      return 0.2 + 0.15 * bell((x[0] - 2 - 1.5 * x[1] + 2 * x[2] + x[3]) / 1.2) * bell((x[1] - 0.3) / 1.1) *
                       bell(p / 0.5) * bell(nu / 0.9);
    };
    ProfiledSearch search(space, {truth, 1e-4, seed});
    search.run();
    double highest = 0.35;
    EXPECT_GE(search.truth(*search.profiles_[1].best), highest - 1e-3);
    EXPECT_LE(search.scores_.score.size(), 220U);
  }
}

}  // namespace
}  // namespace poise
