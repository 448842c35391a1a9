// The GPU at the shapes of the paper's data: poise_gpu_bench [CASE...] [--list] [--runs N] [--threads N]
// [--device cuda|cpu] [--scale S]. One line of JSON for each case: seconds (median), the target, phases, and
// the rates of its main kernels relative to a matrix product and a copy, which are measured first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "poise/backend/resident.hpp"
#include "poise/model/asymmetric/fit.hpp"
#include "poise/model/family.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/spectrum/cache.hpp"
#include "poise/model/wmf/fit.hpp"
#include "poise/search/search.hpp"

#include "gpu_data.hpp"
#include "gpu_kernels.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

struct Settings {
  int runs = 3;
  double scale = 1;
  BackendKind device = BackendKind::cuda;
  Execution execution = {};
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

constexpr double memory_limit = 100e9;

class Bench {
 public:
  explicit Bench(Settings settings)
      : settings_(std::move(settings)),
        backend_(make_backend(settings_.device, settings_.execution.threads)),
        folder_(std::filesystem::temp_directory_path() / fmt::format("poise_gpu_bench_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] Json rates() const {
    return {{"case", "rates"},
            {"device", backend_->name()},
            {"gemm_tflops", kernels_.product() * 1e-12},
            {"copy_gb_per_s", kernels_.copy() * 1e-9}};
  }

  Json full_rank(SynthShape shape, double alpha, double lambda, bool zero_diagonal, double target) {
    const GpuData& data = data_of(shape);
    const Weights W = make_weights(data.X(), {.alpha = alpha});
    const FullRankOptions options{.lambda = lambda,
                                  .unconstrained = !zero_diagonal,
                                  .zero_diagonal = zero_diagonal,
                                  .memory_limit = static_cast<std::uint64_t>(memory_limit)};
    const Pin pin = backend_->pin(data.X());
    Json json;
    std::vector<double> seconds;
    for (int run = 0; run < settings_.runs; ++run) {
      const auto begin = Clock::now();
      const FullRankFit fit = fit_full_rank(data.X(), W, options, *backend_, settings_.execution);
      seconds.push_back(seconds_since(begin));
      json = {{"phases", fit.seconds},
              {"converged", fit.solutions.front().converged},
              {"worst_column", fit.solutions.front().certificate.worst_column},
              {"certificate_share", fit.seconds.at("certificate") / seconds.back()},
              {"precision", fit.float64 ? "float64" : "float32"},
              {"iterations", fit.iterations},
              {"direct_columns", fit.direct_columns}};
    }
    json["kernels"] = {{"invert_spd", kernels_.inverse_share(data.X())}};
    if (alpha != 1) {
      json["kernels"].update({{"multiply_symmetric", kernels_.product_share(data.X().cols)},
                              {"column_hessian", kernels_.hessian_share(data.X(), data.transposed.view())}});
    }
    return result(seconds, target, json);
  }

  Json eigen(SynthShape shape, double target) {
    const GpuData& data = data_of(shape);
    std::vector<double> seconds;
    Json json;
    for (int run = 0; run < settings_.runs; ++run) {
      Resident<float> G(*backend_, data.X().cols, data.X().cols);
      backend_->gram(data.X(), {}, G.view());
      kernels_.finish(G.view());
      const auto begin = Clock::now();
      const EigenPairs pairs = backend_->symmetric_eigenpairs(G.view(), data.X().cols);
      seconds.push_back(seconds_since(begin));
      json["largest"] = pairs.s.front();
    }
    const auto n = static_cast<double>(data.X().cols);
    // Half of the 4/3 n^3 of the reduction are matrix-vector products, each of which reads n^2 / 2.
    json["share_of_copy_if_reduction_alone"] = 4 * n * n * n / 3 / median(seconds) / kernels_.copy();
    return result(seconds, target, json);
  }

  Json dropout(SynthShape shape, std::int64_t rank, double target) {
    const GpuData& data = data_of(shape);
    const Weights W = make_weights(data.X(), {.alpha = 2});
    const Pin pin = backend_->pin(data.X());
    auto begin = Clock::now();
    const Spectrum spectrum =
        cached_spectrum(folder_, data.loaded.checksum, data.X(), rank, *backend_, settings_.execution);
    const double eigenpairs = seconds_since(begin);
    AsymmetricOptions options;
    options.rank = rank;
    options.lambda = 1;
    options.regularizer = Regularizer::dropout;
    options.rounds = 5;
    options.tolerance = 1e-3;
    options.least_decrease = 0;
    options.memory_limit = static_cast<std::uint64_t>(memory_limit);
    std::vector<double> seconds;
    Json json;
    for (int run = 0; run < settings_.runs; ++run) {
      begin = Clock::now();
      const LowRankFit fit = fit_asymmetric(data.X(), W, options, spectrum, *backend_, settings_.execution);
      seconds.push_back(seconds_since(begin));
      json = {{"phases", fit.seconds},
              {"rounds", fit.rounds},
              {"iterations", fit.iterations},
              {"objective", fit.objective}};
    }
    json["eigenpairs_s"] = eigenpairs;
    json["kernels"] = {{"spmm", kernels_.spmm_share(data.X(), rank)}};
    return result(seconds, target, json);
  }

  Json wmf(std::int64_t rank, double target) {
    const GpuData& data = data_of(SynthShape::ml_20m);
    const Weights W = make_weights(data.X(), {.alpha = 10});
    WmfOptions options;
    options.rank = rank;
    options.lambda = 20;
    options.alpha = 10;
    options.tolerance = 1e-3;
    options.least_decrease = 0;
    options.start = Start::random;
    options.memory_limit = static_cast<std::uint64_t>(memory_limit);
    options.rounds = 6;
    std::vector<double> seconds;
    Json json;
    for (int run = 0; run < settings_.runs; ++run) {
      const LowRankFit fit = fit_wmf(data.X(), W, options, {}, *backend_, settings_.execution);
      // The last round includes a check; only those before it count.
      std::vector<double> rounds;
      for (std::size_t k = 1; k + 1 < fit.trace.size(); ++k)
        rounds.push_back(fit.trace[k].seconds - fit.trace[k - 1].seconds);
      seconds.push_back(median(rounds));
      json = {{"phases", fit.seconds},
              {"rounds", fit.rounds},
              {"objective", fit.objective},
              {"first_round_s", rounds.front()}};
    }
    // The bound: the factors of every entry are read once per side.
    const double bytes = 2.0 * 4 * static_cast<double>(data.X().entries() * rank);
    json["share_of_copy_if_factors_read_once"] = bytes / median(seconds) / kernels_.copy();
    return result(seconds, target, json);
  }

  Json evaluation(SynthShape shape, double target) {
    const GpuData& data = data_of(shape);
    const FullRank model(random_square(data.X().cols, settings_.execution.threads));
    const HeldOut& part = *data.loaded.dataset.validation;
    std::vector<double> seconds;
    Json json;
    for (int run = 0; run < settings_.runs; ++run) {
      const auto begin = Clock::now();
      const EvaluationResult measured = evaluate(model, part.fold_in.view(), part.targets.view(), {}, {},
                                                 settings_.execution, backend_.get());
      seconds.push_back(seconds_since(begin));
      json = {{"users", measured.users}, {"ndcg", measured.metrics.back().mean}};
    }
    json["kernels"] = {{"spmm", kernels_.scoring_share(part.fold_in.view(), model.dense())},
                       {"top_k", kernels_.top_k_share(part.fold_in.view())}};
    return result(seconds, target, json);
  }

  Json grid(const std::vector<ModelParameters>& bases, double target) {
    const GpuData& data = data_of(SynthShape::netflix);
    const auto begin = Clock::now();
    Json phases;
    std::size_t points_count = 0;
    for (const ModelParameters& base : bases) {
      const auto start = Clock::now();
      Trainer trainer(data.loaded, folder_, Keep::shared_parts, static_cast<std::uint64_t>(memory_limit),
                      *backend_, settings_.execution);
      Points points(trainer, {}, nullptr, settings_.execution);
      const SearchResult found = search(points, {.base = base, .expand = false});
      points_count += found.points.size();
      std::string name(family_name(base.family));
      if (base.family == Family::awmf) name += " " + std::string(regularizer_name(base.regularizer));
      phases[name] = seconds_since(start);
      double slowest = 0;
      for (const ModelParameters& point : found.points) slowest = std::max(slowest, points.at(point).seconds);
      phases[name + ", slowest point"] = slowest;
    }
    return result({seconds_since(begin)}, target, {{"points", points_count}, {"phases", phases}});
  }

 private:
  [[nodiscard]] static Json result(const std::vector<double>& seconds, double target, const Json& rest) {
    Json json = {{"seconds", median(seconds)},
                 {"target", target},
                 {"met", median(seconds) <= target},
                 {"runs", seconds}};
    json.update(rest);
    return json;
  }

  const GpuData& data_of(SynthShape shape) {
    const auto found = data_.find(shape);
    if (found != data_.end()) return found->second;
    return data_.emplace(shape, gpu_data(shape, settings_.scale, settings_.execution)).first->second;
  }

  Settings settings_;
  std::unique_ptr<Backend> backend_;
  std::filesystem::path folder_;
  std::map<SynthShape, GpuData> data_;
  KernelRates kernels_{*backend_, settings_.execution.threads};
};

struct Case {
  std::string name;
  std::function<Json(Bench&)> run;
};

std::vector<Case> all_cases() {
  const ModelParameters full_rank{.family = Family::full_rank};
  std::vector<ModelParameters> low_rank;
  for (const Regularizer regularizer :
       {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay})
    low_rank.push_back({.family = Family::awmf, .regularizer = regularizer, .rank = 100, .rounds = 1000});
  low_rank.push_back({.family = Family::wmf, .rank = 100, .rounds = 1000});
  return {
      {"full_rank_netflix_2",
       [](Bench& bench) { return bench.full_rank(SynthShape::netflix, 2, 1e4, false, 3); }},
      {"full_rank_netflix_20",
       [](Bench& bench) { return bench.full_rank(SynthShape::netflix, 20, 1e4, false, 7); }},
      {"full_rank_ml20m", [](Bench& bench) { return bench.full_rank(SynthShape::ml_20m, 2, 500, false, 2); }},
      {"full_rank_msd", [](Bench& bench) { return bench.full_rank(SynthShape::msd, 2, 200, false, 20); }},
      {"ease_msd", [](Bench& bench) { return bench.full_rank(SynthShape::msd, 1, 200, true, 4); }},
      {"eigen_netflix", [](Bench& bench) { return bench.eigen(SynthShape::netflix, 3); }},
      {"dropout_1000_netflix", [](Bench& bench) { return bench.dropout(SynthShape::netflix, 1000, 15); }},
      {"wmf_64_ml20m", [](Bench& bench) { return bench.wmf(64, 0.05); }},
      {"wmf_256_ml20m", [](Bench& bench) { return bench.wmf(256, 0.10); }},
      {"wmf_512_ml20m", [](Bench& bench) { return bench.wmf(512, 0.17); }},
      {"evaluate_netflix", [](Bench& bench) { return bench.evaluation(SynthShape::netflix, 0.6); }},
      {"grid_full_rank_netflix", [=](Bench& bench) { return bench.grid({full_rank}, 180); }},
      {"grid_low_rank_netflix", [=](Bench& bench) { return bench.grid(low_rank, 600); }},
  };
}

int run(const std::vector<std::string>& arguments) {
  Settings settings;
  std::vector<std::string> wanted;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    const auto value = [&] {
      if (k + 1 == arguments.size()) fail(ErrorKind::usage, "{} needs a value", argument);
      return arguments[++k];
    };
    if (argument == "--list") {
      for (const Case& each : all_cases()) fmt::print("{}\n", each.name);
      return 0;
    }
    if (argument == "--runs")
      settings.runs = std::max(1, std::stoi(value()));
    else if (argument == "--scale")
      settings.scale = std::stod(value());
    else if (argument == "--threads")
      settings.execution.threads = std::stoi(value());
    else if (argument == "--device")
      settings.device = value() == "cpu" ? BackendKind::cpu : BackendKind::cuda;
    else
      wanted.push_back(argument);
  }
  for (const std::string& name : wanted) {
    if (std::ranges::none_of(all_cases(), [&](const Case& each) { return each.name.starts_with(name); }))
      fail(ErrorKind::usage, "there is no case {}; see --list", name);
  }
  Bench bench(settings);
  fmt::print("{}\n", bench.rates().dump());
  bool all_met = true;
  for (const Case& each : all_cases()) {
    if (!wanted.empty() &&
        std::ranges::none_of(wanted, [&](const std::string& name) { return each.name.starts_with(name); }))
      continue;
    Json json = {{"case", each.name}};
    try {
      json.update(each.run(bench));
      all_met = all_met && json["met"].get<bool>();
    } catch (const Error& error) {
      json["error"] = error.what();
      all_met = false;
    }
    fmt::print("{}\n", json.dump());
    static_cast<void>(std::fflush(stdout));
  }
  return all_met ? 0 : 1;
}

}  // namespace
}  // namespace poise

int main(int argc, char** argv) {
  try {
    return poise::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "poise_gpu_bench: {}\n", error.what());
    return 2;
  }
}
