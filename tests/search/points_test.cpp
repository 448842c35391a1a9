#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "poise/data/synth.hpp"
#include "poise/search/search.hpp"

#include "support/random_dataset.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

class PointsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    data_ = {
        testing::random_dataset({.users = 80, .items = 25, .held_out_users = 30, .density = 0.25, .seed = 7}),
        "checksum of these data"};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Trainer trainer(Keep keep, std::uint64_t memory_limit = 1U << 30U) {
    return {data_, folder_, keep, memory_limit, *backend_, {.threads = 2}};
  }

  std::filesystem::path folder_;
  LoadedDataset data_;
  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

std::vector<ModelParameters> many_points() {
  std::vector<ModelParameters> points;
  for (const double lambda : {0.5, 20.0}) {
    for (const double alpha : {1.0, 3.0, 0.5}) {
      ModelParameters point{.lambda = lambda};
      point.weighting.alpha = alpha;
      points.push_back(point);
      point.zero_diagonal = true;
      points.push_back(point);
      point.dropout = 0.3;
      points.push_back(point);
      for (const std::int64_t neighbours : {6, 1, 1000}) {  // of 25 items
        point.neighbours = neighbours;
        points.push_back(point);
      }
      point = {.family = Family::wmf, .rank = 7, .lambda = lambda};
      point.weighting.alpha = alpha;
      points.push_back(point);
      for (const Regularizer regularizer :
           {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
        point.family = Family::awmf;
        point.regularizer = regularizer;
        points.push_back(point);
      }
    }
  }
  return points;
}

/// What a point gives depends on nothing but the point: not on the order, on what was trained before, on a
/// journal, on the other diagonal.
TEST_F(PointsTest, AResultIsAFunctionOfThePointAlone) {
  const std::vector<ModelParameters> points = many_points();
  Trainer shared = trainer(Keep::shared_parts);
  Points first(shared, {}, nullptr, {.threads = 2});
  first.measure(points, Diagonals::both);
  Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
  Trainer other = trainer(Keep::shared_parts);
  Points second(other, {}, &journal, {.threads = 1});
  for (auto point = points.rbegin(); point != points.rend(); ++point) second.measure({*point});
  for (const ModelParameters& point : points) {
    SCOPED_TRACE(first.key(point));
    Trainer alone = trainer(Keep::nothing);
    const Trained trained = alone.train(point);
    const PointResult& a = first.at(point);
    const PointResult& b = second.at(point);
    EXPECT_EQ(a.objective, trained.objective);
    EXPECT_EQ(b.objective, trained.objective);
    EXPECT_EQ(a.certificate.absolute, b.certificate.absolute);
    ASSERT_EQ(a.validation.size(), 3U);
    for (std::size_t k = 0; k < a.validation.size(); ++k) {
      EXPECT_EQ(a.validation[k].second.mean, b.validation[k].second.mean);
      EXPECT_EQ(a.validation[k].second.standard_error, b.validation[k].second.standard_error);
    }
  }
}

TEST_F(PointsTest, TheJournalSparesTheWork) {
  const std::vector<ModelParameters> points = many_points();
  {
    Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
    Trainer shared = trainer(Keep::shared_parts);
    Points(shared, {}, &journal, {}).measure(points);
    EXPECT_EQ(journal.size(), points.size());
  }
  Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
  Trainer shared = trainer(Keep::shared_parts);
  int trained = 0;
  Points again(shared, {}, &journal, {}, {.trained = [&](const auto&, auto, auto) { ++trained; }});
  again.measure(points);
  EXPECT_EQ(trained, 0);
  EXPECT_GT(again.at(points[0]).validation[0].second.mean, 0);
}

TEST_F(PointsTest, StopsBetweenPointsWhenTheTimeIsUp) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {}, {}, Points::Clock::now());
  EXPECT_EQ(points.measure(many_points()).size(), many_points().size());
}

