#include "poise/train/parameters.hpp"

#include <charconv>

#include <fmt/format.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::pair<Family, std::string_view> families[] = {{Family::full_rank, "full-rank"},
                                                            {Family::awmf, "awmf"},
                                                            {Family::wmf, "wmf"},
                                                            {Family::popularity, "popularity"}};

void copy_low_rank(const ModelParameters& parameters, std::uint64_t memory_limit, LowRankOptions& options) {
  options.rank = parameters.rank;
  options.lambda = parameters.lambda;
  options.rounds = parameters.rounds;
  options.tolerance = parameters.tolerance;
  options.least_decrease = parameters.least_decrease;
  options.start = parameters.start;
  options.seed = parameters.seed;
  options.memory_limit = memory_limit;
}

}  // namespace

Family parse_family(std::string_view name) {
  for (const auto& [family, text] : families) {
    if (text == name) return family;
  }
  fail(ErrorKind::usage, "there is no model \"{}\"; there are full-rank, awmf, wmf and popularity", name);
}

std::string_view family_name(Family family) {
  for (const auto& [each, text] : families) {
    if (each == family) return text;
  }
  return {};
}

void validate(const ModelParameters& parameters) {
  if (parameters.family == Family::popularity) return;
  validate(parameters.weighting);
  if (parameters.family == Family::full_rank) validate(full_rank_options(parameters, 0));
  if (parameters.family == Family::awmf) validate(asymmetric_options(parameters, 0));
  if (parameters.family == Family::wmf) validate(wmf_options(parameters, 0));
}

std::map<std::string, std::string> option_texts(const ModelParameters& parameters) {
  std::map<std::string, std::string> texts = {{"model", std::string(family_name(parameters.family))}};
  if (parameters.family == Family::popularity) return texts;
  const auto put = [&](const char* name, const auto& value) { texts[name] = fmt::format("{}", value); };
  put("weighting", scheme_name(parameters.weighting.scheme));
  put("alpha", parameters.weighting.alpha);
  put("epsilon", parameters.weighting.epsilon);
  put("gamma", parameters.weighting.gamma);
  put("clip", parameters.weighting.clip);
  put("lambda", parameters.lambda);
  put("tolerance", parameters.tolerance);
  if (parameters.family == Family::full_rank) {
    put("dropout", parameters.dropout);
    put("zero-diagonal", parameters.zero_diagonal);
    // A plain model is written as it was before there was an exponent: the same file, the same journal entry.
    if (parameters.lambda_exponent != 0) put("lambda-exponent", parameters.lambda_exponent);
    return texts;
  }
  put("rank", parameters.rank);
  put("rounds", parameters.rounds);
  put("start", parameters.start == Start::random ? "random" : "closed-form");
  if (parameters.start == Start::random) put("seed", parameters.seed);
  if (parameters.least_decrease != ModelParameters{}.least_decrease)
    put("least-decrease", parameters.least_decrease);
  if (parameters.family == Family::wmf) {
    put("lambda-exponent", parameters.lambda_exponent);
  } else {
    put("regularizer", regularizer_name(parameters.regularizer));
  }
  return texts;
}

ModelParameters full_rank_parameters(const std::map<std::string, std::string>& texts) {
  const auto text = [&](const char* name) -> const std::string& {
    const auto found = texts.find(name);
    if (found == texts.end()) fail(ErrorKind::input, "the model does not say its --{}", name);
    return found->second;
  };
  const auto number = [&](const char* name) {
    const std::string& digits = text(name);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      fail(ErrorKind::input, "the model's --{} is \"{}\", which is no number", name, digits);
    return value;
  };
  ModelParameters parameters;
  parameters.weighting = {.scheme = parse_scheme(text("weighting")),
                          .alpha = number("alpha"),
                          .epsilon = number("epsilon"),
                          .gamma = number("gamma"),
                          .clip = number("clip")};
  parameters.lambda = number("lambda");
  parameters.tolerance = number("tolerance");
  if (texts.contains("lambda-exponent")) parameters.lambda_exponent = number("lambda-exponent");
  parameters.dropout = number("dropout");
  parameters.zero_diagonal = text("zero-diagonal") == "true";
  return parameters;
}

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  return {.lambda = parameters.lambda,
          .lambda_exponent = parameters.lambda_exponent,
          .dropout = parameters.dropout,
          .unconstrained = !parameters.zero_diagonal,
          .zero_diagonal = parameters.zero_diagonal,
          .tolerance = parameters.tolerance,
          .memory_limit = memory_limit};
}

AsymmetricOptions asymmetric_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  AsymmetricOptions options;
  copy_low_rank(parameters, memory_limit, options);
  options.regularizer = parameters.regularizer;
  return options;
}

WmfOptions wmf_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  WmfOptions options;
  copy_low_rank(parameters, memory_limit, options);
  options.lambda_exponent = parameters.lambda_exponent;
  // In the linear and log schemes alpha is a slope, not the weight of an entry.
  const bool slope =
      parameters.weighting.scheme == Scheme::linear || parameters.weighting.scheme == Scheme::log;
  options.alpha = slope ? 1 : parameters.weighting.alpha;
  return options;
}

}  // namespace poise
