#include <atomic>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/full_rank/spread_fit.hpp"
#include "poise/model/full_rank/spread_full_rank.hpp"
#include "poise/solver/grid_gram.hpp"
#include "poise/solver/spread_inverse.hpp"
#include "poise/weighting/weighting.hpp"

#include "comm/mailboxes.hpp"
#include "support/expect_error.hpp"
#include "support/own_memory.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::as_processes;
using testing::processor;

constexpr int sizes[] = {1, 2, 3, 4};

TEST(ColumnShare, EveryColumnHasOneOwnerAndAPlaceThere) {
  for (const std::int64_t n : {0, 3, 33, 700, 5000}) {
    for (const int size : sizes) {
      std::vector<std::atomic<int>> owners(static_cast<std::size_t>(n));
      as_processes(size, [&](Processes& processes) {
        const ColumnShare share(n, processes);
        for (std::size_t k = 0; k < share.own().size(); ++k) {
          const std::int32_t i = share.own()[k];
          ++owners[static_cast<std::size_t>(i)];
          EXPECT_EQ(share.owner(i), processes.rank());
          EXPECT_EQ(share.place(i), static_cast<std::int32_t>(k));
        }
        EXPECT_EQ(share.of(processes.rank()),
                  std::vector<std::int32_t>(share.own().begin(), share.own().end()));
        EXPECT_EQ(share.largest(processes.rank()), size - 1);
        std::vector<double> numbers(n, 1.0);
        share.add_up(numbers);
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(numbers[i], size);
        for (std::int64_t i = 0; i < n; ++i) numbers[i] = share.owner(i) == processes.rank() ? i : -1;
        share.join(numbers);
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(numbers[i], i);
      });
      for (const auto& count : owners) EXPECT_EQ(count, 1);
    }
  }
}

/// A symmetric matrix.
Matrix<double> symmetric(std::int64_t n) {
  Matrix<double> A = testing::random_matrix<double>(n, n, 5);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) A(i, j) = A(j, i);
  }
  return A;
}

void expect_products_of_any_number_of_rounds(bool own_memory) {
  constexpr std::int64_t n = 300;
  const Matrix<double> A = symmetric(n);
  for (const int size : sizes) {
    as_processes(size, [&](Processes& processes) {
      const auto backend = processor(own_memory);
      const ColumnShare share(n, processes);
      Matrix<double> own(std::ssize(share.own()), n);
      for (std::int64_t k = 0; k < own.rows(); ++k)
        std::ranges::copy(A.row(share.own()[k]), own.row(k).begin());
      Resident<double> rows(*backend, std::move(own));
      SpreadInverse<double> P(rows, share, *backend);
      const std::vector<double> diagonal = P.diagonal();
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(diagonal[i], A(i, i));
      for (int round = 0; round < 3; ++round) {
        if (round == 2) P.hold_on_host(rows);
        // The last process multiplies most often, the first one not at all.
        for (int time = 0; time < processes.rank(); ++time) {
          const Matrix<double> r = testing::random_matrix<double>(3, n, 7U * processes.rank() + time);
          Matrix<double> z(3, n);
          Borrowed<double> there(*backend, z.view());
          P.multiply(Lent(*backend, r).view(), there.view());
          there.give_back();
          for (std::int64_t k = 0; k < 3; ++k) {
            for (std::int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (std::int64_t i = 0; i < n; ++i) sum += r(k, i) * A(i, j);
              ASSERT_NEAR(z(k, j), sum, 1e-12);
            }
          }
        }
        P.finish();
      }
    });
  }
}

TEST(SpreadInverse, ProductsOfAnyNumberOfRounds) { expect_products_of_any_number_of_rounds(false); }
TEST(SpreadInverse, ProductsWhereTheBackendHasItsOwnMemory) { expect_products_of_any_number_of_rounds(true); }

