#include "poise/data/item_features.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/merge.hpp"
#include "poise/data/resplit.hpp"
#include "poise/data/split.hpp"
#include "poise/data/validation_from_training.hpp"

#include "data/log_of.hpp"

namespace poise {
namespace {

using testing::log_of;
using testing::LogRow;
using Entries = std::map<std::pair<std::string, std::string>, float>;

Entries entries_of(const Ids& items, const Ids& names, CsrView by_item) {
  Entries entries;
  for (std::int64_t i = 0; i < by_item.rows; ++i) {
    for (std::int64_t k = 0; k < by_item.row_size(i); ++k)
      entries[{std::string(items[i]), std::string(names[by_item.row(i)[k]])}] =
          by_item.values.empty() ? 1.0F : by_item.row_values(i)[k];
  }
  return entries;
}

Entries entries_of(const FeatureTable& table) {
  return entries_of(table.items, table.names, table.rows.view());
}

Entries entries_of(const Dataset& data) {
  return entries_of(data.items, data.features.names, transpose(data.features.rows.view()).view());
}

class ItemFeaturesTest : public ::testing::Test {
 protected:
  ItemFeaturesTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~ItemFeaturesTest() override { std::filesystem::remove_all(folder_); }

  FeatureTable read(const std::string& text, bool skip = false) {
    std::ofstream(folder_ / "features.csv", std::ios::binary) << text;
    return read_item_features(folder_ / "features.csv", skip);
  }
  FeatureTable read_further(const std::string& text, const Ids& known) {
    std::ofstream(folder_ / "further.csv", std::ios::binary) << text;
    return read_further_features(folder_ / "further.csv", known);
  }
  std::string problem(const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(ItemFeaturesTest, ReadsOneFeatureALine) {
  const FeatureTable table = read("item,feature,value\nb,red,2\na,red,1\nb,red,0.5\na,big,0\nc,big,3\n");
  EXPECT_EQ(entries_of(table), (Entries{{{"b", "red"}, 2.5F}, {{"a", "red"}, 1.0F}, {{"c", "big"}, 3.0F}}));
  EXPECT_EQ(table.duplicates, 1);
  const FeatureTable plain = read("feature;movieId\nred;1\nred;1\n\"big; heavy\";2\n");
  EXPECT_TRUE(plain.rows.values.empty());
  EXPECT_EQ(entries_of(plain), (Entries{{{"1", "red"}, 1.0F}, {{"2", "big; heavy"}, 1.0F}}));
}

TEST_F(ItemFeaturesTest, ReadsColumnsOfTextsAndNumbers) {
  std::string text = "id,genres,year,price,title\n";
  for (int k = 0; k < 40; ++k)
    text += fmt::format("m{},{},{},{},title {}\n", k, k % 2 == 0 ? "Drama|War" : "Drama", 1990 + k % 3,
                        1.5 * k, k);
  text += "m40,,,,\n";
  text += "m1,War,,,\n";
  const FeatureTable table = read(text);
  EXPECT_EQ(table.items.size(), 41);
  EXPECT_EQ(table.duplicates, 1);
  EXPECT_EQ(table.rare, 40);  // titles
  std::map<std::string, int> counts;
  for (const auto& [pair, value] : entries_of(table)) ++counts[pair.second];
  EXPECT_EQ(counts["genres=Drama"], 40);
  EXPECT_EQ(counts["genres=War"], 20);
  EXPECT_EQ(counts["year=1990"], 14);
  EXPECT_EQ(counts["year=1991"], 13);
  EXPECT_EQ(counts["price=0..4.5"], 4);
  EXPECT_EQ(counts["price=54..58.5"], 4);
  EXPECT_EQ(counts.size(), 15U);  // two genres, three years, ten ranges of prices
}

TEST_F(ItemFeaturesTest, NamesBadLines) {
  EXPECT_NE(problem("item,feature,value\na,red,1\na,big,nan\n").find("features.csv:3: the value 'nan'"),
            std::string::npos);
  EXPECT_NE(problem("item,feature,value\na,red,-1\n").find(":2: "), std::string::npos);
  EXPECT_NE(problem("item,feature,value\na,red,3e38\na,red,3e38\n").find(":3: the values of this item"),
            std::string::npos);
  EXPECT_NE(problem("item,feature,value\na,red\n").find(":2: 2 fields"), std::string::npos);
  EXPECT_NE(problem("item,feature\n,red\n").find(":2: no item id"), std::string::npos);
  EXPECT_NE(problem("item,feature\na,\n").find(":2: no feature"), std::string::npos);
  EXPECT_NE(problem("item,size\na,1\nb,2\nc,inf\n").find(":4: the size 'inf'"), std::string::npos);
  EXPECT_NE(problem("item,feature\na,\"x\n").find(":2: "), std::string::npos);
  EXPECT_NE(problem("item,feature\na,x\xff\n").find("UTF-8"), std::string::npos);
  EXPECT_NE(problem("1,red\n2,blue\n").find("should name the columns"), std::string::npos);
  EXPECT_NE(problem("").find("features.csv"), std::string::npos);
  const FeatureTable table = read("item,feature,value\na,red,1\na,big,nan\nb\nb,\"x\" y,1\nc,red,2\n", true);
  EXPECT_EQ(table.skipped_lines, 3);
  EXPECT_EQ(entries_of(table), (Entries{{{"a", "red"}, 1.0F}, {{"c", "red"}, 2.0F}}));
}

/// 40 users with six items each of twelve; the last four users alone have "late".
std::vector<LogRow> rows() {
  std::vector<LogRow> rows;
  for (int u = 0; u < 40; ++u) {
    for (int k = 0; k < 6; ++k)
      rows.push_back({fmt::format("u{}", u), fmt::format("i{}", (u + 2 * k) % 12), {}});
    if (u >= 36) rows.push_back({fmt::format("u{}", u), "late", {}});
  }
  return rows;
}

class AttachedFeaturesTest : public ItemFeaturesTest {
 protected:
  AttachedFeaturesTest() : table_(read("item,feature,value\nnew,red,1\ni3,red,2\nlate,big,3\ni5,big,1\n")) {
    known_ = items_with_features(table_);
  }

  FeatureTable table_;
  Ids known_;
};

TEST_F(AttachedFeaturesTest, ItemsWithFeaturesArePartOfTheCatalogue) {
  Dataset data = split_none(log_of(rows()), {.known_items = &known_}, {});
  attach_features(data, table_);
  validate(data);
  EXPECT_EQ(data.items.size(), 14);
  EXPECT_EQ(data.items[13], "new");
  EXPECT_EQ(cold_items(data), 1);
  EXPECT_EQ(entries_of(data), entries_of(table_));
  EXPECT_EQ(data.counts.unknown_feature_items, 0);
  const Dataset plain = split_none(log_of(rows()), {}, {});
  EXPECT_EQ(plain.items.size(), 13);
  EXPECT_EQ(plain.train.indices, data.train.indices);
}

TEST_F(AttachedFeaturesTest, FilteredItemsStayOut) {
  Dataset data = split_none(log_of(rows()), {.min_item_users = 5, .known_items = &known_}, {});
  attach_features(data, table_);
  EXPECT_EQ(data.items.size(), 13);  // without "late", with "new"
  EXPECT_EQ(data.counts.unknown_feature_items, 1);
  EXPECT_EQ(data.features.names.size(), 2);
}

TEST_F(AttachedFeaturesTest, HeldOutUsersKeepItemsThatNobodyTrains) {
  const auto split = [&](const Ids* known) {
    return split_given(log_of({{"a", "i1", {}}, {"b", "i2", {}}}), {},
                       log_of({{"a", "new", {}}, {"b", "i1", {}}}), {}, known);
  };
  EXPECT_EQ(split(nullptr).counts.outside_catalogue, 1);
  const Dataset data = split(&known_);
  EXPECT_EQ(data.counts.outside_catalogue, 0);
  EXPECT_EQ(data.test->targets.entries(), 2);
}

TEST_F(AttachedFeaturesTest, AreWrittenAndChecked) {
  Dataset data = split_users(log_of(rows()), {.known_items = &known_}, {}, {});
  const std::vector<std::byte> without = encode_dataset(data, {});
  attach_features(data, table_);
  const std::filesystem::path folder = folder_ / "data";
  write_dataset(folder, data, {});
  EXPECT_EQ(read_dataset(folder, {}).dataset, data);
  EXPECT_GT(encode_dataset(data, {}).size(), without.size());
  EXPECT_EQ(read_evaluation_data(folder, "test", {}).dataset.test, data.test);
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    Dataset bad = data;
    bad.features.rows.values[0] = wrong;
    EXPECT_THROW(validate(bad), Error);
  }
  Dataset bad = data;
  bad.features.rows.cols -= 1;
  EXPECT_THROW(validate(bad), Error);
  bad = data;
  bad.features.names.push_back("one more");
  EXPECT_THROW(validate(bad), Error);
}

TEST_F(AttachedFeaturesTest, GoWithDataThatAreSplitAgain) {
  Dataset data = split_users(log_of(rows()), {.known_items = &known_}, {}, {});
  attach_features(data, table_);
  const Dataset again = split_again(data, 7, "data", {});
  EXPECT_NE(again.users, data.users);
  EXPECT_EQ(entries_of(again), entries_of(data));
  EXPECT_EQ(again.items.size(), data.items.size());
  validate(again);
  Dataset given = split_given(log_of(rows()), {}, log_of(rows()), {}, &known_);
  attach_features(given, table_);
  const LoadedDataset derived = validation_from_training({given, "sum"}, 1, {});
  EXPECT_EQ(derived.dataset.features, given.features);
  const Interactions more = log_of({{"u1", "i9", {}}});
  const Dataset merged = merge(data, &more, nullptr, {}).dataset;
  EXPECT_EQ(merged.features.names, data.features.names);
  EXPECT_EQ(merged.features.rows.indices, data.features.rows.indices);
  EXPECT_EQ(merged.features.rows.cols, merged.items.size());
  data.split = SplitKind::cold_items;
  EXPECT_THROW(static_cast<void>(merge(data, &more, nullptr, {})), Error);
}

TEST_F(ItemFeaturesTest, FurtherItemsHaveTheFeaturesThatAreKnown) {
  Ids known;
  for (const char* const name : {"year=1950..1979", "year=1980..1999", "year=2000", "kind=drama", "kind=7",
                                 "stars=1", "stars=2.5", "word"})
    known.push_back(name);
  const FeatureTable table = read_further(
      "item,year,kind,stars\na,1985,drama|new,1\nb,1900,7,2.50\nc,2024,,3\nd,1979.5,,\ne,nan,,\n", known);
  EXPECT_EQ(entries_of(table), (Entries{{{"a", "year=1980..1999"}, 1},
                                        {{"a", "kind=drama"}, 1},
                                        {{"a", "kind=new"}, 1},
                                        {{"a", "stars=1"}, 1},
                                        {{"b", "year=1950..1979"}, 1},
                                        {{"b", "kind=7"}, 1},
                                        {{"b", "stars=2.5"}, 1},
                                        {{"c", "year=2000"}, 1},
                                        {{"c", "stars=3"}, 1},
                                        {{"d", "year=1950..1979"}, 1},
                                        {{"e", "year=nan"}, 1}}));
  EXPECT_EQ(entries_of(read_further("item,feature,value\na,word,2\na,other,1\n", known)),
            (Entries{{{"a", "word"}, 2}, {{"a", "other"}, 1}}));
}

TEST_F(AttachedFeaturesTest, AMergeDescribesItemsThatHadNone) {
  Dataset data = split_none(log_of({{"u", "a"}, {"u", "b"}, {"v", "c"}}), {}, {});
  attach_features(data, read("item,feature\na,x\na,y\nb,y\n"));
  const Interactions more = log_of({{"w", "d"}, {"w", "e"}});
  const FeatureTable table =
      read("item,feature,value\nb,x,9\nd,y,2\nd,unknown,1\ncold,x,1\nc,x,1\nf,unknown,3\n");
  const Merged merged = merge(data, &more, nullptr, {}, &table);
  EXPECT_EQ(entries_of(merged.dataset), (Entries{{{"a", "x"}, 1},
                                                 {{"a", "y"}, 1},
                                                 {{"b", "y"}, 1},
                                                 {{"c", "x"}, 1},
                                                 {{"cold", "x"}, 1},
                                                 {{"d", "y"}, 2}}));
  EXPECT_EQ(merged.dataset.items.size(), 6) << "f has nothing that is known";
  EXPECT_EQ(merged.dataset.items[5], "cold");
  EXPECT_EQ(merged.described, (std::vector<std::int32_t>{2, 3, 5}));
  EXPECT_EQ(merged.counts.described_items, 3);
  EXPECT_EQ(merged.counts.described_before, 1);
  EXPECT_EQ(merged.counts.unknown_features, 2);
  EXPECT_EQ(merged.counts.new_items, 3);
  EXPECT_EQ(merged.dataset.train.cols, 6);
  const Merged alone = merge(data, nullptr, nullptr, {}, &table);
  EXPECT_EQ(alone.dataset.items.size(), 5);  // c, d by its features, and the cold one
  EXPECT_EQ(alone.described, (std::vector<std::int32_t>{2, 3, 4}));
  data.features = {};
  EXPECT_THROW(static_cast<void>(merge(data, &more, nullptr, {}, &table)), Error);
}

}  // namespace
}  // namespace poise
