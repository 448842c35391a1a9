#include <gtest/gtest.h>

#include "poise/model/popularity.hpp"
#include "poise/train/model_file.hpp"

#include "support/expect_error.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

/// Three items with two features; the middle one has none.
ModelInfo info_with_features() {
  ModelInfo info{.model = "popularity", .options = {}, .data_checksum = "", .report = "{}", .items = {}};
  for (const char* id : {"a", "b", "c"}) info.items.push_back(id);
  for (const char* name : {"genre=drama", "maker"}) info.features.names.push_back(name);
  info.features.of_items = {.rows = 3, .cols = 2, .offsets = {0, 1, 1, 3}, .indices = {1, 0, 1}};
  return info;
}

void write(const std::filesystem::path& path, const ModelInfo& info) {
  write_model(path, info, Popularity({3, 0, 1}));
}

TEST(ModelFeatures, AreInTheFileAndNameWhatItemsShare) {
  const TemporaryFolder folder;
  write(folder / "model", info_with_features());
  const NamedFeatures features = read_model(folder / "model").info.features;
  EXPECT_EQ(features, info_with_features().features);
  EXPECT_EQ(features.shared(0, 2), (std::vector<std::string_view>{"maker"}));
  EXPECT_EQ(features.shared(2, 2), (std::vector<std::string_view>{"genre=drama", "maker"}));
  EXPECT_TRUE(features.shared(0, 1).empty());
}

TEST(ModelFeatures, AreNotThereWithoutFeatures) {
  const TemporaryFolder folder;
  ModelInfo info = info_with_features();
  info.features = {};
  write(folder / "model", info);
  EXPECT_EQ(read_model(folder / "model").info.features, NamedFeatures());
  EXPECT_TRUE(NamedFeatures().shared(0, 0).empty());
}

TEST(ModelFeatures, ThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const auto& change, const char* about) {
    ModelInfo info = info_with_features();
    change(info.features);
    write(folder / "broken", info);
    expect_error(ErrorKind::input, about, [&] { read_model(folder / "broken"); });
  };
  refused([](NamedFeatures& of) { of.of_items.indices = {1, 0, 2}; }, "features do not fit");
  refused([](NamedFeatures& of) { of.of_items.indices = {1, 1, 0}; }, "features do not fit");
  refused([](NamedFeatures& of) { of.of_items.indices = {-1, 0, 1}; }, "features do not fit");
  refused([](NamedFeatures& of) { of.of_items.offsets = {0, 1, 1, 4}; }, "features do not fit");
  refused([](NamedFeatures& of) { of.of_items.offsets = {0, 1, 3}; }, "features of 2");
}

}  // namespace
}  // namespace poise
