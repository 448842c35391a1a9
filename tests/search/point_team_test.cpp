#include "poise/search/point_team.hpp"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "comm/mailboxes.hpp"
#include "support/random_dataset.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

LoadedDataset team_data() {
  return {
      testing::random_dataset({.users = 80, .items = 25, .held_out_users = 30, .density = 0.25, .seed = 9}),
      "checksum of these data"};
}

ModelParameters team_point(Family family, double lambda, double alpha, bool zero_diagonal = false) {
  ModelParameters point{.family = family, .zero_diagonal = zero_diagonal, .rank = 5, .lambda = lambda};
  point.weighting.alpha = alpha;
  return point;
}

std::vector<ModelParameters> team_points() {
  std::vector<ModelParameters> points;
  for (const double lambda : {0.5, 3.0, 20.0}) {
    for (const double alpha : {1.0, 2.5}) {
      for (const bool zero : {false, true})
        points.push_back(team_point(Family::full_rank, lambda, alpha, zero));
      points.push_back(team_point(Family::wmf, lambda, alpha));
      points.push_back(team_point(Family::awmf, lambda, alpha));
    }
  }
  return points;
}

/// One process of a team: its own trainer, and points without a journal.
struct Member {
  explicit Member(const LoadedDataset& data)
      : trainer(data, {}, Keep::shared_parts, 1U << 30U, *backend, {.threads = 1}),
        points(trainer, {}, nullptr, {.threads = 1}) {}
  std::unique_ptr<Backend> backend = testing::tested_backend(1);
  Trainer trainer;
  Points points;
};

void expect_same(const PointResult& a, const PointResult& b) {
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.certificate.relative, b.certificate.relative);
  EXPECT_EQ(a.sample, b.sample);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.cut.has_value(), b.cut.has_value());
  ASSERT_EQ(a.validation.size(), b.validation.size());
  for (std::size_t k = 0; k < a.validation.size(); ++k)
    EXPECT_EQ(a.validation[k].second.mean, b.validation[k].second.mean);
}

TEST(PointTeam, PointsThatShareAnInverseAreAGroup) {
  const auto groups = PointTeam::groups_of(team_points(), {}, Diagonals::as_asked);
  // Full rank: one for each lambda, with two alphas and both diagonals; awmf: one for each lambda; wmf: each
  // point.
  ASSERT_EQ(groups.size(), 3 + 3 + 6);
  for (const PointGroup& group : groups) {
    const Family family = group.points.front().family;
    EXPECT_EQ(group.points.size(), family == Family::full_rank ? 4 : family == Family::awmf ? 2 : 1);
    EXPECT_EQ(group.races.size(), group.points.size());
    for (const ModelParameters& point : group.points) EXPECT_EQ(point.lambda, group.points.front().lambda);
  }
}

TEST(PointTeam, MessagesLoseNothing) {
  const std::vector<std::int32_t> leader = {1, 2, 3};
  const std::vector<std::int32_t> other = {4, -5, 6};
  const Race race{
      .users = 100, .leader = {1.0 / 3, leader}, .alike = {{2.0 / 7, other}, {0, leader}}, .least = 7};
  const PointGroup group{
      .points = {team_point(Family::full_rank, 1.0 / 3, 0.1, true), team_point(Family::wmf, 2, 3)},
      .races = {race, std::nullopt},
      .diagonals = Diagonals::both,
      .seconds = 0.25};
  const ReceivedGroup received(message_of(group));
  const PointGroup& copy = received.group();
  ASSERT_EQ(copy.points.size(), 2);
  EXPECT_EQ(copy.points[0].lambda, 1.0 / 3);
  EXPECT_TRUE(copy.points[0].zero_diagonal);
  EXPECT_EQ(copy.points[1].family, Family::wmf);
  EXPECT_EQ(copy.diagonals, Diagonals::both);
  EXPECT_EQ(copy.seconds, 0.25);
  ASSERT_TRUE(copy.races[0] && !copy.races[1]);
  EXPECT_EQ(copy.races[0]->users, 100);
  EXPECT_EQ(copy.races[0]->least, 7);
  EXPECT_EQ(copy.races[0]->leader.mean, 1.0 / 3);
  EXPECT_TRUE(std::ranges::equal(copy.races[0]->leader.values, leader));
  ASSERT_EQ(copy.races[0]->alike.size(), 2);
  EXPECT_EQ(copy.races[0]->alike[0].mean, 2.0 / 7);
  EXPECT_TRUE(std::ranges::equal(copy.races[0]->alike[0].values, other));

  PointResult cut{.parameters = group.points[1], .objective = 1e300 / 3};
  cut.sample = {.users = 100, .values = {{"ndcg@100", {1, 2}}}};
  cut.cut = Standing{.mean = 0.1, .error = 1.0 / 3, .users = 2};
  const PointResult failed{.parameters = group.points[0], .failure = "too ill-conditioned"};
  const PointAnswer answer =
      answer_in(message_of(PointAnswer{.results = {cut, failed}, .left = {group.points[0]}, .seconds = 2}));
  ASSERT_EQ(answer.results.size(), 2);
  expect_same(answer.results[0], cut);
  EXPECT_EQ(answer.results[0].cut->mean, 0.1);
  EXPECT_EQ(answer.results[0].cut->error, 1.0 / 3);
  EXPECT_EQ(answer.results[0].cut->users, 2);
  expect_same(answer.results[1], failed);
  ASSERT_EQ(answer.left.size(), 1);
  EXPECT_EQ(answer.left[0].lambda, 1.0 / 3);
}

