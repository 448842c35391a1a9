#include "poise/data/packed_matrix.hpp"

#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::random_csr;

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

PackedMatrixView view_of(const PackedMatrix& packed) {
  PackedMatrixView view{
      .counts = {bytes_of(packed.counts), "counts"}, .gaps = {bytes_of(packed.gaps), "gaps"}, .values = {}};
  if (!packed.values.empty()) view.values = Packed{bytes_of(packed.values), "values"};
  return view;
}

void expect_matrix_round_trip(const Csr& matrix) {
  for (const int threads : {1, 3}) {
    const Execution execution{.threads = threads};
    EXPECT_EQ(unpack_rows(view_of(pack_rows(matrix.view(), {.threads = threads})), matrix.rows, matrix.cols,
                          execution),
              matrix);
    EXPECT_EQ(unpack_columns(view_of(pack_columns(matrix.view(), {.threads = threads})), matrix.rows,
                             matrix.cols, execution),
              matrix);
  }
}

std::string zstd_of(std::initializer_list<int> bytes) {
  std::vector<std::uint8_t> content(bytes.begin(), bytes.end());
  return compress(std::as_bytes(std::span(content)));
}

/// What unpacking says of two rows of ten columns whose counts and gaps are these bytes.
std::string refusal(const std::string& counts, const std::string& gaps, const std::string& values = {}) {
  const PackedMatrix packed{.counts = counts, .gaps = gaps, .values = values};
  return error_message(ErrorKind::input, [&] { (void)unpack_rows(view_of(packed), 2, 10, {.threads = 1}); });
}

TEST(PackedMatrix, RoundTripOfAllShapes) {
  for (const bool values : {false, true})
    for (const auto& [rows, cols] :
         std::vector<std::pair<int, int>>{{1, 1}, {40, 30}, {3, 5000}, {20'000, 3}})
      expect_matrix_round_trip(random_csr(rows, cols, 0.3, values, 7, rows % 2 == 0));
}

TEST(PackedMatrix, EmptyMatrices) {
  expect_matrix_round_trip({});
  expect_matrix_round_trip({.rows = 0, .cols = 5, .offsets = {0}});
  expect_matrix_round_trip({.rows = 3, .cols = 0, .offsets = {0, 0, 0, 0}});
  expect_matrix_round_trip({.rows = 2, .cols = 5, .offsets = {0, 0, 0}});
}

TEST(PackedMatrix, ManyChunksAndManyTilesOfRows) {
  const Csr matrix = random_csr(100'000, 100, 0.3, true, 3);
  ASSERT_GT(matrix.entries(), 2 * PackedMatrix::chunk_entries);
  expect_matrix_round_trip(matrix);
}

TEST(PackedMatrix, FullMatricesMayCompressAsFarAsTheyCan) {
  Csr matrix{.rows = 3000, .cols = 1000, .offsets = {0}};
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int32_t c = 0; c < matrix.cols; ++c) matrix.indices.push_back(c);
    matrix.offsets.push_back(matrix.entries());
  }
  EXPECT_LT(pack_columns(matrix.view(), {.threads = 1}).gaps.size(), 1000U);
  expect_matrix_round_trip(matrix);
}

TEST(PackedMatrix, TheLargestColumnNumbers) {
  const Csr matrix{
      .rows = 2, .cols = largest, .offsets = {0, 2, 3}, .indices = {0, 2147483646, 2147483646}, .values = {}};
  EXPECT_EQ(unpack_rows(view_of(pack_rows(matrix.view(), {.threads = 1})), 2, largest, {}), matrix);
}

TEST(PackedMatrix, TheSameBytesWhateverTheThreads) {
  const Csr matrix = random_csr(50'000, 100, 0.3, true, 5);
  const PackedMatrix one = pack_columns(matrix.view(), {.threads = 1});
  const PackedMatrix many = pack_columns(matrix.view(), {.threads = 4});
  EXPECT_EQ(one.counts, many.counts);
  EXPECT_EQ(one.gaps, many.gaps);
  EXPECT_EQ(one.values, many.values);
}

TEST(PackedMatrix, BytesThatLieAreRefused) {
  const std::string counts = zstd_of({2, 1});
  EXPECT_THAT(refusal(zstd_of({2}), zstd_of({0, 0, 0})), HasSubstr("does not hold 2 numbers"));
  EXPECT_THAT(refusal(zstd_of({2, 1, 0}), zstd_of({0, 0, 0})), HasSubstr("bytes left over"));
  EXPECT_THAT(refusal(zstd_of({2, 11}), zstd_of({0, 0, 0})), HasSubstr("too large or missing"));
  EXPECT_THAT(refusal(zstd_of({2, 0x80}), zstd_of({0, 0, 0})), HasSubstr("too large or missing"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0})), HasSubstr("does not fit its entries"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0, 0})), HasSubstr("left over"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 9, 0})), HasSubstr("its range"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0x80})), HasSubstr("its range"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1})), HasSubstr("its range"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F})), HasSubstr("its range"));
  EXPECT_THAT(refusal(counts, ""), HasSubstr("too few frames"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0}) + zstd_of({})), HasSubstr("too many frames"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0}) + "x"), HasSubstr("too many frames"));
  EXPECT_THAT(refusal(counts, "no frame"), HasSubstr("no zstd frame"));
  EXPECT_THAT(refusal(counts, zstd_of({0, 0, 0}), zstd_of({1, 2, 3, 4})), HasSubstr("values is damaged"));
}

TEST(PackedMatrix, AFrameMayNotDeclareMoreThanItCanHold) {
  std::string frame = zstd_of({0, 0, 0});
  ASSERT_EQ(static_cast<unsigned char>(frame[4]), 0x20U);  // one byte of content size follows
  frame[4] = static_cast<char>(0xE0);                      // eight bytes
  frame.replace(5, 1, std::string("\0\0\0\0\0\1\0\0", 8));
  EXPECT_THAT(refusal(zstd_of({2, 1}), frame), HasSubstr("impossible size"));
}

}  // namespace
}  // namespace poise