/// A lambda at which not even float64 has an inverse ends that point, not the search.
TEST_F(PointsTest, APointWithoutAModelIsNotTheEnd) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  SearchSpace space{.lambda = {10}, .alpha = {2, 1e30}, .expand = false, .both_diagonals = true};
  const SearchResult result = search(points, space);
  EXPECT_EQ(result.points.size(), 2U);
  EXPECT_EQ(result.best->weighting.alpha, 2);
  EXPECT_TRUE(points.at(result.points.front()).failure.empty());
  EXPECT_FALSE(points.at(result.points.back()).failure.empty());
  space.alpha = {1e30};
  EXPECT_FALSE(search(points, space).best);
}

TEST_F(PointsTest, SearchingStopsEarlyAndTheChosenOneDoesNot) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const SearchSpace space{.base = {.family = Family::wmf, .rank = 5}, .lambda = {1, 10}, .alpha = {1, 5}};
  const SearchResult result = search(points, space);
  EXPECT_GT(result.weighted->least_decrease, space.base.least_decrease);
  const ModelParameters chosen = to_convergence(*result.weighted, space);
  EXPECT_EQ(chosen.least_decrease, space.base.least_decrease);
  EXPECT_EQ(chosen.tolerance, space.base.tolerance);
  EXPECT_LE(shared.train(chosen).objective, points.at(*result.weighted).objective);
}

/// By profiles a kind ends with converged models, each place counts once, and a search that stops anywhere
/// names what it would have trained again.
TEST_F(PointsTest, ProfilesEndWithConvergedModels) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  SearchSpace space{.base = {.family = Family::awmf, .rank = 3},
                    .method = SearchMethod::best,
                    .lambda = {1, 100},
                    .alpha = {0.5, 4}};
  const SearchResult whole = search(points, space);
  ASSERT_TRUE(whole.complete);
  std::set<std::pair<double, double>> places;
  std::size_t converged = 0;
  for (const ModelParameters& point : whole.points) {
    EXPECT_TRUE(places.emplace(point.weighting.alpha, point.lambda).second);
    converged += point.least_decrease == space.base.least_decrease ? 1 : 0;
  }
  for (const auto& chosen : {whole.weighted, whole.down_weighted}) {
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->least_decrease, space.base.least_decrease);
    EXPECT_EQ(chosen->tolerance, space.base.tolerance);
  }
  EXPECT_GE(converged, 2U);
  EXPECT_LT(converged, whole.points.size());
  EXPECT_EQ(whole.unweighted->least_decrease, 1e-4);

  const std::size_t trained = points.measured().size();
  EXPECT_GT(trained, whole.points.size());
  for (std::size_t most = 1; most < trained; ++most) {
    space.most_points = most;
    const SearchResult part = search(points, space);
    EXPECT_FALSE(part.complete) << most;
    EXPECT_FALSE(part.missing.empty()) << most;
    ASSERT_TRUE(part.best) << most;
    EXPECT_NE(points.find(*part.best), nullptr);
  }
}

TEST_F(PointsTest, WithoutWeightsAlphaIsOnePoint) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const SearchSpace space{.lambda = {1, 10},
                          .alpha = {1, 2},
                          .scheme = {Scheme::none, Scheme::constant, Scheme::log},
                          .expand = false};
  const SearchResult result = search(points, space);
  // none: 2; constant: 2 x 2; log: 2 x 2.
  EXPECT_EQ(result.points.size(), 10U);
  EXPECT_TRUE(result.unweighted->unweighted());
  EXPECT_FALSE(result.weighted->unweighted());
}

