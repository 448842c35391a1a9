#include "support/sample_study.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "poise/study/paper_figures.hpp"

namespace poise::test {

namespace {

constexpr double users = 900;

double standard_error(double mean) { return std::sqrt(mean * (1 - mean) / users) / 2; }

Estimates estimates(double ndcg) {
  const auto of = [](double mean) { return Estimate{.mean = mean, .standard_error = standard_error(mean)}; };
  return {{"recall@20", of(0.92 * ndcg)}, {"recall@50", of(1.25 * ndcg)}, {"ndcg@100", of(ndcg)}};
}

/// Weights make the lists less popular; three of the figures are one number for all users.
Estimates beyond(double alpha) {
  Estimates list;
  for (const Metric& metric : beyond_accuracy_metrics()) {
    const double scale = metric.kind == MetricKind::popularity ? 1000 : 0.5;
    const double mean = scale / (1 + 0.02 * std::log(alpha));
    list.push_back(
        {to_string(metric), {mean, is_per_user(metric) ? std::optional(0.01 * scale) : std::nullopt}});
  }
  return list;
}

// A smooth response surface with its top inside the grid; weighting helps small ranks and hurts large ones.
double response(double scale, const StudyModel& model, double number, double lambda, double alpha) {
  const double size = model.rank ? std::log10(static_cast<double>(*model.rank)) : 3.5;
  const double best_alpha = std::max(0.0, 1.4 - 0.45 * size);
  const double off = std::log10(lambda) - 1.2 - 0.3 * number;
  const double weight = std::log10(alpha) - best_alpha;
  return scale * (0.2 + 0.05 * size + 0.004 * number + (model.zero_diagonal ? 0.006 : 0)) *
         std::exp(-0.012 * off * off - 0.09 * weight * weight);
}

std::vector<ConvergenceStep> convergence(const StudyModel& model, double alpha, double objective) {
  const double rate = std::log(1 + alpha) * 1.1;
  std::vector<ConvergenceStep> steps;
  const int count = model.rank ? 14 : alpha == 1 ? 0 : 8;  // unweighted columns of full rank are not iterated
  for (int step = 0; step <= count; ++step) {
    ConvergenceStep state{.step = step, .objective = {}, .certificate = {}};
    if (model.rank) state.objective = objective * (1 + 0.2 * std::exp(-1.6 * step / rate));
    if (!model.rank || step == count) state.certificate = 0.3 * std::exp(-2.2 * step / rate);
    steps.push_back(state);
  }
  return steps;
}

std::vector<PopularityBin> bins(double alpha) {
  std::vector<PopularityBin> result;
  std::int64_t least = 1;
  for (int bin = 0; bin < 6; ++bin) {
    const std::int64_t most = least * 3;
    const double tilt = 0.015 * std::log(alpha) * (bin - 2);
    result.push_back({.least = least,
                      .most = most,
                      .items = 900 >> bin,
                      .targets = bin == 0 ? 0 : 300 << bin,
                      .recall = bin == 0 ? 0 : 0.02 + 0.09 * bin + tilt});
    least = most + 1;
  }
  return result;
}

PairedDifference paired(double difference, double spread) {
  const double error = spread / std::sqrt(users);
  return {.users = static_cast<std::int64_t>(users),
          .difference = difference,
          .low = difference - 1.96 * error,
          .high = difference + 1.96 * error,
          .p = std::erfc(std::abs(difference) / error / std::sqrt(2.0))};
}

class Builder {
 public:
  StudyResults build() {
    results_.metrics = {"recall@20", "recall@50", "ndcg@100"};
    results_.choice = "ndcg@100";
    results_.version = "0.1.0";
    results_.seconds = 754.3;
    results_.options = {
        {"--ranks", "10,100"}, {"--grid", "extended"}, {"--note", "<img src=x onerror=alert(1)>"}};
    add_data("<script>alert(\"1\")</script> & 'Käufe' 中文 100%_$#{a}\\|*`", "", 1.0);
    add_data("films", "ml-20m", 1.12);
    return std::move(results_);
  }

