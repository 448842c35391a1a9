#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/data/pro_sg.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/test_data.hpp"

namespace poise {
namespace {

class WeightsReference : public ::testing::TestWithParam<const char*> {};

TEST_P(WeightsReference, ObservedWeight) {
  const auto folder = testing::reference_set(GetParam());
  POISE_REQUIRE_PATH(folder);
  const Dataset dataset = read_pro_sg(folder / "pro_sg", {});
  const auto reference = nlohmann::json::parse(testing::read_file(folder / "reference.json"));
  ASSERT_FALSE(reference.at("full_rank").empty());
  for (const auto& entry : reference.at("full_rank")) {
    const WeightingOptions options = {.scheme = parse_scheme(entry.at("weighting").get<std::string>()),
                                      .alpha = entry.at("alpha").get<double>()};
    const auto observed = entry.at("observed_weight").get<double>();
    EXPECT_NEAR(make_weights(dataset.train.view(), options).observed, observed, 1e-9 * observed)
        << entry.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, WeightsReference,
                         ::testing::Values("long-tail", "bundle", "online-retail-head"));

}  // namespace
}  // namespace poise
