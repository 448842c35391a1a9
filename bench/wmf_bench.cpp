#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "poise/backend/cpu/row_kernels.hpp"
#include "poise/backend/cpu/row_systems.hpp"
#include "poise/backend/resident.hpp"
#include "poise/data/synth.hpp"
#include "poise/linalg/symmetric_eigen.hpp"
#include "poise/model/spectrum/cache.hpp"
#include "poise/model/wmf/fit.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/weighting/weighting.hpp"

#include "timing.hpp"

namespace {

using poise::CsrView;
using poise::Execution;
using poise::Matrix;

constexpr double alpha = 10;
constexpr double lambda = 20;
/// An objective within this share of the converged one counts as converged.
constexpr double near_enough = 1e-3;
const Execution two{.threads = 2};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

poise::WmfOptions options_of(std::int64_t rank, int rounds) {
  poise::WmfOptions options;
  options.rank = rank;
  options.lambda = lambda;
  options.alpha = alpha;
  options.rounds = rounds;
  return options;
}

/// The scheme of the `implicit` library: in each epoch three conjugate-gradient steps without preconditioner
/// on every user, then on every item, from the current factors; initially small random factors. Such steps
/// are the same in any orthonormal basis, so they run here in the eigenbasis, with I for D^-1.
class Peer {
 public:
  Peer(CsrView X, const poise::Weights& W, std::int64_t rank)
      : observed_(W.observed),
        users_(poise::make_row_entries(X, W, two)),
        items_(poise::transpose(users_, two)),
        U_(X.rows, rank),
        V_(X.cols, rank) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(0, 0.01F);
    for (Matrix<float>* factors : {&U_, &V_}) {
      for (std::int64_t r = 0; r < factors->rows(); ++r) {
        for (float& value : factors->row(r)) value = uniform(generator);
      }
    }
  }

  /// One epoch; returns the objective after it.
  double epoch() {
    half(users_, V_, U_);
    return half(items_, U_, V_);
  }

 private:
  double half(const poise::RowEntries& rows, Matrix<float>& factors, Matrix<float>& solution) {
    const std::int64_t d = factors.cols();
    const auto backend = poise::make_backend(poise::BackendKind::cpu, two.threads);
    const poise::EigenPairs eigen =
        backend->symmetric_eigenpairs(backend->factor_gram(poise::Lent(*backend, factors).view(), {}));
    for (Matrix<float>* const rotated : {&factors, &solution}) {
      poise::Resident<float> there(*backend, std::move(*rotated));
      backend->multiply_rows(there.view(), eigen.Q);
      *rotated = there.take();
    }
    const std::int64_t width = (d + poise::row_lane - 1) / poise::row_lane * poise::row_lane;
    std::vector<float> D(width, 0.0F);
    const std::vector<float> ones(width, 1.0F);
    for (std::int64_t k = 0; k < d; ++k) D[k] = static_cast<float>(eigen.s[k] + lambda);
    const poise::RowKernels kernels = poise::row_kernels();
    const poise::Tiling tiling{rows.rows, 64};
    std::vector<double> explained(tiling.tiles(), 0.0);
    poise::for_each_tile(tiling.tiles(), 2, [&](std::int64_t tile) {
      poise::RowIterate row(width);
      poise::RowScratch scratch(width);
      for (std::int64_t r = tiling.first(tile); r < tiling.last(tile); ++r) {
        const std::int64_t begin = rows.offsets.view()[r];
        const std::int64_t count = rows.offsets.view()[r + 1] - begin;
        scratch.gathered.resize(
            std::max<std::size_t>(scratch.gathered.size(), std::max(count, poise::row_chunk) * width));
        std::copy_n(solution.row(r).data(), d, row.y.data());
        std::ranges::fill(row.sums, 0.0);
        row.scalars.explained = 0;
        const poise::RowTask task{.factors = factors.view().data,
                                  .stride = d,
                                  .d = d,
                                  .width = width,
                                  .indices = rows.indices.view().data() + begin,
                                  .c = rows.c.view().data() + begin,
                                  .w = rows.w.view().data() + begin,
                                  .count = count,
                                  .D = D.data(),
                                  .D_inverse = ones.data()};
        kernels.pass_start(task, 0, count, poise::RowSource::gather_and_keep, row, scratch);
        kernels.begin(task, row, scratch);
        while (row.scalars.steps < 3 && row.scalars.rz > 1e-20) {
          kernels.pass(task, 0, count, poise::RowSource::kept, row, scratch);
          if (!kernels.step(task, row, scratch)) break;
        }
        explained[tile] += row.scalars.explained;
        std::copy_n(row.y.data(), d, solution.row(r).data());
      }
    });
    double objective = observed_;
    for (const double part : explained) objective -= part;
    for (std::int64_t k = 0; k < d; ++k) objective += lambda * eigen.s[k];
    return objective;
  }