 private:
  void add_data(const std::string& name, const std::string& paper, double scale) {
    results_.data.push_back({.name = name,
                             .checksum = "9f2c77aa01d34be8",
                             .users = 4368,
                             .items = 3469,
                             .interactions = 266790,
                             .train_users = 2568,
                             .train_interactions = 155000,
                             .validation_users = 900,
                             .test_users = 900,
                             .paper_data = paper});
    StudyRow popularity;
    popularity.data = name;
    popularity.model.key = "popularity";
    popularity.test = popularity.validation = estimates(0.17 * scale);
    popularity.beyond = beyond(1e-9);
    results_.rows.push_back(popularity);
    double number = 0;
    for (const char* key : {"awmf/weight-decay", "wmf", "awmf/dropout", "awmf/data-weight-decay"}) {
      for (const std::int64_t rank : {10, 100})
        add_model(scale, number, {.key = key, .zero_diagonal = false, .rank = rank});
      ++number;
    }
    add_model(scale, 4, {.key = "full-rank", .zero_diagonal = false, .rank = {}});
    add_model(scale, 4, {.key = "full-rank", .zero_diagonal = true, .rank = {}});
    add_model(scale, 5, {.key = "full-rank/dropout", .zero_diagonal = true, .rank = {}});
    const StudyRow& best = *best_on_validation(results_, name);
    for (const StudyRow& row : results_.rows) {
      if (row.data != name || row.model.key == "popularity" || &row == &best) continue;
      const PairedDifference test = paired(row.test[2].second.mean - best.test[2].second.mean, 0.08);
      results_.against_best.push_back({{row, results_.choice, test}, std::min(1.0, 22 * test.p)});
    }
    for (const std::optional<std::int64_t> rank :
         {std::optional<std::int64_t>(10), std::optional<std::int64_t>(100), {}})
      results_.conclusions.push_back(
          {name, rank,
           rank ? "weighting helps by +0.0041 nDCG@100 (p < 0.001)" : "weighting hurts by 0.0190 nDCG@100"});
  }