class RaceOfPointsTest : public PointsTest {
 protected:
  void SetUp() override {
    PointsTest::SetUp();
    // Feedback with tastes, so that points differ: the last users' items are their histories and, every third
    // one, what is to be found.
    constexpr std::int64_t training = 600;
    constexpr std::int64_t held_out = 160;
    const Csr all = synthesize({.scale = 0.32}, {});
    Dataset& dataset = data_.dataset;
    dataset = testing::random_dataset(
        {.users = training, .items = all.cols, .held_out_users = held_out, .density = 0.001});
    const auto put = [](Csr& matrix, std::int32_t item) { matrix.indices.push_back(item); };
    const auto end_row = [](Csr& matrix) {
      matrix.offsets.push_back(matrix.entries());
      ++matrix.rows;
    };
    for (Csr* const matrix : {&dataset.train, &dataset.validation->fold_in, &dataset.validation->targets})
      *matrix = Csr{.cols = all.cols};
    for (std::int64_t user = 0; user < training + held_out; ++user) {
      const std::span<const std::int32_t> items = all.view().row(user);
      for (std::size_t k = 0; k < items.size(); ++k) {
        put(user < training ? dataset.train
            : k % 3 == 2    ? dataset.validation->targets
                            : dataset.validation->fold_in,
            items[k]);
      }
      if (user < training) {
        end_row(dataset.train);
      } else {
        end_row(dataset.validation->fold_in);
        end_row(dataset.validation->targets);
      }
    }
  }

  static ModelParameters with_lambda(double lambda) { return {.lambda = lambda}; }
  static Racing against(const Points& points, const ModelParameters& leader) {
    return [&points, leader](const ModelParameters& point) -> std::optional<Race> {
      ModelParameters own = leader;
      own.zero_diagonal = point.zero_diagonal;
      const std::optional<Rival> rival = points.rival(own);
      if (!rival) return {};
      return Race{.users = points.users(), .leader = *rival};
    };
  }
};

/// A point that loses is not scored to the end, not chosen, kept, and known again; one that is known as a
/// whole loses the same race in the same way.
TEST_F(RaceOfPointsTest, ALoserIsCutKeptAndNeverChosen) {
  const ModelParameters good = with_lambda(300);
  const ModelParameters bad = with_lambda(0.01);
  Standing standing;
  {
    Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
    Trainer shared = trainer(Keep::shared_parts);
    Points points(shared, {}, &journal, {});
    points.measure({good});
    points.measure({bad}, Diagonals::as_asked, against(points, good));
    const PointResult& cut = points.at(bad);
    ASSERT_TRUE(cut.cut);
    standing = *cut.cut;
    EXPECT_LT(standing.users, points.users());
    EXPECT_TRUE(cut.validation.empty());
    EXPECT_FALSE(std::isfinite(cut.score(points.options().choice)));
    EXPECT_FALSE(points.rival(bad));
    EXPECT_EQ(cut.figures(points.options().choice).front().second.mean, standing.mean);
    const SearchResult result = best_of(points, {bad, good});
    EXPECT_EQ(result.best->lambda, good.lambda);
    EXPECT_EQ(result.scorings.done, points.users() + standing.users);
    EXPECT_EQ(result.scorings.spared, points.users() - standing.users);
    EXPECT_FALSE(best_of(points, {bad}).best);
  }
  Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
  Trainer shared = trainer(Keep::shared_parts);
  int trained = 0;
  Points again(shared, {}, &journal, {}, {.trained = [&](const auto&, auto, auto) { ++trained; }});
  again.measure({good});
  again.measure({bad}, Diagonals::as_asked, against(again, good));
  EXPECT_EQ(trained, 0);
  ASSERT_TRUE(again.at(bad).cut);
  EXPECT_EQ(again.at(bad).cut->mean, standing.mean);
  // Without a race there is no way around scoring it; then it is known as a whole.
  again.measure({bad});
  EXPECT_EQ(trained, 0);  // it is no new point
  EXPECT_FALSE(again.at(bad).cut);
  const auto as_before = again.lost(bad, against(again, good)(bad));
  ASSERT_TRUE(as_before);
  EXPECT_EQ(as_before->mean, standing.mean);
  EXPECT_EQ(as_before->users, standing.users);
}

