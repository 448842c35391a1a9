#include "trained_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "poise/model/family.hpp"
#include "poise/train/model_file.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise::app {

std::string certificate_text(const Certificate& certificate) {
  if (!std::isfinite(certificate.relative)) return "with no proof of how far it is above its minimum";
  std::string text = fmt::format("proven to be above its minimum by at most {:.1e} of the explained weight",
                                 certificate.relative);
  text += std::isfinite(certificate.worst_column)
              ? fmt::format(" ({:.1e} for the worst column)", certificate.worst_column)
              : std::string(" (nothing is proven of each column)");
  if (certificate.probability < 1)
    text += fmt::format(", but for a chance of {:.0e}", 1 - certificate.probability);
  return text;
}

namespace {

/// "about 61 % (99 % interval 60 to 62) of what the best dense model would, proven at least 25 %".
std::string interval_text(const ExplainedShare& share) {
  constexpr double percent = 100;
  if (share.level == 1)
    return fmt::format("{:.1f} to {:.1f} % of what the best dense model would, which is proven",
                       percent * share.low, percent * share.high);
  return fmt::format(
      "about {:.0f} % ({:.0f} % interval {:.0f} to {:.0f}) of what the best dense model would, proven at "
      "least "
      "{:.0f} %",
      percent * (share.low + share.high) / 2, percent * share.level, percent * share.low,
      percent * share.high, std::floor(percent * share.proven));
}

}  // namespace

std::string neighbours_text(std::int64_t neighbours, const std::string& sizes, double objective,
                            double observed_weight, const Certificate& certificate) {
  Certificate on_neighbours = certificate;
  on_neighbours.probability = 1;  // every column is verified
  std::string text = fmt::format(
      "full-rank model of {} neighbours an item {}\n"
      "  objective  {:.6g} of {:.6g} observed weight; on these neighbours {}\n",
      grouped(neighbours), sizes, objective, observed_weight, certificate_text(on_neighbours));
  if (!certificate.share) return text;
  text += fmt::format("  explains   {}", interval_text(*certificate.share));
  if (certificate.probability < 1)
    text += fmt::format(", but for a chance of {:.0e}", 1 - certificate.probability);
  return text + "\n";
}

std::string trained_text(const ModelParameters& parameters, const Trained& trained, CsrView X) {
  const std::string sizes = fmt::format("over {} users x {} items", grouped(X.rows), grouped(X.cols));
  const Certificate& certificate = trained.certificate;
  const ModelFamily& family = family_of(parameters);
  if (family.parameters.empty()) return fmt::format("{} {}\n", family.name, sizes);
  if (parameters.neighbours > 0)
    return neighbours_text(parameters.neighbours, sizes, trained.objective, trained.observed_weight,
                           certificate);
  if (!family.low_rank()) {
    return fmt::format(
        "{} model {}\n"
        "  objective  {:.6g} of {:.6g} observed weight, {}\n"
        "  solved     {} columns directly, {} in at most {} iterations, {} inverse, condition {:.1e}{}\n",
        family.name, sizes, trained.objective, trained.observed_weight, certificate_text(certificate),
        grouped(trained.direct_columns), grouped(trained.iterated_columns), trained.iterations,
        trained.float64 ? "float64" : "float32", trained.condition,
        trained.tensor_cores ? ", products on tensor cores" : "");
  }
  std::string text = fmt::format(
      "{} model of rank {} {}\n"
      "  objective  {:.6g} of {:.6g} observed weight; re-solving either factor alone would gain at most "
      "{:.1e} of what is explained\n",
      family.name, parameters.rank, sizes, trained.objective, trained.observed_weight, certificate.relative);
  if (trained.rounds == 0) {
    text += "  solved     in closed form, the global optimum\n";
  } else {
    text +=
        fmt::format("  solved     in {} round{}, inner solves of at most {} iteration{}\n", trained.rounds,
                    trained.rounds == 1 ? "" : "s", trained.iterations, trained.iterations == 1 ? "" : "s");
  }
  if (trained.live_directions < parameters.rank)
    text += fmt::format("  alive      {} of {} directions\n", trained.live_directions, parameters.rank);
  return text;
}

void warn_about(const ModelParameters& parameters, const Trained& trained, const Context& context) {
  if (parameters.low_rank() && trained.live_directions == 0) {
    context.say(
        fmt::format("--lambda {} leaves no direction alive: every score is 0, and items rank by their order; "
                    "lower --lambda",
                    parameters.lambda));
  } else if (parameters.low_rank() && trained.live_directions * 10 < parameters.rank) {
    context.say(
        fmt::format("--lambda {} leaves {} of {} directions alive; lower it, or let `poise search` find one",
                    parameters.lambda, trained.live_directions, parameters.rank));
  }
  if (!trained.converged && parameters.low_rank()) {
    context.say(
        fmt::format("the objective still fell after {} rounds; raise --rounds to continue", trained.rounds));
  } else if (!trained.converged) {
    context.say(fmt::format("the tolerance {} was not reached; the certificate says how close the model is",
                            parameters.tolerance));
  }
}

WriteSeconds save_model(const std::filesystem::path& path, const Scorer& model,
                        const std::map<std::string, std::string>& options, const LoadedDataset& data,
                        const Json& report, int threads, bool past_cache) {
  const ModelInfo info = {.model = options.at("model"),
                          .options = options,
                          .data_checksum = data.checksum,
                          .report = report.dump(),
                          .items = data.dataset.items,
                          .features = learnt_from(parameters_of(options), data.dataset.features)};
  return write_model(path, info, model, threads, past_cache);
}

}  // namespace poise::app