  void add_model(double scale, double number, const StudyModel& model) {
    const std::string& data = results_.data.back().name;
    StudyPoint best[3];
    const bool edlae = model.key == "full-rank/dropout";
    for (const double alpha : {0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
      for (const double lambda : {1e-4, 1e-2, 1.0, 10.0, 31.622776601683793, 1e2, 1e4}) {
        for (const double dropout : {0.25, 0.5}) {
          if (!edlae && dropout != 0.25) continue;
          const double value = response(scale, model, number, lambda, alpha) - (edlae ? 0.01 * dropout : 0);
          const RowKind kind = alpha == 1  ? RowKind::unweighted
                               : alpha > 1 ? RowKind::weighted
                                           : RowKind::down_weighted;
          const StudyPoint point{{.data = data, .model = model, .kind = kind},
                                 {.alpha = alpha, .lambda = lambda, .dropout = edlae ? dropout : 0},
                                 estimates(value),
                                 1e4 * (1 - value),
                                 {.absolute = 3e-4, .relative = 2.5e-7, .worst_column = 8e-7},
                                 0.4};
          results_.points.push_back(point);
          StudyPoint& chosen = best[alpha == 1 ? 0 : alpha > 1 ? 1 : 2];
          if (chosen.validation.empty() || value > chosen.validation[2].second.mean) chosen = point;
        }
      }
    }
    for (const auto& [kind, chosen] : {std::pair(RowKind::unweighted, best[0]),
                                       {RowKind::weighted, best[1]},
                                       {RowKind::down_weighted, best[2]}})
      add_profile(chosen, kind);
    add_row(best[0], RowKind::unweighted);
    add_row(best[1], RowKind::weighted);
    if (!model.rank && !model.zero_diagonal) add_row(best[2], RowKind::down_weighted);
  }

  /// The best of each alpha of the model's points so far.
  void add_profile(const StudyPoint& chosen, RowKind kind) {
    if (chosen.validation.empty()) return;
    StudyProfile profile{{chosen.data, chosen.model, kind}, chosen};
    profile.interior = chosen.alpha < 20;
    std::map<double, const StudyPoint*> best;
    for (const StudyPoint& point : results_.points) {
      const RowKind its = point.alpha == 1  ? RowKind::unweighted
                          : point.alpha > 1 ? RowKind::weighted
                                            : RowKind::down_weighted;
      if (point.data != chosen.data || !(point.model == chosen.model) || its != kind) continue;
      const StudyPoint*& known = best[point.alpha];
      if (known == nullptr || point.validation[2].second.mean > known->validation[2].second.mean)
        known = &point;
    }
    for (const auto& [alpha, point] : best)
      profile.curve.push_back({*point, point->validation[2].second, alpha == 1 ? 0 : 0.0008});
    results_.profiles.push_back(std::move(profile));
  }

  void add_row(const StudyPoint& point, RowKind kind) {
    const double test = point.validation[2].second.mean - 0.003;
    StudyRow row{{point.data, point.model, kind},
                 point,
                 point.validation,
                 estimates(test),
                 beyond(point.alpha),
                 point.objective,
                 1.55e5 * point.alpha,
                 point.certificate,
                 !(point.model.key == "wmf" && kind == RowKind::weighted),
                 convergence(point.model, point.alpha, point.objective),
                 bins(point.alpha),
                 1.5};
    const double baseline = results_.rows.front().test[2].second.mean;
    results_.against_popularity.push_back({{row, results_.choice, paired(test - baseline, 0.3)}, 1e-9});
    if (kind == RowKind::unweighted) {
      unweighted_ = row;
    } else {
      for (std::size_t metric = 0; metric < results_.metrics.size(); ++metric)
        results_.pairs.push_back(
            {{row, results_.metrics[metric],
              paired(row.test[metric].second.mean - unweighted_.test[metric].second.mean, 0.03)}});
      for (const auto& [metric, estimate] : row.beyond) {
        const double before = find(unweighted_.beyond, metric)->mean;
        if (estimate.standard_error)
          results_.beyond_pairs.push_back({{row, metric, paired(estimate.mean - before, 0.3 * before)}});
      }
    }
    results_.rows.push_back(std::move(row));
  }

  StudyResults results_;
  StudyRow unweighted_;
};

}  // namespace

StudyResults sample_study() { return Builder().build(); }

namespace {

/// Takes everything out that is about a data set's model and is not wanted.
template <class Wanted>
void keep(StudyResults& results, const Wanted& wanted) {
  const auto clean = [&](auto& list) {
    std::erase_if(list, [&](const auto& entry) { return !wanted(entry.data, entry.model); });
  };
  clean(results.rows);
  clean(results.pairs);
  clean(results.beyond_pairs);
  clean(results.against_popularity);
  clean(results.against_best);
  clean(results.points);
  clean(results.profiles);
}

}  // namespace

StudyResults untested_search() {
  StudyResults results = sample_study();
  results.of_search = true;
  keep(results, [](const std::string& data, const StudyModel& model) {
    return data == "films" && (model.key == "popularity" || (model.key == "wmf" && model.rank == 10));
  });
  std::erase_if(results.data, [](const StudyData& data) { return data.name != "films"; });
  results.data[0].test_users = 0;
  results.data[0].paper_data = "";
  for (StudyRow& row : results.rows) {
    row.test.clear();
    row.beyond.clear();
    row.by_popularity.clear();
  }
  results.pairs.clear();
  results.beyond_pairs.clear();
  results.against_popularity.clear();
  results.against_best.clear();
  results.conclusions.clear();
  return results;
}

StudyResults unfinished_study() {
  StudyResults results = sample_study();
  const StudyModel under_way{.key = "awmf/data-weight-decay", .zero_diagonal = false, .rank = 100};
  const StudyModel chosen{.key = "full-rank", .zero_diagonal = true, .rank = {}};
  const StudyModel not_begun{.key = "full-rank/dropout", .zero_diagonal = true, .rank = {}};
  keep(results, [&](const std::string& data, const StudyModel& model) {
    return data != "films" || model != not_begun;
  });
  for (StudyRow& row : results.rows) {
    if (row.data != "films" || (row.model != under_way && row.model != chosen)) continue;
    row.final = row.converged = false;
    row.search_complete = row.model == chosen;
    row.test.clear();
    row.beyond.clear();
    row.by_popularity.clear();
    row.convergence.clear();
  }
  const auto not_final = [&](const auto& entry) {
    return entry.data == "films" && (entry.model == under_way || entry.model == chosen);
  };
  std::erase_if(results.pairs, not_final);
  std::erase_if(results.beyond_pairs, not_final);
  std::erase_if(results.against_popularity, not_final);
  std::erase_if(results.against_best, not_final);
  for (StudyProfile& profile : results.profiles)
    profile.complete = !(profile.data == "films" && profile.model == under_way);
  using State = UnfinishedSearch::State;
  results.complete = false;
  results.unfinished = {{.data = "films", .model = under_way, .state = State::searching},
                        {.data = "films", .model = chosen, .state = State::not_trained},
                        {.data = "films", .model = not_begun, .state = State::not_begun}};
  results.missing.resize(1);
  return results;
}

StudyResults paper_study() {
  StudyResults results;
  results.metrics = {"recall@20", "recall@50", "ndcg@100"};
  results.choice = "ndcg@100";
  for (const char* name : {"ml-20m", "netflix", "msd"}) {
    StudyData data;
    data.name = data.paper_data = name;
    results.data.push_back(data);
  }
  for (const PaperFigure& figure : paper_figures()) {
    StudyRow row;
    row.data = figure.data;
    row.model = {.key = std::string(figure.model), .zero_diagonal = false, .rank = figure.rank};
    row.kind = figure.kind;
    row.alpha = figure.alpha;
    for (const std::string& metric : results.metrics)
      row.test.emplace_back(metric, Estimate{.mean = *figure.value(metric), .standard_error = {}});
    results.rows.push_back(std::move(row));
  }
  return results;
}

}  // namespace poise::test
