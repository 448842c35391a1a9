#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/storage/container.hpp"

#include "support/test_data.hpp"

namespace poise {
namespace {

TEST(Interoperability, AnIndependentReaderOfSafetensorsSeesTheSame) {
  const testing::TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = {0, 255, 7};
  const std::vector<std::int32_t> ints = {-2147483647, 5, 0, 1, 2, 3};
  const std::vector<double> doubles = {0.1, -1e300};
  const std::vector<std::int64_t> none;
  const std::vector<Tensor> tensors = {
      {"bytes", ElementType::u8, {3}, std::as_bytes(std::span(bytes))},
      {"ints \xc3\xa9", ElementType::i32, {2, 3}, std::as_bytes(std::span(ints))},
      {"none", ElementType::i64, {0, 4}, std::as_bytes(std::span(none))},
      {"doubles", ElementType::f64, {2}, std::as_bytes(std::span(doubles))}};
  write_container(folder / "file", {{"key", "a \"text\"\n\xe2\x82\xac"}}, tensors);

  const std::string command =
      std::string("'" POISE_PYTHON "' '" POISE_TEST_SOURCE "/storage/read_container.py' '") +
      (folder / "file").string() + "' > '" + (folder / "seen").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto seen = nlohmann::json::parse(testing::read_file(folder / "seen"));
  const auto expected = nlohmann::json::parse(R"({
    "metadata": {"key": "a \"text\"\n€"},
    "tensors": {"bytes": {"dtype": "uint8", "shape": [3], "elements": [0, 255, 7]},
                "ints é": {"dtype": "int32", "shape": [2, 3], "elements": [-2147483647, 5, 0, 1, 2, 3]},
                "none": {"dtype": "int64", "shape": [0, 4], "elements": []},
                "doubles": {"dtype": "float64", "shape": [2], "elements": [0.1, -1e300]}}})");
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace poise