TEST(PointTeam, AllTrainAndTheResultsAreThoseOfOne) {
  const LoadedDataset data = team_data();
  Member alone(data);
  alone.points.measure(team_points());

  constexpr int size = 3;
  testing::Mailboxes all(size);
  std::vector<std::size_t> trained_by(size);
  std::vector<std::thread> others;
  for (int rank = 1; rank < size; ++rank) {
    others.emplace_back([&, rank] {
      Processes processes(std::make_unique<testing::MailboxTransport>(all, rank));
      Member member(data);
      serve_points(processes, member.points);
      trained_by[static_cast<std::size_t>(rank)] = member.points.measured().size();
    });
  }
  Processes processes(std::make_unique<testing::MailboxTransport>(all, 0));
  Member first(data);
  std::size_t announced = 0;
  Points points(first.trainer, {}, nullptr, {.threads = 1},
                {.trained = [&](const PointResult&, std::size_t, double) { ++announced; }});
  {
    PointTeam team(processes, first.points);
    points.share_with(&team);
    EXPECT_TRUE(points.measure(team_points()).empty());
    EXPECT_TRUE(points.measure(team_points()).empty());  // known: nothing is handed out again
    points.drop_models();
    points.end_at(Points::Clock::now());
    const std::vector<ModelParameters> late = {team_point(Family::wmf, 9, 1), team_point(Family::wmf, 8, 1)};
    EXPECT_EQ(points.measure(late).size(), 2);
    points.share_with(nullptr);
  }
  for (std::thread& other : others) other.join();
  trained_by[0] = first.points.measured().size();
  for (const std::size_t trained : trained_by) EXPECT_GT(trained, 0);
  EXPECT_EQ(announced, team_points().size());
  for (const ModelParameters& point : team_points()) {
    SCOPED_TRACE(alone.points.key(point));
    expect_same(alone.points.at(point), points.at(point));
  }
}

TEST(PointTeam, OtherWorkIsHandedOutToAll) {
  const LoadedDataset data = team_data();
  constexpr int size = 3;
  testing::Mailboxes all(size);
  std::vector<std::thread> others;
  for (int rank = 1; rank < size; ++rank) {
    others.emplace_back([&, rank] {
      Processes processes(std::make_unique<testing::MailboxTransport>(all, rank));
      Member member(data);
      serve_points(processes, member.points,
                   [&](const std::string& message) { return message + " by " + std::to_string(rank); });
    });
  }
  Processes processes(std::make_unique<testing::MailboxTransport>(all, 0));
  Member first(data);
  std::vector<std::string> answers(20);
  std::size_t late = 0;
  {
    PointTeam team(processes, first.points);
    std::vector<std::string> messages;
    for (std::size_t k = 0; k < answers.size(); ++k) messages.push_back(std::to_string(k));
    const OtherWork own = [&](const std::string& message) { return message + " by 0"; };
    team.each(messages, {}, own, [&](std::size_t k, std::string answer) { answers[k] = std::move(answer); });
    team.each(messages, Points::Clock::now(), own, [&](std::size_t, const std::string&) { ++late; });
  }
  for (std::thread& other : others) other.join();
  EXPECT_EQ(late, 0);
  std::vector<int> done(size, 0);
  for (std::size_t k = 0; k < answers.size(); ++k) {
    ASSERT_TRUE(answers[k].starts_with(std::to_string(k) + " by ")) << answers[k];
    ++done[static_cast<std::size_t>(answers[k].back() - '0')];
  }
  for (const int count : done) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace poise
