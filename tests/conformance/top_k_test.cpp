#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(BackendTopK);

std::vector<std::int32_t> items_of(const RankedLists& lists, std::int64_t row) {
  return {lists.items(row).begin(), lists.items(row).end()};
}
std::vector<float> scores(const RankedLists& lists, std::int64_t row) {
  return {lists.scores(row).begin(), lists.scores(row).end()};
}

TEST_P(BackendTopK, ByHand) {
  const std::vector<float> rows = {1, 3, 2, 3, 0,  //
                                   5, 4, 3, 2, 1,  //
                                   0, 0, 0, 0, 0};
  const Csr excluded{
      .rows = 3, .cols = 5, .offsets = {0, 1, 6, 7}, .indices = {2, 0, 1, 2, 3, 4, 1}, .values = {}};
  const RankedLists lists = backend->top_k({rows.data(), 3, 5, 5}, excluded.view(), 3);
  ASSERT_EQ(lists.rows(), 3);
  EXPECT_EQ(items_of(lists, 0), (std::vector<std::int32_t>{1, 3, 0}));
  EXPECT_EQ(scores(lists, 0), (std::vector<float>{3, 3, 1}));
  EXPECT_EQ(lists.size(1), 0);
  EXPECT_EQ(items_of(lists, 2), (std::vector<std::int32_t>{0, 2, 3}));
}

TEST_P(BackendTopK, OfSomeItems) {
  Matrix<float> table = random_matrix<float>(70, 40, 3, 5);
  table(3, 8) = std::numeric_limits<float>::quiet_NaN();  // of no account: not one of them
  const Csr excluded = random_csr(70, 40, 0.2, false, 4);
  for (const auto& only : {std::vector<std::int32_t>{}, {7}, {0, 3, 5, 17, 30, 31, 39}}) {
    for (const std::int64_t k : {1, 4, 100}) {
      const RankedLists got = backend->top_k(table.view(), excluded.view(), k, only);
      const RankedLists wanted = reference->top_k(table.view(), excluded.view(), k, only);
      for (std::int64_t r = 0; r < 70; ++r) {
        ASSERT_EQ(items_of(got, r), items_of(wanted, r)) << "row " << r;
        ASSERT_EQ(scores(got, r), scores(wanted, r)) << "row " << r;
        ASSERT_TRUE(std::ranges::includes(only, [&] {
          auto ascending = items_of(got, r);
          std::ranges::sort(ascending);
          return ascending;
        }()));
      }
    }
  }
}

TEST_P(BackendTopK, LikeTheReference) {
  for (const int cols : {0, 1, 9, 100, 1003}) {
    for (const int rows : {0, 1, 65, 200}) {
      for (const int levels : {0, 1, 5}) {
        const Matrix<float> table = random_matrix<float>(rows, cols, 3, levels);
        const Csr excluded = random_csr(rows, cols, 0.2, false, 4);
        for (const std::int64_t k : {1, 2, 10, 100, 2000}) {
          SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", k " << k << ", levels " << levels);
          const RankedLists got = backend->top_k(table.view(), excluded.view(), k);
          const RankedLists wanted = reference->top_k(table.view(), excluded.view(), k);
          ASSERT_EQ(got.rows(), rows);
          for (std::int64_t r = 0; r < rows; ++r) {
            ASSERT_EQ(items_of(got, r), items_of(wanted, r)) << "row " << r;
            ASSERT_EQ(scores(got, r), scores(wanted, r)) << "row " << r;
          }
        }
      }
    }
  }
}

void expect_same(const RankedLists& got, const RankedLists& wanted) {
  ASSERT_EQ(got.rows(), wanted.rows());
  for (std::int64_t r = 0; r < wanted.rows(); ++r) {
    ASSERT_EQ(items_of(got, r), items_of(wanted, r)) << "row " << r;
    ASSERT_EQ(scores(got, r), scores(wanted, r)) << "row " << r;
  }
}

TEST_P(BackendTopK, EveryNumberHasItsPlace) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  Matrix<float> table = random_matrix<float>(40, 300, 3, 7);
  const float special[] = {-infinity, infinity, 0.0F, -0.0F, tiny, -tiny, -3.0F, 1e38F, -1e38F};
  for (std::int64_t r = 0; r < 40; ++r) {
    for (std::int64_t c = r % 7; c < 300; c += 1 + r) table(r, c) = special[(c + r) % 9];
  }
  for (float& score : table.row(5)) score = -infinity;
  const Csr excluded = random_csr(40, 300, 0.3, false, 4, true);
  for (const std::int64_t k : {1, 31, 64, 299, 300, 301})
    expect_same(backend->top_k(table.view(), excluded.view(), k),
                reference->top_k(table.view(), excluded.view(), k));
}

TEST_P(BackendTopK, WideCataloguesAndLongLists) {
  // Beyond what fits into the fast memory of a GPU; whole numbers, so that ties are cut in the middle.
  constexpr std::int64_t items_in_all = 140'003;
  const Matrix<float> table = random_matrix<float>(2, items_in_all, 3, 50);
  const Csr excluded = random_csr(2, items_in_all, 0.1, false, 4);
  for (const std::int64_t k : {100, 5000, 8192, 8193}) {
    const RankedLists lists = backend->top_k(table.view(), excluded.view(), k);
    for (std::int64_t r = 0; r < 2; ++r) {
      std::vector<std::int32_t> wanted(items_in_all);
      std::iota(wanted.begin(), wanted.end(), 0);
      std::erase_if(wanted, [&](std::int32_t item) {
        return std::ranges::binary_search(excluded.view().row(r), item);
      });
      std::ranges::stable_sort(wanted, std::greater<>(), [&](std::int32_t item) { return table(r, item); });
      wanted.resize(k);
      ASSERT_EQ(items_of(lists, r), wanted) << "k " << k << ", row " << r;
    }
  }
}

TEST_P(BackendTopK, ScoresInsideAWiderResidentMatrix) {
  const Matrix<float> table = random_matrix<float>(90, 517, 3, 100);
  Resident<float> held(*backend, table.view());
  const Csr excluded = random_csr(90, 500, 0.3, false, 4, true);
  const Out<float> part = held.view().columns(0, 500);
  const RankedLists got = (*backend).top_k(part.block(10, 70), excluded.view().block(10, 70), 50);
  const MatrixView<const float> wanted{table.view().data, 90, 500, 517};
  expect_same(got, reference->top_k(wanted.block(10, 70), excluded.view().block(10, 70), 50));
  expect_same((*backend).top_k(part.block(10, 70), excluded.view().block(10, 70), 50), got);
  EXPECT_TRUE(std::ranges::equal(held.take().row(89), table.row(89)));
}

TEST_P(BackendTopK, NanIsAnError) {
  Matrix<float> table = random_matrix<float>(3, 50, 3);
  table(2, 49) = std::numeric_limits<float>::quiet_NaN();
  const Csr excluded = random_csr(3, 50, 0, false, 4);
  try {
    static_cast<void>(backend->top_k(table.view(), excluded.view(), 2));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
  }
}

}  // namespace
}  // namespace poise
