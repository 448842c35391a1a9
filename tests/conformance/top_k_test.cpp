#include <limits>
#include <vector>

#include "poise/base/error.hpp"

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(BackendTopK);

std::vector<std::int32_t> items(const RankedLists& lists, std::int64_t row) {
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
  EXPECT_EQ(items(lists, 0), (std::vector<std::int32_t>{1, 3, 0}));
  EXPECT_EQ(scores(lists, 0), (std::vector<float>{3, 3, 1}));
  EXPECT_EQ(lists.size(1), 0);
  EXPECT_EQ(items(lists, 2), (std::vector<std::int32_t>{0, 2, 3}));
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
            ASSERT_EQ(items(got, r), items(wanted, r)) << "row " << r;
            ASSERT_EQ(scores(got, r), scores(wanted, r)) << "row " << r;
          }
        }
      }
    }
  }
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
