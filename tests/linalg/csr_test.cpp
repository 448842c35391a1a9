#include "poise/linalg/csr.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"

namespace poise {
namespace {

Csr example() {  // [. 2 3; . . .; 4 5 .]
  return {.rows = 3, .cols = 3, .offsets = {0, 2, 2, 4}, .indices = {1, 2, 0, 1}, .values = {2, 3, 4, 5}};
}

TEST(Csr, RowsAndValues) {
  const Csr matrix = example();
  const CsrView view = matrix.view();
  EXPECT_EQ(view.entries(), 4);
  EXPECT_EQ(view.row_size(1), 0);
  EXPECT_EQ(std::vector<std::int32_t>(view.row(2).begin(), view.row(2).end()),
            (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(view.row_values(2)[1], 5.0F);
}

TEST(Csr, TransposeMovesValuesAndTwiceIsTheSame) {
  const Csr transposed = transpose(example().view());
  EXPECT_EQ(transposed.offsets, (std::vector<std::int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(transposed.indices, (std::vector<std::int32_t>{2, 0, 2, 0}));
  EXPECT_EQ(transposed.values, (std::vector<float>{4, 2, 5, 3}));
  EXPECT_EQ(transpose(transposed.view()), example());
}

TEST(Csr, TransposesAreTheSameOnAnyNumberOfThreads) {
  for (const auto& [rows, cols] : {std::pair{0, 4}, {5, 0}, {300, 17}, {20, 400}}) {
    const Csr matrix = testing::random_csr(rows, cols, 0.2, true, 3, true);
    const Csr wanted = transpose(matrix.view());
    for (const int threads : {2, 3, 20}) EXPECT_EQ(transpose(matrix.view(), threads), wanted);
  }
}

TEST(Csr, ColumnCounts) {
  EXPECT_EQ(column_counts(example().view()), (std::vector<std::int64_t>{1, 2, 1}));
  const Csr matrix = testing::random_csr(300, 17, 0.2, true, 3, true);
  for (const int threads : {2, 20, 400})
    EXPECT_EQ(column_counts(matrix.view(), threads), column_counts(matrix.view()));
}

}  // namespace
}  // namespace poise