/// What was cut in one race goes on where another leader does not beat it as clearly.
TEST_F(RaceOfPointsTest, AWeakerLeaderNeedsMoreUsers) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const ModelParameters good = with_lambda(300);
  const ModelParameters bad = with_lambda(0.01);
  points.measure({good, with_lambda(0.0101)});
  points.measure({bad}, Diagonals::as_asked, against(points, good));
  ASSERT_TRUE(points.at(bad).cut);
  points.measure({bad}, Diagonals::as_asked, against(points, with_lambda(0.0101)));
  EXPECT_FALSE(points.at(bad).cut);
}

/// A point in doubt is scored on more users, and may be cut again; what is known of it as a whole loses the
/// same race after as many.
TEST_F(RaceOfPointsTest, MoreUsersAreScoredWhereMoreAreAskedFor) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const ModelParameters good = with_lambda(300);
  const ModelParameters bad = with_lambda(0.01);
  points.measure({good});
  points.measure({bad}, Diagonals::as_asked, against(points, good));
  ASSERT_TRUE(points.at(bad).cut);
  const Standing first = *points.at(bad).cut;
  Race longer = *against(points, good)(bad);
  longer.least = 2 * first.users;
  points.measure({bad}, Diagonals::as_asked, [&](const auto&) { return longer; });
  ASSERT_TRUE(points.at(bad).cut);
  EXPECT_GE(points.at(bad).cut->users, longer.least);
  EXPECT_LT(points.at(bad).cut->users, points.users());
  const Standing second = *points.at(bad).cut;
  points.measure({bad});
  EXPECT_EQ(points.lost(bad, longer)->mean, second.mean);
  EXPECT_EQ(points.lost(bad, against(points, good)(bad))->mean, first.mean);
  longer.least = points.users();
  EXPECT_FALSE(points.lost(bad, longer));
}

/// With races a search tries fewer users, and says so; the leader of each kind is scored on all of them.
TEST_F(RaceOfPointsTest, ASearchSparesScoringsAndChoosesTheSame) {
  const SearchSpace space{.method = SearchMethod::best, .lambda = {10, 10'000}, .alpha = {0.3, 4}};
  Trainer shared = trainer(Keep::shared_parts);
  Points all(shared, {.race = false}, nullptr, {});
  Points raced(shared, {}, nullptr, {});
  const SearchResult slow = search(all, space);
  const SearchResult fast = search(raced, space);
  EXPECT_EQ(slow.scorings.spared, 0);
  EXPECT_GT(fast.scorings.spared, 0);
  for (const auto chosen :
       {&SearchResult::unweighted, &SearchResult::weighted, &SearchResult::down_weighted}) {
    ASSERT_TRUE(slow.*chosen && fast.*chosen);
    const Metric& metric = all.options().choice;
    EXPECT_NEAR(all.at(*(slow.*chosen)).score(metric), raced.at(*(fast.*chosen)).score(metric), 2e-3);
    // With so few users another device's rounding may decide between alphas that are alike.
    if (shared.backend().name() == to_string(BackendKind::cpu)) {
      EXPECT_EQ(all.key(*(slow.*chosen)), all.key(*(fast.*chosen)));
    }
  }
  for (const SearchProfile& profile : fast.profiles) EXPECT_FALSE(raced.at(*profile.best).cut);
}

/// The same where points stop early and are trained again: neither what is trained again nor the choice may
/// depend on a point that was cut.
TEST_F(RaceOfPointsTest, WhatIsTrainedAgainIsChosenAlike) {
  SearchSpace space{.base = {.family = Family::awmf, .rank = 6},
                    .method = SearchMethod::best,
                    .lambda = {0.1, 1000},
                    .alpha = {0.1, 10}};
  Trainer shared = trainer(Keep::shared_parts);
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::dropout}) {
    space.base.regularizer = regularizer;
    Points all(shared, {.race = false}, nullptr, {});
    Points raced(shared, {}, nullptr, {});
    const SearchResult slow = search(all, space);
    const SearchResult fast = search(raced, space);
    EXPECT_GT(fast.scorings.spared, 0);
    if (shared.backend().name() != to_string(BackendKind::cpu)) continue;
    std::vector<std::string> slow_keys;
    std::vector<std::string> fast_keys;
    for (const ModelParameters& point : slow.points) slow_keys.push_back(all.key(point));
    for (const ModelParameters& point : fast.points) fast_keys.push_back(raced.key(point));
    EXPECT_EQ(slow_keys, fast_keys);
    for (const auto chosen :
         {&SearchResult::unweighted, &SearchResult::weighted, &SearchResult::down_weighted}) {
      ASSERT_TRUE(slow.*chosen && fast.*chosen);
      EXPECT_EQ(all.key(*(slow.*chosen)), raced.key(*(fast.*chosen)));
    }
  }
}

