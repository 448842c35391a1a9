#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "poise/weighting/weighting.hpp"

#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::error_message;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string refusal(const WeightingOptions& options) {
  return error_message(ErrorKind::usage, [&] { validate(options); });
}

TEST(Scheme, NamesGoThereAndBack) {
  for (const std::string name : {"none", "constant", "linear", "log", "user-oriented", "item-oriented",
                                 "inverse-popularity", "column"})
    EXPECT_EQ(scheme_name(parse_scheme(name)), name);
  EXPECT_EQ(parse_scheme("inverse-popularity"), Scheme::inverse_popularity);
  for (const std::string name : {"", "Constant", "constant ", "user_oriented", "lo", "logs"}) {
    const std::string message = error_message(ErrorKind::usage, [&] { parse_scheme(name); });
    EXPECT_NE(message.find("'" + name + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("weighting must be one of none, constant, linear,"), std::string::npos) << message;
  }
}

TEST(WeightingOptions, TheDefaultIsTheUnweightedModel) {
  const WeightingOptions options;
  EXPECT_NO_THROW(validate(options));
  EXPECT_EQ(options.scheme, Scheme::constant);
  EXPECT_EQ(options.alpha, 1);
}

TEST(WeightingOptions, AlphaIsAWeightOrASlope) {
  for (const Scheme scheme : {Scheme::constant, Scheme::user_oriented, Scheme::item_oriented,
                              Scheme::inverse_popularity, Scheme::column}) {
    EXPECT_NO_THROW(validate({.scheme = scheme, .alpha = 0.001}));
    EXPECT_NO_THROW(validate({.scheme = scheme, .alpha = 1e30}));
    for (const double alpha : {0.0, -1.0, 0.00099, infinity, -infinity, nan, 1e31})
      EXPECT_NE(
          refusal({.scheme = scheme, .alpha = alpha}).find("alpha must be a number from 0.001 to 1e+30"),
          std::string::npos);
  }
  for (const Scheme scheme : {Scheme::linear, Scheme::log}) {
    EXPECT_NO_THROW(validate({.scheme = scheme, .alpha = 0}));
    EXPECT_NO_THROW(validate({.scheme = scheme, .alpha = 1e-9}));
    for (const double alpha : {-1e-9, infinity, -infinity, nan, 1e31})
      EXPECT_NE(refusal({.scheme = scheme, .alpha = alpha}).find("alpha must be a number from 0 to 1e+30"),
                std::string::npos);
  }
}

TEST(WeightingOptions, NoneTakesNoAlpha) {
  EXPECT_NO_THROW(validate({.scheme = Scheme::none}));
  for (const double alpha : {2.0, 0.0, nan})
    EXPECT_NE(refusal({.scheme = Scheme::none, .alpha = alpha}).find("weighting none takes no alpha"),
              std::string::npos);
}

TEST(WeightingOptions, TheOthersHaveRangesWhateverTheScheme) {
  for (const Scheme scheme : {Scheme::none, Scheme::log, Scheme::item_oriented}) {
    EXPECT_NO_THROW(validate({.scheme = scheme, .epsilon = 1e-300, .gamma = 0, .clip = 1}));
    for (const double epsilon : {0.0, -1.0, infinity, nan})
      EXPECT_NE(refusal({.scheme = scheme, .epsilon = epsilon}).find("epsilon must be a number above 0"),
                std::string::npos);
    for (const double gamma : {-0.1, infinity, nan})
      EXPECT_NE(refusal({.scheme = scheme, .gamma = gamma}).find("gamma must be a number from 0 "),
                std::string::npos);
    for (const double clip : {0.99, 0.0, -10.0, infinity, nan})
      EXPECT_NE(refusal({.scheme = scheme, .clip = clip}).find("clip must be a number from 1 "),
                std::string::npos);
  }
}

TEST(WeightingOptions, AreValidatedBeforeWeightsAreMade) {
  EXPECT_NE(error_message(ErrorKind::usage, [] { make_weights(Csr{}.view(), {.alpha = 0}); }), "");
}

}  // namespace
}  // namespace poise
