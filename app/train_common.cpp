#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "poise/base/error.hpp"

#include "train.hpp"

namespace poise::app {

void refuse_other_flags(const TrainOptions& options) {
  struct Flag {
    const char* name;
    bool given;
    std::string_view models;  // those that take it
  };
  const Flag flags[] = {
      {"--lambda", options.lambda.has_value(), "full-rank awmf wmf"},
      {"--dropout", options.dropout.has_value(), "full-rank"},
      {"--zero-diagonal", options.zero_diagonal, "full-rank"},
      {"--keep-top", options.keep_top.has_value(), "full-rank"},
      {"--weighting", options.weighting.has_value(), "full-rank awmf wmf"},
      {"--alpha", options.alpha.has_value(), "full-rank awmf wmf"},
      {"--epsilon", options.epsilon.has_value(), "full-rank awmf wmf"},
      {"--gamma", options.gamma.has_value(), "full-rank awmf wmf"},
      {"--clip", options.clip.has_value(), "full-rank awmf wmf"},
      {"--tolerance", options.tolerance.has_value(), "full-rank awmf wmf"},
      {"--regularizer", options.regularizer.has_value(), "awmf"},
      {"--rank", options.rank.has_value(), "awmf wmf"},
      {"--lambda-exponent", options.lambda_exponent.has_value(), "wmf"},
      {"--rounds", options.rounds.has_value(), "awmf wmf"},
      {"--start", options.start.has_value(), "awmf wmf"},
      {"--trace", !options.trace.empty(), "awmf wmf"},
  };
  const auto takes = [&](std::string_view models) {
    return fmt::format(" {} ", models).find(fmt::format(" {} ", options.model)) != std::string::npos;
  };
  for (const Flag& flag : flags) {
    if (flag.given && !takes(flag.models))
      fail(ErrorKind::usage, "{} does not go with --model {}; it is of {}", flag.name, options.model,
           flag.models);
  }
}

WeightingOptions weighting_of(const TrainOptions& options) {
  WeightingOptions weighting;
  if (options.weighting) weighting.scheme = parse_scheme(*options.weighting);
  weighting.alpha = options.alpha.value_or(weighting.alpha);
  weighting.epsilon = options.epsilon.value_or(weighting.epsilon);
  weighting.gamma = options.gamma.value_or(weighting.gamma);
  weighting.clip = options.clip.value_or(weighting.clip);
  validate(weighting);
  return weighting;
}

std::map<std::string, std::string> weighting_texts(const WeightingOptions& weighting) {
  return {{"weighting", std::string(scheme_name(weighting.scheme))},
          {"alpha", fmt::format("{}", weighting.alpha)},
          {"epsilon", fmt::format("{}", weighting.epsilon)},
          {"gamma", fmt::format("{}", weighting.gamma)},
          {"clip", fmt::format("{}", weighting.clip)}};
}

double product_rate(Backend& backend) {
  constexpr std::int64_t size = 1024;
  const Matrix<float> a(size, size, 1.0F);
  Matrix<float> c(size, size);
  backend.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
  double shortest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const Stopwatch watch;
    backend.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
    shortest = std::min(shortest, watch.seconds());
  }
  return 2.0 * size * size * size / shortest;
}

}  // namespace poise::app
