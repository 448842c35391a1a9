#include "poise/model/spectrum/cache.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "poise/storage/container.hpp"

#include "support/random_data.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

const Csr X = random_csr(300, 150, 0.1, false, 1);

Spectrum cached(const std::filesystem::path& folder, std::int64_t rank,
                const std::string& checksum = "0123456789abcdef") {
  const auto backend = make_backend(BackendKind::cpu, 1);
  return cached_spectrum(folder, checksum, X.view(), rank, *backend, {.threads = 1});
}

void expect_equal(const Spectrum& got, const Spectrum& wanted) {
  ASSERT_EQ(got.s, wanted.s);
  for (std::int64_t i = 0; i < wanted.Q.rows(); ++i)
    ASSERT_TRUE(std::ranges::equal(got.Q.row(i), wanted.Q.row(i))) << i;
}

/// Puts a sound cache with other eigenvalues in the place of a true one, to see who reads it.
void double_values(const std::filesystem::path& path) {
  Metadata metadata;
  std::vector<double> s;
  std::vector<float> Q;
  std::vector<std::int64_t> shape;
  {
    const Container file = Container::open(path);
    metadata = file.metadata();
    for (const double value : file.elements<double>("s")) s.push_back(2 * value);
    Q.assign(file.elements<float>("Q").begin(), file.elements<float>("Q").end());
    shape = file.tensor("Q", ElementType::f32).shape;
  }
  const Tensor tensors[] = {
      {"s", ElementType::f64, {static_cast<std::int64_t>(s.size())}, std::as_bytes(std::span(s))},
      {"Q", ElementType::f32, shape, std::as_bytes(std::span(Q))}};
  write_container(path, metadata, tensors);
}

TEST(SpectrumCache, StepsOfPairs) {
  EXPECT_EQ(spectrum_step(1, 20'108), 128);
  EXPECT_EQ(spectrum_step(128, 20'108), 128);
  EXPECT_EQ(spectrum_step(129, 20'108), 256);
  EXPECT_EQ(spectrum_step(1000, 20'108), 1024);
  EXPECT_EQ(spectrum_step(1000, 500), 500);
  EXPECT_EQ(spectrum_step(5, 20), 20);
  EXPECT_EQ(spectrum_step(5, 0), 0);
}

TEST(SpectrumCache, IsUsedAgain) {
  const TemporaryFolder folder;
  const Spectrum first = cached(folder.path(), 10);
  ASSERT_EQ(first.pairs(), 128);
  expect_equal(cached(folder.path(), 128), first);
  double_values(folder / "spectrum-128.poise");
  EXPECT_EQ(cached(folder.path(), 3).s[0], 2 * first.s[0]);
}

TEST(SpectrumCache, ARankNeverReadsTheCacheOfALargerOne) {
  const TemporaryFolder folder;
  const Spectrum all = cached(folder.path(), 150);
  ASSERT_EQ(all.pairs(), 150);
  double_values(folder / "spectrum-150.poise");
  const TemporaryFolder fresh;
  expect_equal(cached(folder.path(), 10), cached(fresh.path(), 10));
}

TEST(SpectrumCache, WhatIsDamagedOrForeignIsComputedAnew) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "spectrum-128.poise";
  const Spectrum first = cached(folder.path(), 10);
  const std::string bytes = read_file(path);
  std::string flipped = bytes;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  for (const std::string& wrong : {std::string(), bytes.substr(0, bytes.size() / 2), flipped}) {
    write_file(path, wrong);
    expect_equal(cached(folder.path(), 10), first);
    EXPECT_EQ(read_file(path), bytes);
  }
  double_values(path);
  expect_equal(cached(folder.path(), 10, "fedcba9876543210"), first);
  EXPECT_NE(read_file(path), bytes);
}

TEST(SpectrumCache, AFolderThatCannotBeWrittenIsNoError) {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  EXPECT_EQ(cached(folder / "file", 10).pairs(), 128);
}

}  // namespace
}  // namespace poise
