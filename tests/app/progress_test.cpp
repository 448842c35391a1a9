#include "progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "point_progress.hpp"

namespace poise::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A clock that a test turns, and a page that keeps each write.
struct FakeScreen {
  double now = 0;
  std::vector<std::string> written;

  Screen screen(bool terminal, std::size_t width = 200) {
    return {.terminal = terminal,
            .width = width,
            .seconds = [this] { return now; },
            .write = [this](std::string_view text) { written.emplace_back(text); }};
  }
};

const Metric ndcg = {MetricKind::ndcg, 100};

PointResult point(double alpha, double score) {
  PointResult result;
  result.parameters.lambda = 100;
  result.parameters.weighting.alpha = alpha;
  result.validation = {{"ndcg@100", {.mean = score, .standard_error = {}}}};
  return result;
}

TEST(Progress, ALongTaskHasALineEveryFewSeconds) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  observer.start("inverting", 100, "blocks");
  for (int k = 0; k < 100; ++k) {
    fake.now += 0.12;
    observer.advance(1);
  }
  observer.finish();
  ASSERT_EQ(fake.written.size(), 2U);  // in 12 seconds
  EXPECT_THAT(fake.written[0], HasSubstr("inverting [##########"));
  EXPECT_THAT(fake.written[0], HasSubstr("42 %  8 blocks/s  7.0 s left\n"));
}

TEST(Progress, ShortTasksSayNothing) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  for (int task = 0; task < 100; ++task) {
    observer.start("measuring", 10, "columns");
    for (int k = 0; k < 10; ++k) {
      fake.now += 0.4;
      observer.advance(1);
    }
    observer.finish();
  }
  EXPECT_THAT(fake.written, ElementsAre());
}

TEST(Progress, ManyFastPointsHaveFewLines) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  {
    PointProgress progress(observer, ndcg);
    progress.begin_data("shop");
    progress.begin_model("wmf, rank 10");
    for (int k = 0; k < 600; ++k) {
      observer.start("training", 0, "rounds");
      fake.now += 0.02;  // 12 seconds in all
      observer.advance(1);
      observer.finish();
      progress.trained(point(k, k == 7 ? 0.5 : 0.25), 599 - k, 0.02 * (599 - k));
    }
  }
  ASSERT_EQ(fake.written.size(), 2U);
  EXPECT_THAT(fake.written[0],
              testing::MatchesRegex("shop: 2[45].+ points done, at least 3[45].+ left, about 7.0 s; "
                                    "best ndcg@100 0.5000 .wmf, rank 10, lambda 100, alpha 7.; now wmf, "
                                    "rank 10.*\n"));
}

TEST(Progress, SlowPointsShowTheirTasksToo) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  PointProgress progress(observer, ndcg);
  progress.trained(point(1, 0.25), 9, 90);
  for (const int blocks : {4, 3, 12}) {
    observer.start("inverting", blocks, "blocks");
    for (int k = 0; k < blocks; ++k) {
      fake.now += 1;
      observer.advance(1);
    }
    observer.finish();
  }
  const std::string state =
      "1 point done, at least 9 left, about 1 min 30 s; best ndcg@100 0.2500 (lambda 100, alpha 1)";
  // In 19 seconds; a task is named once it has taken a few of them.
  EXPECT_THAT(fake.written, ElementsAre(state + "\n", state + "\n", state + " | inverting 67 %\n"));
}

TEST(Progress, PointsWithoutAModelAreAlwaysSaid) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  PointProgress progress(observer, ndcg);
  PointResult failed = point(5, 0);
  failed.validation.clear();
  failed.failure = "too ill-conditioned";
  for (int k = 0; k < 3; ++k) progress.trained(failed, 0, 0);
  EXPECT_THAT(fake.written, testing::Each("no model at lambda 100, alpha 5: too ill-conditioned\n"));
  EXPECT_EQ(fake.written.size(), 3U);
}

TEST(Progress, OtherDataBeginAnew) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(false));
  PointProgress progress(observer, ndcg);
  progress.begin_data("one");
  progress.trained(point(1, 0.9), 0, 0);
  progress.begin_data("two");
  fake.now = 6;
  progress.trained(point(2, 0.3), 0, 0);
  EXPECT_THAT(fake.written, ElementsAre("two: 1 point done; best ndcg@100 0.3000 (lambda 100, alpha 2)\n"));
}

TEST(Progress, ATerminalHasOneLineThatMessagesDoNotMix) {
  FakeScreen fake;
  TerminalObserver observer(false, fake.screen(true, 20));
  {
    PointProgress progress(observer, ndcg);
    fake.now = 1;
    progress.trained(point(1, 0.25), 9, 90);
    observer.start("training", 0, "rounds");
    observer.finish();
    observer.say("a message");
    progress.trained(point(2, 0.25), 9, 90);  // too soon to be drawn
    fake.now = 2;
    progress.trained(point(2, 0.25), 9, 90);
  }
  EXPECT_THAT(fake.written, ElementsAre("\r\x1b[K1 point done, at le…", "\r\x1b[K", "a message\n",
                                        "\r\x1b[K3 points done, at l…", "\r\x1b[K"));
}

TEST(Progress, QuietSaysNothing) {
  FakeScreen fake;
  TerminalObserver observer(true, fake.screen(true));
  PointProgress progress(observer, ndcg);
  fake.now = 10;
  progress.trained(point(1, 0.25), 9, 90);
  observer.start("training", 0, "rounds");
  fake.now = 20;
  observer.advance(1);
  observer.finish();
  observer.say("a message");
  EXPECT_THAT(fake.written, ElementsAre());
}

}  // namespace
}  // namespace poise::app
