#include "model_flags.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "poise/base/error.hpp"
#include "poise/study/models.hpp"

#include "option_values.hpp"

namespace poise::app {

const ModelFlag& model_flag(const std::string& name) {
  static const std::vector<ModelFlag> flags = {
      {"--lambda", "L2 regularization", "100", finite_number()},
      {"--alpha", "Weight of the observed entries; 1 is unweighted", "1", finite_number()},
      {"--weighting",
       "constant, none, linear, log, user-oriented, item-oriented, inverse-popularity or column", "constant",
       one_of({"constant", "none", "linear", "log", "user-oriented", "item-oriented", "inverse-popularity",
               "column"})},
      {"--epsilon", "Scale of the values in --weighting log", "1", {}},
      {"--gamma", "Exponent of --weighting inverse-popularity", "0.5", {}},
      {"--clip", "Bound on the factors of the oriented and popularity weights", "10", {}},
      {"--dropout", "Of full-rank: p adds p/(1-p) diag(X'X) to the regularization", "0", {}},
      {"--rank", "Of awmf and wmf: columns of U and V", "100", whole_number(1, 1'000'000)},
      {"--regularizer",
       "Of awmf: weight-decay, lambda (|U|^2 + |V|^2); dropout, lambda |U V'|^2; or data-weight-decay, "
       "lambda (|X U|^2 + |V|^2)",
       "weight-decay", one_of({"weight-decay", "dropout", "data-weight-decay"})},
      {"--lambda-exponent",
       "Of full-rank: regularize an item by lambda (users / their geometric mean over items)^this; of wmf: "
       "users and items by their counts to this power",
       "0", finite_number()},
      {"--rounds", "Of awmf and wmf: most alternating rounds", "100", whole_number(0, 1'000'000)},
      {"--least-decrease",
       "Of awmf and wmf: a round that lowers the objective by less than this part of it is the last", "1e-6",
       positive_number()},
      {"--start", "Of awmf and wmf: begin at closed-form, the unweighted optimum, or random", "closed-form",
       one_of({"closed-form", "random"})},
      {"--tolerance", "Bound on certificate.worst_column; of low-rank models, on their final inner solves",
       "1e-6", positive_number()},
  };
  const auto found = std::ranges::find(flags, name, &ModelFlag::name);
  assert(found != flags.end());
  return *found;
}

std::vector<double> FreeAxis::values(const std::string& name) const {
  if (automatic()) return {};
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    if (text == "auto") fail(ErrorKind::usage, "{} is auto or has values, not both", name);
    numbers.push_back(std::strtod(text.c_str(), nullptr));
  }
  return numbers;
}

void add_free_axis(CLI::App& parser, const std::string& name, FreeAxis& target,
                   const std::string& default_text) {
  const ModelFlag& flag = model_flag(name);
  parser
      .add_option(name, target.texts,
                  flag.help + "; several values: a,b,c, with --grid best a range, or auto (default: " +
                      (default_text.empty() ? flag.default_text : default_text) + ")")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_or("auto"));
}

void add_family(CLI::App& parser, std::string& family, bool popularity) {
  std::string help =
      "full-rank (the item-item autoencoder; ease is short for it with --zero-diagonal, edlae with --dropout "
      "too; full-rank-nu and ease-nu with a --lambda-exponent), awmf (its low-rank form, scores x U V'; "
      "short for it with that --regularizer: weight-decay, "
      "dropout, data-weight-decay) or wmf (matrix factorization)";
  std::vector<std::string> names = {"full-rank", "awmf", "wmf"};
  if (popularity) {
    help += ", or popularity";
    names.emplace_back("popularity");
  }
  for (const StudiedKind& kind : studied_kinds()) {
    if (std::ranges::find(names, kind.name) == names.end()) names.push_back(kind.name);
  }
  parser.add_option("--model", family, help)->required()->check(one_of(names));
}

void add_fixed_flags(CLI::App& parser, TrainOptions& options) {
  parser.add_flag("--zero-diagonal", options.zero_diagonal, "Of full-rank: an item must not predict itself");
  add_value(parser, "--epsilon", options.epsilon);
  add_value(parser, "--clip", options.clip);
  add_value(parser, "--tolerance", options.tolerance);
  add_value(parser, "--regularizer", options.regularizer);
  add_value(parser, "--rounds", options.rounds);
  add_value(parser, "--least-decrease", options.least_decrease);
  add_value(parser, "--start", options.start);
}

}  // namespace poise::app
