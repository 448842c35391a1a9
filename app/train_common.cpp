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
      {"--lambda-exponent", options.lambda_exponent.has_value(), "full-rank wmf"},
      {"--rounds", options.rounds.has_value(), "awmf wmf"},
      {"--least-decrease", options.least_decrease.has_value(), "awmf wmf"},
      {"--start", options.start.has_value(), "awmf wmf"},
      {"--trace", !options.trace.empty(), "awmf wmf"},
  };
  const auto takes = [&](std::string_view models) {
    return fmt::format(" {} ", models).find(fmt::format(" {} ", options.model)) != std::string::npos;
  };
  for (const Flag& flag : flags) {
    if (flag.given && !takes(flag.models))
      fail(ErrorKind::usage, "{} does not go with --model {}; it is of {}", flag.name,
           options.short_form.empty() ? options.model : options.short_form, flag.models);
  }
}

void check_values(Scheme scheme, const Dataset& dataset, const Context& context) {
  const bool has_values = !dataset.train.values.empty();
  poise::check_values(scheme, has_values);
  if (reads_values(scheme) && !has_values)
    context.say(
        fmt::format("note: the data have no values; --weighting {} takes each for 1, so that all entries "
                    "weigh the same, as with --weighting constant",
                    scheme_name(scheme)));
}

ModelParameters parameters_of(const TrainOptions& options, const Context& context) {
  ModelParameters parameters;
  parameters.family = parse_family(options.model);
  const auto take = [](auto& to, const auto& from) {
    if (from) to = *from;
  };
  take(parameters.lambda, options.lambda);
  take(parameters.dropout, options.dropout);
  take(parameters.rank, options.rank);
  take(parameters.lambda_exponent, options.lambda_exponent);
  take(parameters.rounds, options.rounds);
  take(parameters.least_decrease, options.least_decrease);
  take(parameters.tolerance, options.tolerance);
  take(parameters.weighting.alpha, options.alpha);
  take(parameters.weighting.epsilon, options.epsilon);
  take(parameters.weighting.gamma, options.gamma);
  take(parameters.weighting.clip, options.clip);
  parameters.zero_diagonal = options.zero_diagonal;
  parameters.seed = context.seed;
  if (options.weighting) parameters.weighting.scheme = parse_scheme(*options.weighting);
  if (options.regularizer) parameters.regularizer = parse_regularizer(*options.regularizer);
  if (options.start == "random") parameters.start = Start::random;
  validate(parameters);
  return parameters;
}

}  // namespace poise::app
