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

/// `usual`: the dropouts that go with the name; none for a model without dropout.
void expand_full_rank(TrainOptions& options, const std::vector<double>& usual, std::vector<double>& dropout) {
  options.zero_diagonal = true;
  const auto zero = [](double each) { return each == 0; };
  if (usual.empty()) {
    if (!std::ranges::all_of(dropout, zero))
      fail(ErrorKind::usage, "--model {} has no --dropout; with one it is --model edlae", options.short_form);
  } else if (std::ranges::any_of(dropout, zero)) {
    fail(ErrorKind::usage, "--model {} needs a --dropout above 0; without one it is --model ease",
         options.short_form);
  } else if (dropout.empty()) {
    dropout = usual;
  }
}

}  // namespace

void expand_short_form(TrainOptions& options, std::vector<double>& dropout) {
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
    expand_full_rank(options, space.dropout, dropout);
  }
}

void expand_short_form(TrainOptions& options) {
  std::vector<double> dropout;
  if (options.dropout) dropout.push_back(*options.dropout);
  expand_short_form(options, dropout);
  // Of several that are usual, the one in the middle.
  if (!dropout.empty()) options.dropout = dropout[dropout.size() / 2];
}

}  // namespace poise::app
