#include "poise/io/model_file.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

ModelInfo example_info() {
  ModelInfo info{.model = "popularity",
                 .options = {{"model", "popularity"}},
                 .data_checksum = "0123456789abcdef",
                 .report = R"({"model":"popularity"})",
                 .items = {}};
  for (const char* id : {"first", "", "with \"quotes\"\n"}) info.items.push_back(id);
  return info;
}

ErrorKind kind_of_reading(const std::filesystem::path& path) {
  try {
    read_model(path);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    return error.kind();
  }
  return ErrorKind::numerical;
}

TEST(ModelFile, RoundTrip) {
  const TemporaryFolder folder;
  const Popularity model(std::vector<float>{3, 0, 16'777'216});
  write_model(folder / "model", example_info(), model);
  const LoadedModel loaded = read_model(folder / "model");
  EXPECT_EQ(loaded.info.model, "popularity");
  EXPECT_EQ(loaded.info.options, example_info().options);
  EXPECT_EQ(loaded.info.data_checksum, "0123456789abcdef");
  EXPECT_EQ(loaded.info.report, example_info().report);
  EXPECT_EQ(loaded.info.items, example_info().items);
  Matrix<float> scores(1, 3);
  const Csr history{.rows = 1, .cols = 3, .offsets = {0, 0}, .indices = {}, .values = {}};
  loaded.scorer->score(history.view(), 0, scores.view());
  EXPECT_EQ(scores(0, 2), 16'777'216.0F);
  write_model(folder / "again", example_info(), model);
  EXPECT_EQ(read_file(folder / "model"), read_file(folder / "again"));
}

TEST(ModelFile, AnyBitFlippedOrAnyByteMissingIsFound) {
  const TemporaryFolder folder;
  write_model(folder / "model", example_info(), Popularity({3, 0, 1}));
  const std::string whole = read_file(folder / "model");
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[k] = static_cast<char>(broken[k] ^ (1 << bit));
      write_file(folder / "broken", broken);
      ASSERT_EQ(kind_of_reading(folder / "broken"), ErrorKind::input) << "byte " << k << " bit " << bit;
    }
    write_file(folder / "broken", whole.substr(0, k));
    ASSERT_EQ(kind_of_reading(folder / "broken"), ErrorKind::input) << "length " << k;
  }
}

TEST(ModelFile, NotAModel) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of_reading(folder / "missing"), ErrorKind::input);
  EXPECT_EQ(kind_of_reading(folder.path()), ErrorKind::input);
  write_container(folder / "data", {{"format", "poise-data"}, {"version", "1"}}, {});
  EXPECT_EQ(kind_of_reading(folder / "data"), ErrorKind::input);
}

TEST(ModelFile, WhatDoesNotFitTogetherIsRefused) {
  const TemporaryFolder folder;
  write_model(folder / "counts", example_info(), Popularity({3, 0}));
  EXPECT_EQ(kind_of_reading(folder / "counts"), ErrorKind::input) << "three ids, two counts";
  write_model(folder / "nan", example_info(), Popularity({3, 0, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_EQ(kind_of_reading(folder / "nan"), ErrorKind::input);
  ModelInfo other = example_info();
  other.model = "oracle";
  write_model(folder / "kind", other, Popularity({3, 0, 1}));
  EXPECT_EQ(kind_of_reading(folder / "kind"), ErrorKind::input);
  other = example_info();
  other.report = "{";
  write_model(folder / "report", other, Popularity({3, 0, 1}));
  EXPECT_EQ(kind_of_reading(folder / "report"), ErrorKind::input);
}

}  // namespace
}  // namespace poise
