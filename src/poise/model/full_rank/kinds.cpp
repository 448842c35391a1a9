#include "poise/model/full_rank/kinds.hpp"

namespace poise {

std::vector<ModelKind> full_rank_kinds(const std::string& name) {
  // Values around the published best dropouts (0.25 to 0.33). An exponent of 0 is the plain model, which
  // has a row.
  const KindAxis dropout{"dropout", {0.25, 0.33, 0.5}, {0.05, 0.9}, "above 0", true};
  const KindAxis nu{"lambda-exponent", {0.25, 0.5, 0.75}, {0.1, 1}, "other than 0"};
  const std::string with_dropout = "full-rank/dropout";
  const std::string with_nu = "full-rank/lambda-exponent";
  // Of data with features of items; 1 weighs a feature as a user.
  const KindAxis beta{"feature-weight", {0.1, 1, 10}, {0.01, 1e3}, "above 0"};
  const std::string with_features = "full-rank/feature-weight";
  const std::string with_both = "full-rank/dropout/lambda-exponent";
  std::vector<ModelKind> kinds = {
      {.place = 5, .key = name, .title = "Full rank", .objective = "‖√W ∘ (X − XB)‖² + λ‖B‖²", .name = name},
      {.place = 6, .key = name, .title = "Full rank, zero diagonal", .variant = "zero diag.", .name = "ease"},
      {.place = 7, .key = with_dropout, .title = "DLAE (full rank, dropout)", .variant = "DLAE"},
      {.place = 8,
       .key = with_dropout,
       .title = "EDLAE (full rank, dropout)",
       .variant = "EDLAE",
       .name = "edlae",
       .axes = {dropout}},
      {.place = 9,
       .key = with_nu,
       .title = "Full rank, popularity-dependent lambda",
       .variant = "nu",
       .name = "full-rank-nu",
       .axes = {nu},
       .in_all = false},
      {.place = 10,
       .key = with_nu,
       .title = "EASE, popularity-dependent lambda",
       .variant = "zero diag., nu",
       .name = "ease-nu",
       .axes = {nu},
       .in_all = false},
      {.place = 11, .key = with_both, .title = "DLAE, popularity-dependent lambda", .variant = "DLAE, nu"},
      {.place = 12, .key = with_both, .title = "EDLAE, popularity-dependent lambda", .variant = "EDLAE, nu"},
      {.place = 13,
       .key = with_features,
       .title = "Full rank, features of items",
       .variant = "features",
       .name = "full-rank-features",
       .axes = {beta},
       .in_all = false},
      {.place = 14,
       .key = with_features,
       .title = "EASE, features of items",
       .variant = "zero diag., features",
       .name = "ease-features",
       .axes = {beta},
       .in_all = false}};
  for (ModelKind& kind : kinds) {
    kind.zero_diagonal = kind.place % 2 == 0;
    if (kind.zero_diagonal) kind.fixed = {{"zero-diagonal", "true"}};
  }
  return kinds;
}

}  // namespace poise