TEST(GridTiles, RowsOfGOfAllProcesses) {
  const Csr X = testing::random_csr(90, 71, 0.15, false, 4, true);
  const Csr users_of = transpose(X.view());
  std::vector<float> a;
  for (std::int64_t u = 0; u < X.rows; ++u) a.push_back(0.5F + static_cast<float>(u % 7));
  const std::vector<double> shift(X.cols, 3.0);
  const auto backend = make_backend(BackendKind::cpu, 1);
  Resident<double> whole(*backend, X.cols, X.cols);
  backend->gram(X.view(), a, whole.view());
  const Matrix<double> G = whole.take();
  for (const int size : sizes) {
    as_processes(size, [&](Processes& processes) {
      const auto own_backend = make_backend(BackendKind::cpu, 1);
      const ColumnShare share(X.cols, processes);
      for (const int times : {1, 2, 3}) {
        GridTiles<double> tiles(share, times * share.tile());
        fill_gram_tiles(X.view(), users_of.view(), a, shift, tiles, {.threads = 2, .observer = nullptr});
        const Matrix<double> rows = rows_of_tiles(tiles, share, *own_backend).take();
        for (std::int64_t k = 0; k < rows.rows(); ++k) {
          const std::int32_t i = share.own()[k];
          for (std::int64_t j = 0; j < X.cols; ++j)
            ASSERT_NEAR(rows(k, j), G(i, j) + (i == j ? 3.0 : 0.0), 1e-9) << i << " " << j;
        }
      }
    });
  }
}

/// Trains by so many threads, each of which stands for a process, and returns B and the figures of all.
FullRankFit fit_spread(const Csr& X, const Weights& W, const FullRankOptions& options, int size,
                       bool own_memory = false) {
  FullRankFit result;
  std::atomic<int> agreeing = 0;
  as_processes(size, [&](Processes& processes) {
    const auto backend = processor(own_memory);
    const ColumnShare share(X.cols, processes);
    const Execution execution{.threads = 1, .observer = nullptr};
    FullRankFit own = fit_full_rank_spread(X.view(), W, options, share, *backend, execution);
    const SpreadFullRank model(std::move(own.solutions.front().B), share);
    if (!processes.first()) return model.serve(1);
    Matrix<float> B(X.cols, X.cols);
    model.read_rows(0, B.view());
    const Csr kept = model.keep_top(3, 1);
    const Csr expected = keep_top(B.view(), 3, 1);
    EXPECT_EQ(kept.offsets, expected.offsets);
    EXPECT_EQ(kept.indices, expected.indices);
    EXPECT_EQ(kept.values, expected.values);
    Matrix<float> scores(5, X.cols);
    Matrix<float> expected_scores(5, X.cols);
    model.score(X.view().block(0, 5), scores.view());
    FullRank(B.view(), nullptr).score(X.view().block(0, 5), expected_scores.view());
    for (std::int64_t u = 0; u < 5; ++u) {
      for (std::int64_t i = 0; i < X.cols; ++i) EXPECT_EQ(scores(u, i), expected_scores(u, i));
    }
    model.release();
    own.solutions.front().B = std::move(B);
    result = std::move(own);
    ++agreeing;
  });
  EXPECT_EQ(agreeing, 1);
  return result;
}

void expect_model_of_one_process(std::initializer_list<int> counts, bool own_memory) {
  const Csr X = testing::random_csr(150, 61, 0.12, true, 9, true);
  for (const Scheme scheme : {Scheme::none, Scheme::user_oriented, Scheme::item_oriented, Scheme::linear}) {
    const Weights W = make_weights(X.view(), {.scheme = scheme, .alpha = scheme == Scheme::none ? 1.0 : 3.0});
    for (const bool zero_diagonal : {false, true}) {
      const FullRankOptions options{.lambda = 4,
                                    .dropout = 0.2,
                                    .unconstrained = !zero_diagonal,
                                    .zero_diagonal = zero_diagonal,
                                    .tolerance = 1e-9};
      const auto backend = make_backend(BackendKind::cpu, 1);
      const FullRankFit alone = fit_full_rank(X.view(), W, options, *backend, {.threads = 1});
      for (const int size : counts) {
        const FullRankFit fit = fit_spread(X, W, options, size, own_memory);
        const FullRankSolution& solution = fit.solutions.front();
        EXPECT_TRUE(solution.converged);
        EXPECT_LE(solution.certificate.worst_column, 1e-9);
        EXPECT_EQ(solution.certificate.verified_columns, 0);  // proven by probes, none measured alone
        EXPECT_NEAR(fit.condition / alone.condition, 1, 1e-3);
        EXPECT_NEAR(solution.objective, alone.solutions.front().objective,
                    1e-7 * alone.solutions.front().observed_weight);
        for (std::int64_t i = 0; i < X.cols; ++i) {
          for (std::int64_t j = 0; j < X.cols; ++j)
            ASSERT_NEAR(solution.B(i, j), alone.solutions.front().B(i, j), 2e-5) << i << " " << j;
        }
      }
    }
  }
}

