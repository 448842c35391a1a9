#include "poise/recommend/recommend.hpp"

#include <atomic>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "poise/linalg/top_k.hpp"

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/table_scorer.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::random_csr;
using testing::random_matrix;
using testing::TableScorer;
using Items = std::vector<std::int32_t>;

Items items(const RankedLists& lists, std::int64_t row) {
  return {lists.items(row).begin(), lists.items(row).end()};
}

/// Two users: the first has item 4, the second has nothing.
class Recommend : public ::testing::Test {
 protected:
  Recommend() : scorer(make_table()) {}

  static Matrix<float> make_table() {
    Matrix<float> table(2, 5);
    const float scores[2][5] = {{1, 2, 3, 4, 5}, {7, 7, 9, 7, 0}};
    for (int u = 0; u < 2; ++u) std::copy(scores[u], scores[u] + 5, table.row(u).begin());
    return table;
  }
  RankedLists run(const RecommendOptions& options) const {
    return recommend(scorer, histories.view(), options, {.threads = 1});
  }

  TableScorer scorer;
  Csr histories{.rows = 2, .cols = 5, .offsets = {0, 1, 1}, .indices = {4}, .values = {}};
};

/// What a user dislikes is never recommended, even where their own items are.
TEST_F(Recommend, NothingThatIsDisliked) {
  const Csr disliked{.rows = 2, .cols = 5, .offsets = {0, 2, 3}, .indices = {1, 3, 2}};
  const UserRows users(histories.view(), disliked.view());
  const RankedLists lists = recommend(scorer, users, {.k = 5}, {.threads = 1});
  EXPECT_EQ(items(lists, 0), (Items{2, 0}));
  EXPECT_EQ(items(lists, 1), (Items{0, 1, 3, 4}));
  const RankedLists with_history =
      recommend(scorer, users, {.k = 5, .exclude_history = false, .exclude = {0}}, {.threads = 1});
  EXPECT_EQ(items(with_history, 0), (Items{4, 2}));
  EXPECT_EQ(items(with_history, 1), (Items{1, 3, 4}));
  const Csr other{.rows = 1, .cols = 5, .offsets = {0, 0}};
  expect_error(ErrorKind::input, "the dislikes are 1 x 5", [&] {
    recommend(scorer, {histories.view(), other.view()}, {}, {.threads = 1});
  });
}

TEST_F(Recommend, LeavesOutTheHistory) {
  const RankedLists lists = run({.k = 3});
  EXPECT_EQ(items(lists, 0), (Items{3, 2, 1}));
  EXPECT_EQ(items(lists, 1), (Items{2, 0, 1}));
  EXPECT_EQ(lists.scores(1)[0], 9.0F);
  EXPECT_EQ(items(run({.k = 3, .exclude_history = false}), 0), (Items{4, 3, 2}));
}

TEST_F(Recommend, ExcludeAndOnlyInAnyOrder) {
  const RankedLists without = run({.k = 2, .exclude = {3, 0, 3}});
  EXPECT_EQ(items(without, 0), (Items{2, 1}));
  EXPECT_EQ(items(without, 1), (Items{2, 1}));
  const RankedLists within = run({.k = 4, .exclude = {0}, .only = Items{4, 1, 0, 1}});
  EXPECT_EQ(items(within, 0), (Items{1}));
  EXPECT_EQ(items(within, 1), (Items{1, 4}));
  EXPECT_EQ(items(run({.k = 2, .exclude_history = false, .exclude = {4}}), 0), (Items{3, 2}));
  EXPECT_EQ(run({.k = 2, .only = Items{}}).size(1), 0);
}

TEST_F(Recommend, LeavesOutWhatWasSeen) {
  const Csr seen{.rows = 2, .cols = 5, .offsets = {0, 2, 3}, .indices = {0, 3, 2}, .values = {}};
  const RankedLists lists = run({.k = 5, .seen = seen.view(), .exclude = {1}});
  EXPECT_EQ(items(lists, 0), (Items{2}));
  EXPECT_EQ(items(lists, 1), (Items{0, 3, 4}));
  EXPECT_EQ(items(run({.k = 1, .exclude_history = false, .seen = seen.view()}), 0), (Items{4}));
  EXPECT_EQ(items(run({.k = 5, .seen = seen.view(), .only = Items{0, 1, 2}}), 1), (Items{0, 1}));
  const Csr other{.rows = 1, .cols = 5, .offsets = {0, 0}};
  expect_error(ErrorKind::input, "what was seen is 1 x 5", [&] { run({.seen = other.view()}); });
}