  double observed_;
  poise::RowEntries users_;
  poise::RowEntries items_;
  Matrix<float> U_;
  Matrix<float> V_;
};

/// Poise at the ML-20M shape on 2 threads, from loaded data to an objective within 0.1 % of the converged one
/// (weights, start and preparation included), against the epochs that the peer's scheme needs for the same
/// objective, each at the seconds of the strongest peer. ratio = Poise / (epochs x seconds). The peer is
/// stopped (peer_near = 0) once the ratio is below 1/4, so that it is then an upper bound.
/// share_of_gather_bound: the time of one sparse product per side, which reads every entry's factors once, as
/// a share of a round.
void wmf_ml_20m(benchmark::State& state, std::int64_t rank, double peer_seconds) {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, two);
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const poise::Weights W = poise::make_weights(x.view(), {.alpha = alpha});
    const poise::Spectrum start =
        poise::top_spectrum(x.view(), {}, poise::spectrum_step(rank, x.cols), *backend, two);
    const double before_fit = seconds_since(begin);
    const poise::LowRankFit fit = fit_wmf(x.view(), W, options_of(rank, 80), start, *backend, two);
    const auto reached = std::ranges::find_if(
        fit.trace, [&](const auto& round) { return round.objective <= (1 + near_enough) * fit.objective; });
    const double seconds = before_fit + reached->seconds;
    const double solving = fit.trace.back().seconds - fit.trace.front().seconds;
    const auto round_seconds = solving / static_cast<double>(fit.rounds);
    Peer peer(x.view(), W, rank);
    int epochs = 0;
    bool near = false;
    while (!near && 4 * seconds > epochs * peer_seconds) {
      near = peer.epoch() <= (1 + near_enough) * fit.objective;
      ++epochs;
    }
    poise::bench::Shortest gathers;
    const poise::Csr transposed = poise::transpose(x.view());
    poise::Resident<float> U(*backend, x.rows, rank);
    poise::Resident<float> V(*backend, x.cols, rank);
    for (int run = 0; run < 2; ++run) {
      gathers.time([&] {
        backend->spmm(x.view(), poise::readable(V), U.view());
        backend->spmm(transposed.view(), poise::readable(U), V.view());
      });
    }
    state.counters["objective"] = fit.objective;
    state.counters["rounds"] = static_cast<double>(fit.rounds);
    state.counters["rounds_until_near"] = reached->round;
    state.counters["seconds_before_round_1"] = before_fit + fit.trace.front().seconds;
    state.counters["seconds_until_near"] = seconds;
    state.counters["seconds_per_round"] = round_seconds;
    state.counters["Gentries_x_rank_per_s"] = 2e-9 * static_cast<double>(x.entries() * rank) / round_seconds;
    state.counters["share_of_gather_bound"] = gathers.seconds() / round_seconds;
    state.counters["peer_epochs"] = epochs;
    state.counters["peer_near"] = near ? 1 : 0;
    state.counters["ratio"] = seconds / (epochs * peer_seconds);
  }
}
void wmf_rank_64(benchmark::State& state) { wmf_ml_20m(state, 64, 0.71); }
BENCHMARK(wmf_rank_64)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
void wmf_rank_256(benchmark::State& state) { wmf_ml_20m(state, 256, 4.2); }
BENCHMARK(wmf_rank_256)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Seconds of a round at 1, 2 and 4 times the interactions (users as well), and the slope of a line through
/// their logarithms: 1 is linear.
void wmf_growth(benchmark::State& state) {
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  std::vector<double> sizes;
  std::vector<double> times;
  for (auto _ : state) {
    for (const double scale : {1.0, 2.0, 4.0}) {
      const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m, .scale = scale}, two);
      const poise::Weights W = poise::make_weights(x.view(), {.alpha = alpha});
      const poise::Spectrum start = poise::top_spectrum(x.view(), {}, 64, *backend, two);
      const poise::LowRankFit fit = fit_wmf(x.view(), W, options_of(64, 5), start, *backend, two);
      double shortest = std::numeric_limits<double>::infinity();
      for (std::size_t k = 1; k + 1 < fit.trace.size(); ++k)
        shortest = std::min(shortest, fit.trace[k].seconds - fit.trace[k - 1].seconds);
      sizes.push_back(std::log(static_cast<double>(x.entries())));
      times.push_back(std::log(shortest));
    }
  }
  state.counters["seconds_1"] = std::exp(times[0]);
  state.counters["seconds_2"] = std::exp(times[1]);
  state.counters["seconds_4"] = std::exp(times[2]);
  state.counters["slope"] = (times[2] - times[0]) / (sizes[2] - sizes[0]);
}
BENCHMARK(wmf_growth)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
