#include "poise/data/dislikes.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/resplit.hpp"
#include "poise/data/split.hpp"
#include "poise/data/validation_from_training.hpp"

#include "data/log_of.hpp"
#include "support/log_data.hpp"

namespace poise {
namespace {

using testing::log_of;
using testing::LogRow;
using Pair = std::pair<std::string, std::string>;

/// 60 users with 8 to 17 ratings of 1 to 5 for 40 items; every user dislikes an item that nobody likes, a
/// user dislikes everything, and some pairs are rated twice, high and low.
std::vector<LogRow> rated_rows() {
  std::vector<LogRow> rows;
  for (int u = 0; u < 60; ++u) {
    const std::string user = fmt::format("u{}", (u * 7) % 60);
    rows.push_back({user, "bad", 1.0F});
    for (int k = 0; k < 8 + u % 10; ++k)
      rows.push_back(
          {user, fmt::format("i{}", (u * 11 + k * k * 3) % 40), 1.0F + static_cast<float>((u + k) % 5)});
    if (u % 9 == 0) rows.push_back({user, fmt::format("i{}", (u * 11) % 40), u % 2 == 0 ? 1.0F : 5.0F});
  }
  for (int k = 0; k < 10; ++k) rows.push_back({"hates it all", fmt::format("i{}", k), 1.0F});
  return rows;
}

constexpr double below = 3;

Interactions marked_log() {
  Interactions log = log_of(rated_rows());
  mark_dislikes(log, below);
  return log;
}

/// The same rows without those that are dislikes.
Interactions liked_log() {
  std::vector<LogRow> rows = rated_rows();
  std::erase_if(rows, [](const LogRow& row) { return *row.value < below; });
  return log_of(rows);
}

void add_pairs(std::set<Pair>& pairs, const Ids& users, CsrView matrix, const Ids& items) {
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (const std::int32_t item : matrix.row(u)) pairs.emplace(users[u], items[item]);
  }
}

std::set<Pair> likes_of(const Dataset& data) {
  std::set<Pair> pairs;
  add_pairs(pairs, data.users, data.train.view(), data.items);
  for (const auto& part : {data.validation, data.test}) {
    if (!part) continue;
    if (data.split != SplitKind::given) add_pairs(pairs, part->users, part->fold_in.view(), data.items);
    add_pairs(pairs, part->users, part->targets.view(), data.items);
  }
  return pairs;
}

std::set<Pair> dislikes_of(const Dataset& data) {
  std::set<Pair> pairs;
  add_pairs(pairs, data.users, data.disliked.view(), data.items);
  for (const auto& part : {data.validation, data.test}) {
    if (part) add_pairs(pairs, part->users, data.histories(*part).disliked, data.items);
  }
  return pairs;
}

/// The pairs of the log that are only rated low, of known users and items.
std::set<Pair> expected_dislikes(const Dataset& data) {
  std::set<Pair> low;
  std::set<Pair> high;
  for (const LogRow& row : rated_rows()) (*row.value < below ? low : high).emplace(row.user, row.item);
  std::set<std::string> users;
  for (const Ids* ids : {&data.users, data.validation ? &data.validation->users : &data.users,
                         data.test ? &data.test->users : &data.users}) {
    for (std::int64_t k = 0; k < ids->size(); ++k) users.emplace((*ids)[k]);
  }
  std::set<std::string> items;
  for (std::int64_t k = 0; k < data.items.size(); ++k) items.emplace(data.items[k]);
  std::set<Pair> result;
  std::ranges::copy_if(low, std::inserter(result, result.end()), [&](const Pair& pair) {
    return !high.contains(pair) && users.contains(pair.first) && items.contains(pair.second);
  });
  return result;
}

Dataset without_dislikes(Dataset data) {
  data.disliked = {};
  data.counts.dropped_dislikes = 0;
  for (auto* part : {&data.validation, &data.test}) {
    if (*part) (*part)->disliked = {};
  }
  return data;
}

TEST(DislikesOfData, LeaveTheRestAsItIsWithoutThem) {
  const auto users = [](const Interactions& log) {
    return split_users(log, {.min_user_items = 2}, {.held_out_users = 9}, {.threads = 2});
  };
  const auto none = [](const Interactions& log) { return split_none(log, {.min_user_items = 2}, {}); };
  for (const std::function<Dataset(const Interactions&)>& split :
       {std::function<Dataset(const Interactions&)>(users), {none}}) {
    const Dataset data = split_with_dislikes(marked_log(), split, {});
    const Dataset plain = split(liked_log());
    EXPECT_EQ(without_dislikes(data), plain);
    EXPECT_EQ(encode_dataset(without_dislikes(data), {}), encode_dataset(plain, {}));
    validate(data);
    const std::set<Pair> expected = expected_dislikes(data);
    EXPECT_GT(expected.size(), 50U);
    EXPECT_EQ(dislikes_of(data), expected);
    std::set<Pair> all;
    for (const LogRow& row : rated_rows()) {
      if (*row.value < below) all.emplace(row.user, row.item);
    }
    EXPECT_EQ(data.counts.dropped_dislikes, std::ssize(all) - std::ssize(expected));
    for (const Pair& pair : likes_of(data)) EXPECT_FALSE(expected.contains(pair));
  }
}

/// The catalogue is that of the training users' likes, and users are those who like something.
TEST(DislikesOfData, MakeNeitherItemsNorUsers) {
  const Dataset data =
      split_with_dislikes(marked_log(), [](const Interactions& log) { return split_none(log, {}, {}); }, {});
  for (std::int64_t i = 0; i < data.items.size(); ++i) EXPECT_NE(data.items[i], "bad");
  for (std::int64_t u = 0; u < data.users.size(); ++u) EXPECT_NE(data.users[u], "hates it all");
}

TEST(DislikesOfData, ALogOfNothingElseIsRefused) {
  Interactions log = log_of({{"u", "a", 1.0F}, {"u", "b", 2.0F}});
  mark_dislikes(log, below);
  const auto split = [](const Interactions& liked) { return split_none(liked, {}, {}); };
  try {
    (void)split_with_dislikes(log, split, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("all 2 rows are dislikes"), std::string::npos) << error.what();
  }
}

/// Training does not know what is liked later; a target that it knows as disliked is none.
TEST(DislikesOfData, OfAGivenSplitAreThoseOfTraining) {
  Interactions train =
      log_of({{"u", "a", 5.0F}, {"u", "b", 1.0F}, {"v", "a", 5.0F}, {"v", "b", 5.0F}, {"v", "c", 4.0F}});
  mark_dislikes(train, below);
  const Interactions test = log_of({{"u", "b", 5.0F}, {"u", "c", 5.0F}, {"w", "a", 4.0F}});
  const Dataset data = split_with_dislikes(
      train, [&](const Interactions& liked) { return split_given(liked, {}, test, {}); }, {});
  validate(data);
  EXPECT_EQ(dislikes_of(data), (std::set<Pair>{{"u", "b"}}));
  EXPECT_EQ(data.counts.disliked_targets, 1);
  EXPECT_EQ(data.test->targets.entries(), 2);
  const UserRows rows = data.histories(*data.test);
  EXPECT_EQ(rows.disliked.rows, 3) << "as many as there are users";
  EXPECT_EQ(rows.disliked.row_size(0), 1);
  EXPECT_EQ(rows.disliked.row_size(2), 0);
  const auto bytes = encode_dataset(data, {});
  EXPECT_EQ(decode_dataset(Container::parse(bytes, "data"), {}), data);
  EXPECT_EQ(decode_evaluation_data(Container::parse(bytes, "data"), "test", {}).dataset.test, data.test);
}

TEST(DislikesOfData, AreWrittenAndRead) {
  const Dataset data =
      split_with_dislikes(marked_log(),
                          [](const Interactions& log) {
                            return split_users(log, {.min_user_items = 2}, {.held_out_users = 9}, {});
                          },
                          {});
  const auto bytes = encode_dataset(data, {});
  EXPECT_EQ(decode_dataset(Container::parse(bytes, "data"), {}), data);
  for (const std::string part : {"test", "validation"}) {
    const EvaluationData read = decode_evaluation_data(Container::parse(bytes, "data"), part, {});
    const HeldOut& wanted = part == "test" ? *data.test : *data.validation;
    EXPECT_EQ(part == "test" ? *read.dataset.test : *read.dataset.validation, wanted);
    EXPECT_GT(wanted.disliked.entries(), 0);
  }
}

TEST(DislikesOfData, StayWithTheirUsersInAnotherSplit) {
  const Dataset data =
      split_with_dislikes(marked_log(),
                          [](const Interactions& log) {
                            return split_users(log, {.min_user_items = 2}, {.held_out_users = 9}, {});
                          },
                          {});
  const Dataset again = split_again(data, 5, "data", {});
  validate(again);
  EXPECT_NE(again.users, data.users);
  EXPECT_EQ(dislikes_of(again), expected_dislikes(again));
  EXPECT_EQ(split_again(data, 98765, "data", {}), data);

  const Dataset given = split_with_dislikes(marked_log(),
                                            [](const Interactions& log) {
                                              return split_given(log, {}, log_of({{"u7", "i4", 5.0F}}), {});
                                            },
                                            {});
  const LoadedDataset derived = validation_from_training({given, "sum"}, 1, {});
  validate(derived.dataset);
  EXPECT_EQ(derived.dataset.disliked, given.disliked);
  EXPECT_GT(derived.dataset.histories(*derived.dataset.validation).disliked.entries(), 0);
  const Dataset given_again = split_again(given, 3, "data", {});
  validate(given_again);
  EXPECT_EQ(dislikes_of(given_again), dislikes_of(given));
}

TEST(DislikesOfData, ThatAreLikedTooAreInconsistent) {
  Dataset data =
      split_with_dislikes(marked_log(), [](const Interactions& log) { return split_none(log, {}, {}); }, {});
  data.disliked = data.train;
  data.disliked.values = {};
  EXPECT_THROW(validate(data), Error);
  data.disliked = {.rows = 1, .cols = data.items.size(), .offsets = {0, 0}};
  EXPECT_THROW(validate(data), Error);
}

TEST(DislikesOfALog, AreMarkedWhileItIsRead) {
  const std::string text = "user,item,rating\na,x,5\na,y,2\nb,x,3\nb,y,4\nb,z,1\n";
  const Interactions log = testing::read_text(text, {.keep_above = 3.5, .dislike_below = 2.5});
  EXPECT_EQ(log.disliked_rows, 2);
  EXPECT_EQ(log.below_threshold, 1) << "the row that is neither";
  EXPECT_EQ(log.low, (std::vector<std::uint8_t>{0, 2, 0, 2}));
  const Interactions seen =
      testing::read_text(text, {.keep_above = 3.5, .keep_low = true, .dislike_below = 2.5});
  EXPECT_EQ(seen.low, (std::vector<std::uint8_t>{0, 2, 1, 0, 2}));
  const Interactions all = testing::read_text(text, {.dislike_below = 2.5});
  EXPECT_EQ(all.low, (std::vector<std::uint8_t>{0, 2, 0, 0, 2})) << "without a threshold the rest is liked";
  EXPECT_EQ(testing::read_text(text).low.size(), 0U);
  EXPECT_EQ(testing::error_of(text, {.keep_above = 3, .dislike_below = 4}).kind(), ErrorKind::usage);
  EXPECT_EQ(testing::error_of("a,x\nb,y\n", {.dislike_below = 4}).kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace poise