TEST_F(Recommend, ShortListsInsteadOfLeftOutItems) {
  const RankedLists lists = run({.k = 1'000'000'000'000});
  EXPECT_EQ(items(lists, 0), (Items{3, 2, 1, 0}));
  EXPECT_EQ(lists.size(1), 5);
  EXPECT_EQ(run({.k = 3, .exclude = {0, 1, 2, 3, 4}}).size(0), 0);
}

TEST_F(Recommend, RefusesWhatMakesNoSense) {
  expect_error(ErrorKind::usage, "k is 0", [&] { run({.k = 0}); });
  expect_error(ErrorKind::input, "item number 5 ", [&] { run({.exclude = {1, 5}}); });
  expect_error(ErrorKind::input, "item number -1 ", [&] { run({.only = Items{-1}}); });
  histories.cols = 6;
  expect_error(ErrorKind::input, "over 6 items but the model knows 5", [&] { run({}); });
}

TEST(RecommendBlocks, EveryUserGetsTheirOwnListWhateverTheThreads) {
  constexpr std::int64_t users = 333;
  const Matrix<float> table = random_matrix<float>(users, 150, 1, 30);
  const TableScorer scorer(table);
  const Csr histories = random_csr(users, 150, 0.3, true, 2);
  const RecommendOptions options{.k = 40, .exclude = {7, 8, 9}};
  const RankedLists one = recommend(scorer, histories.view(), options, {.threads = 1});
  ASSERT_EQ(one.rows(), users);
  for (std::int64_t u = 0; u < users; ++u) {
    Items excluded(histories.view().row(u).begin(), histories.view().row(u).end());
    excluded.insert(excluded.end(), {7, 8, 9});
    std::sort(excluded.begin(), excluded.end());
    Items wanted(40);
    std::vector<float> scores(40);
    wanted.resize(top_k(table.row(u), {.excluded = excluded}, wanted, scores));
    ASSERT_EQ(items(one, u), wanted) << "user " << u;
  }
  for (const int threads : {2, 5}) {
    const RankedLists many = recommend(scorer, histories.view(), options, {.threads = threads});
    for (std::int64_t u = 0; u < users; ++u) {
      ASSERT_EQ(items(many, u), items(one, u));
      ASSERT_TRUE(std::equal(many.scores(u).begin(), many.scores(u).end(), one.scores(u).begin()));
    }
  }
}

TEST(RecommendBlocks, NobodyToRecommendTo) {
  const TableScorer scorer(Matrix<float>(0, 5));
  const Csr histories{.rows = 0, .cols = 5, .offsets = {0}};
  EXPECT_EQ(recommend(scorer, histories.view(), {}, {}).rows(), 0);
}

TEST(RecommendBlocks, NanScoreIsAnErrorOnAnyThread) {
  Matrix<float> table = random_matrix<float>(200, 30, 1);
  table(130, 17) = std::numeric_limits<float>::quiet_NaN();
  const TableScorer scorer(std::move(table));
  const Csr histories = random_csr(200, 30, 0, false, 2);
  for (const int threads : {1, 2, 5}) {
    expect_error(ErrorKind::numerical, "item number 17 ",
                 [&] { recommend(scorer, histories.view(), {}, {.threads = threads}); });
  }
}

class Counter final : public Observer {
 public:
  explicit Counter(bool stop) : stop_(stop) {}
  void start(std::string_view /*task*/, std::uint64_t total, std::string_view /*unit*/) override {
    total_ = total;
  }
  void advance(std::uint64_t amount) override { done += amount; }
  [[nodiscard]] bool stop_requested() const override { return stop_; }

  std::atomic<std::uint64_t> done = 0;
  std::uint64_t total_ = 0;

 private:
  bool stop_;
};

TEST(RecommendBlocks, ReportsEveryUserAndStopsWhenAsked) {
  const TableScorer scorer(Matrix<float>(200, 30));
  const Csr histories = random_csr(200, 30, 0, false, 2);
  Counter counter(false);
  recommend(scorer, histories.view(), {}, {.threads = 2, .observer = &counter});
  EXPECT_EQ(counter.total_, 200);
  EXPECT_EQ(counter.done, 200);
  Counter stopper(true);
  expect_error(ErrorKind::interrupted, "interrupted",
               [&] { recommend(scorer, histories.view(), {}, {.threads = 2, .observer = &stopper}); });
}

}  // namespace
}  // namespace poise
