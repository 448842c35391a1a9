#include <algorithm>

#include "poise/base/error.hpp"
#include "poise/study/models.hpp"

#include "train.hpp"

namespace poise::app {

namespace {

void expand_low_rank(TrainOptions& options, Regularizer regularizer) {
  const std::string name(regularizer_name(regularizer));
  if (options.regularizer.value_or(name) != name)
    fail(ErrorKind::usage,
         "--model {} is awmf with --regularizer {}, not {}; use --model awmf, or no "
         "--regularizer",
         options.short_form, name, *options.regularizer);
  options.regularizer = name;
}

bool is_zero(double value) { return value == 0; }

/// `usual`: the dropouts that go with the name; none for a model without dropout.
void expand_dropout(const TrainOptions& options, const std::vector<double>& usual,
                    std::vector<double>& dropout) {
  if (usual.empty()) {
    if (options.zero_diagonal && !std::ranges::all_of(dropout, is_zero))
      fail(ErrorKind::usage, "--model {} has no --dropout; with one it is --model edlae", options.short_form);
  } else if (std::ranges::any_of(dropout, is_zero)) {
    fail(ErrorKind::usage, "--model {} needs a --dropout above 0; without one it is --model ease",
         options.short_form);
  } else if (dropout.empty()) {
    dropout = usual;
  }
}

/// `usual`: the exponents that go with the name; every full-rank model may have one, whatever its name.
void expand_exponent(const TrainOptions& options, const std::vector<double>& usual,
                     std::vector<double>& lambda_exponent) {
  if (usual.empty()) return;
  if (std::ranges::any_of(lambda_exponent, is_zero))
    fail(ErrorKind::usage, "--model {} needs a --lambda-exponent other than 0; without one it is --model {}",
         options.short_form, options.zero_diagonal ? "ease" : "full-rank");
  if (lambda_exponent.empty()) lambda_exponent = usual;
}

}  // namespace

void expand_short_form(TrainOptions& options, std::vector<double>& dropout,
                       std::vector<double>& lambda_exponent) {
  const StudiedKind* const kind = find_kind(options.model);
  if (kind == nullptr) return;
  const SearchSpace space = space_of(*kind, {}, {});
  const std::string_view family = family_name(space.base.family);
  if (family == options.model) return;
  options.short_form = options.model;
  options.model = family;
  if (space.base.low_rank()) {
    expand_low_rank(options, space.base.regularizer);
  } else {
    options.zero_diagonal = options.zero_diagonal || space.base.zero_diagonal;
    expand_dropout(options, space.dropout, dropout);
    expand_exponent(options, space.lambda_exponent, lambda_exponent);
  }
}

void expand_short_form(TrainOptions& options) {
  const auto list_of = [](const std::optional<double>& value) {
    return value ? std::vector<double>{*value} : std::vector<double>();
  };
  // Of several that are usual, the one in the middle.
  const auto take_middle = [](const std::vector<double>& values, std::optional<double>& value) {
    if (!values.empty()) value = values[values.size() / 2];
  };
  std::vector<double> dropout = list_of(options.dropout);
  std::vector<double> lambda_exponent = list_of(options.lambda_exponent);
  expand_short_form(options, dropout, lambda_exponent);
  take_middle(dropout, options.dropout);
  take_middle(lambda_exponent, options.lambda_exponent);
}

}  // namespace poise::app