/// Two searches side by side try what each would try alone, and choose the same; what both want at a time is
/// one solve.
TEST_F(RaceOfPointsTest, SideBySideIsAsAlone) {
  SearchSpace space{.method = SearchMethod::best, .lambda = {30, 3000}, .alpha = {0.5, 1}};
  std::vector<SearchSpace> both = {space, space};
  both[1].base.zero_diagonal = true;
  Trainer shared = trainer(Keep::shared_parts);
  int solves = 0;
  Points together(shared, {}, nullptr, {}, {.trained = [&](const auto&, auto, auto) { ++solves; }});
  const std::vector<SearchResult> found = search(together, both);
  ASSERT_EQ(found.size(), 2U);
  std::size_t points = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    Points alone(shared, {}, nullptr, {});
    const SearchResult expected = search(alone, both[k]);
    EXPECT_TRUE(found[k].complete);
    ASSERT_EQ(found[k].points.size(), expected.points.size());
    for (std::size_t p = 0; p < expected.points.size(); ++p)
      EXPECT_EQ(together.key(found[k].points[p]), alone.key(expected.points[p]));
    EXPECT_EQ(together.key(*found[k].best), alone.key(*expected.best));
    EXPECT_EQ(found[k].scorings.done, expected.scorings.done);
    points += expected.points.size();
  }
  EXPECT_LT(solves, static_cast<int>(points));
  EXPECT_LE(together.measured().size(), points);
}

/// Out of points, a search keeps to its own number while the other one goes on.
TEST_F(RaceOfPointsTest, SideBySideEachHasItsOwnPoints) {
  const SearchSpace space{.method = SearchMethod::best, .lambda = {30, 3000}, .alpha = {0.5, 1}};
  std::vector<SearchSpace> both = {space, space};
  both[0].most_points = 4;
  both[1].base.zero_diagonal = true;
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const std::vector<SearchResult> found = search(points, both);
  EXPECT_FALSE(found[0].complete);
  EXPECT_EQ(found[0].points.size(), 4U);
  EXPECT_FALSE(found[0].missing.empty());
  EXPECT_TRUE(found[1].complete);
  EXPECT_TRUE(found[1].missing.empty());
}

/// What was cut is held for more scoring as long as there is room: a search that may hold nothing trains it
/// again, and comes to the same.
TEST_F(RaceOfPointsTest, WithoutRoomModelsAreTrainedAgain) {
  const SearchSpace space{.method = SearchMethod::best, .lambda = {10, 10'000}, .alpha = {0.3, 4}};
  Trainer wide = trainer(Keep::shared_parts);
  Points roomy(wide, {}, nullptr, {});
  const SearchResult expected = search(roomy, space);
  const auto least = static_cast<std::uint64_t>(wide.expected_bytes(with_lambda(1)));
  Trainer narrow(data_, {}, Keep::shared_parts, least, *backend_, {});
  Points tight(narrow, {}, nullptr, {});
  const SearchResult found = search(tight, space);
  EXPECT_EQ(tight.key(*found.best), roomy.key(*expected.best));
  EXPECT_EQ(found.scorings.done, expected.scorings.done);
}

}  // namespace
}  // namespace poise
