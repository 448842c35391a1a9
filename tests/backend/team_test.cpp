#include "poise/backend/team.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/solver/row_entries.hpp"

#include "comm/mailboxes.hpp"
#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

template <class T>
std::string bytes(const Matrix<T>& matrix) {
  const MatrixView<const T> view = matrix.view();
  return {reinterpret_cast<const char*>(view.data),
          sizeof(T) * static_cast<std::size_t>(view.rows * view.cols)};
}

template <class T>
std::string bytes_of_struct(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Whether every one of so many processes computes what one does, with every division that there is.
void expect_bytes_of_one(const std::function<std::string(Backend&)>& compute) {
  const SerialBlas serial;  // threads stand for processes here, and BLAS has one setting for all of them
  const std::string wanted = compute(*make_backend(BackendKind::cpu, 1));
  for (const int size : {1, 2, 3, 4, 7}) {
    std::mutex mutex;
    std::vector<std::string> all;
    testing::as_processes(size, [&](Processes& processes) {
      const auto team = make_team(processes, 1, nullptr, {.least_product = 0, .least_gram = 0});
      std::string found = compute(*team);
      const std::lock_guard lock(mutex);
      all.push_back(std::move(found));
    });
    ASSERT_EQ(std::ssize(all), size);
    for (const std::string& found : all) EXPECT_TRUE(found == wanted) << "of " << size;
  }
}

TEST(TeamBackend, SparseProducts) {
  for (const std::int64_t rows : {0, 1, 70, 500}) {
    const Csr X = random_csr(rows, 90, 0.1, rows == 70, 3, true);
    for (const std::int64_t d : {1, 20, 140}) {
      expect_bytes_of_one([&](Backend& backend) {
        const Matrix<float> B = random_matrix<float>(90, d, 4);
        const Matrix<double> wide = random_matrix<double>(90, d, 5);
        Resident<float> Y(backend, rows, d);
        Resident<double> of_wide(backend, rows, d);
        backend.spmm(X.view(), Lent(backend, B).view(), Y.view());
        backend.spmm(X.view(), Lent(backend, wide).view(), of_wide.view());
        return bytes(Y.take()) + bytes(of_wide.take());
      });
    }
  }
}

TEST(TeamBackend, ProductsOnEntries) {
  const Csr X = random_csr(300, 80, 0.1, true, 6, true);
  const std::vector<float> c = random_csr(1, X.entries(), 1, true, 7).values;
  expect_bytes_of_one([&](Backend& backend) {
    const Matrix<float> T = random_matrix<float>(300, 17, 8);
    const Matrix<float> V = random_matrix<float>(80, 17, 9);
    Resident<float> S(backend, random_matrix<float>(300, 17, 10));
    Matrix<float> dots(1, X.entries());
    backend.sampled_dots(X.view(), Lent(backend, T).view(), Lent(backend, V).view(), dots.row(0));
    backend.sampled_product(X.view(), X.values, c, Lent(backend, T).view(), Lent(backend, V).view(),
                            S.view());
    return bytes(dots) + bytes(S.take());
  });
}

TEST(TeamBackend, DenseProducts) {
  for (const auto& [rows, inner, cols] : {std::tuple{1, 1, 1}, {700, 40, 9}, {129, 300, 257}}) {
    expect_bytes_of_one([&](Backend& backend) {
      std::string all;
      const auto product = [&]<class T>(T one) {
        const Matrix<T> A = random_matrix<T>(inner, rows, 1);
        const Matrix<T> B = random_matrix<T>(inner, cols, 2);
        Resident<T> C(backend, random_matrix<T>(rows, cols, 3));
        backend.gemm(Op::transpose, Op::none, one, Lent(backend, A).view(), Lent(backend, B).view(), one,
                     C.view());
        all += bytes(C.take());
      };
      product(1.0F);
      product(1.0);
      return all;
    });
  }
}

TEST(TeamBackend, SumsOverRows) {
  for (const std::int64_t rows : {0, 1, 256, 5000}) {
    const std::vector<float> a = random_csr(1, rows, 1, true, 6).values;
    expect_bytes_of_one([&](Backend& backend) {
      const Matrix<float> Z = random_matrix<float>(rows, 13, 1);
      const Matrix<float> Y = random_matrix<float>(rows, 7, 2);
      return bytes(backend.factor_gram(Lent(backend, Z).view(), a)) +
             bytes(backend.factor_product(Lent(backend, Y).view(), {}, Lent(backend, Z).view()));
    });
  }
}

TEST(TeamBackend, RowSystems) {
  const Csr X = testing::grouped_matrix(1500, 40, 1);
  Csr support;
  const Weights W = testing::uneven_weights(X, support, 2);
  const RowEntries users = make_row_entries(X.view(), W, {.threads = 1});
  const RowEntries items = transpose(users, {.threads = 1});
  for (const std::int64_t d : {3, 20}) {
    const std::vector<double> sigma(d, 30.0);
    const auto solve = [&](const RowEntries& entries, std::span<const float> weights) {
      expect_bytes_of_one([&](Backend& backend) {
        const Matrix<float> Z = random_matrix<float>(entries.view().cols, d, 3);
        const Lent factors(backend, Z);
        RowSystems systems = systems_of(entries, W, weights, factors.view(), sigma);
        systems.lambda = 2;
        Resident<float> y(backend, random_matrix<float>(entries.view().rows, d, 4));
        RowsSolved solved = backend.solve_rows(systems, y.view(), {.relative = 1e-8});
        // Again, when it is known how long each process took.
        solved = backend.solve_rows(systems, y.view(), {.relative = 1e-9});
        const RowsChecked checked = backend.check_rows(systems, std::as_const(y).view(), {}, {});
        return bytes_of_struct(solved) + bytes_of_struct(checked) + bytes(y.take());
      });
    };
    solve(users, W.a);
    solve(items, W.b);
  }
}

TEST(TeamBackend, EntriesThatAHostHoldsOnce) {
  const Csr X = testing::grouped_matrix(300, 40, 1);
  Csr support;
  const Weights W = testing::uneven_weights(X, support, 2);
  const RowEntries wanted = make_row_entries(X.view(), W, {.threads = 1});
  testing::as_processes(3, [&](Processes& processes) {
    RowEntries entries = make_row_entries(X.view(), W, {.threads = 1});
    const float* const own = entries.w.view().data();
    hold_once(entries, &processes);
    EXPECT_NE(entries.w.view().data(), own);
    EXPECT_TRUE(std::ranges::equal(entries.view().offsets, wanted.view().offsets));
    EXPECT_TRUE(std::ranges::equal(entries.view().indices, wanted.view().indices));
    EXPECT_TRUE(std::ranges::equal(entries.c.view(), wanted.c.view()));
    EXPECT_TRUE(std::ranges::equal(entries.w.view(), wanted.w.view()));
  });
}

TEST(TeamBackend, AFailureOfOneEndsTheOthers) {
  const Csr X = random_csr(300, 80, 0.1, false, 6);
  std::mutex mutex;
  int ended = 0;
  testing::as_processes(3, [&](Processes& processes) {
    const auto team = make_team(processes, 1, nullptr);
    Outcome own;
    try {
      if (processes.rank() == 1) fail(ErrorKind::input, "the file is missing");
      Resident<float> Y(*team, 300, 5);
      const Matrix<float> B = random_matrix<float>(80, 5, 4);
      team->spmm(X.view(), Lent(*team, B).view(), Y.view());
    } catch (const OtherProcessFailed&) {
      own = {.code = 1, .because_of_other = true};
      const std::lock_guard lock(mutex);
      ++ended;
    } catch (const Error& error) {
      own = {.code = 3, .sentence = error.what()};
    }
    processes.conclude(
        own, "host", [](const std::string&) {}, Processes::Seconds(600));
  });
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace poise
