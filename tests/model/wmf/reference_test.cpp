#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/data/pro_sg.hpp"
#include "poise/model/wmf/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/test_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

class WmfReference : public ::testing::TestWithParam<const char*> {};

TEST_P(WmfReference, Objectives) {
  const auto folder = testing::reference_set(GetParam());
  POISE_REQUIRE_PATH(folder);
  const Dataset dataset = read_pro_sg(folder / "pro_sg", {});
  const CsrView X = dataset.train.view();
  const auto reference = nlohmann::json::parse(testing::read_file(folder / "reference.json"));
  const auto backend = testing::tested_backend(1);
  const Spectrum spectrum = top_spectrum(X, {}, 32, *backend, {.threads = 1});
  ASSERT_FALSE(reference.at("wmf").empty());
  for (const auto& entry : reference.at("wmf")) {
    SCOPED_TRACE(entry.dump());
    const WeightingOptions weighting = {.scheme = parse_scheme(entry.at("weighting").get<std::string>()),
                                        .alpha = entry.at("alpha").get<double>()};
    WmfOptions options;
    options.rank = entry.at("rank").get<std::int64_t>();
    options.lambda = entry.at("lambda").get<double>();
    options.lambda_exponent = entry.at("lambda_exponent").get<double>();
    options.alpha = weighting.scheme == Scheme::linear ? 1 : weighting.alpha;
    const LowRankFit fit =
        fit_wmf(X, make_weights(X, weighting), options, spectrum, *backend, {.threads = 1});
    const auto objective = entry.at("objective").get<double>();
    EXPECT_TRUE(fit.converged);
    if (weighting.alpha == 1) {
      EXPECT_NEAR(fit.objective, objective, 1e-5 * objective);
    } else {
      EXPECT_LE(fit.objective, objective * (1 + 5e-4));
      const LowRankRound& tenth = fit.trace[std::min<std::size_t>(10, fit.trace.size() - 1)];
      EXPECT_LE(tenth.objective, entry.at("objective_after").at("10").get<double>() * (1 + 5e-4));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, WmfReference, ::testing::Values("long-tail", "bundle", "online-retail-head"));

}  // namespace
}  // namespace poise