TEST(SpreadFullRank, TheModelOfOneProcess) { expect_model_of_one_process({1, 2, 3, 4, 7}, false); }
TEST(SpreadFullRank, TheModelOfOneProcessWhereBackendsHaveTheirOwnMemory) {
  expect_model_of_one_process({1, 2, 3, 4}, true);
}

TEST(SpreadFullRank, Float64WhereItIsNeededAndSingularForAll) {
  // Items that nobody tells apart.
  Csr X{.rows = 30, .cols = 20, .offsets = {0}};
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int32_t i = 0; i < X.cols; ++i) X.indices.push_back(i);
    X.offsets.push_back(X.entries());
  }
  const Weights W = make_weights(X.view(), {.scheme = Scheme::none});
  const FullRankOptions options{.lambda = 1e-4, .unconstrained = false, .zero_diagonal = true};
  for (const bool own_memory : {false, true}) {
    const FullRankFit fit = fit_spread(X, W, options, 3, own_memory);
    EXPECT_TRUE(fit.float64);
    EXPECT_TRUE(fit.solutions.front().converged);
  }
  FullRankOptions hopeless = options;
  hopeless.lambda = 1e-25;
  std::atomic<int> told = 0;
  as_processes(3, [&](Processes& processes) {
    const auto backend = make_backend(BackendKind::cpu, 1);
    const ColumnShare share(X.cols, processes);
    try {
      static_cast<void>(fit_full_rank_spread(X.view(), W, hopeless, share, *backend, {.threads = 1}));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::numerical) ++told;
    }
  });
  EXPECT_EQ(told, 3);
}

TEST(SpreadFullRank, AFailureOfTheFirstProcessReachesThoseThatServe) {
  std::atomic<int> reached = 0;
  as_processes(3, [&](Processes& processes) {
    const ColumnShare share(40, processes);
    const SpreadFullRank model(Matrix<float>(40, std::ssize(share.own())), share);
    Outcome outcome;
    if (processes.first()) {
      Matrix<float> rows(2, 40);
      model.read_rows(3, rows.view());
      outcome = {.code = 4, .sentence = "the disk is full"};
    } else {
      try {
        model.serve(1);
      } catch (const OtherProcessFailed&) {
        ++reached;
        outcome = {.code = 1, .because_of_other = true};
      }
    }
    EXPECT_EQ(processes.conclude(outcome, "here", [](const std::string&) {}).code, 4);
  });
  EXPECT_EQ(reached, 2);
}

TEST(SpreadFullRank, WhatDoesNotFitNamesTheProcessesThatWouldDo) {
  const Csr X = testing::random_csr(10, 20'000, 0.01, false, 1);
  const Weights W = make_weights(X.view(), {.scheme = Scheme::none});
  constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30U;
  testing::expect_error(ErrorKind::resources, "processes would do",
                        [&] { check_spread_memory(X.view(), W, gigabyte, 2); });
  check_spread_memory(X.view(), W, gigabyte, 4);
  testing::expect_error(ErrorKind::resources, "raise",
                        [&] { check_spread_memory(X.view(), W, gigabyte >> 7U, 2); });
  testing::expect_error(ErrorKind::resources, "start more processes",
                        [&] { check_spread_gpu_memory(X.view(), 2, gigabyte); });
  check_spread_gpu_memory(X.view(), 2, 2 * gigabyte);
}

}  // namespace
}  // namespace poise
