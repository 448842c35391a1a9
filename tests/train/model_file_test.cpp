#include "poise/train/model_file.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/popularity.hpp"
#include "poise/model/wmf/wmf.hpp"

#include "support/data_limit.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

ModelInfo example_info() {
  ModelInfo info{.model = "popularity",
                 .options = {{"model", "popularity"}},
                 .data_checksum = "0123456789abcdef",
                 .report = R"({"model":"popularity"})",
                 .items = {}};
  for (const char* id : {"first", "", "with \"quotes\"\n"}) info.items.push_back(id);
  return info;
}

ErrorKind kind_of_reading(const std::filesystem::path& path) {
  try {
    read_model(path);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    return error.kind();
  }
  return ErrorKind::numerical;
}

TEST(ModelFile, RoundTrip) {
  const TemporaryFolder folder;
  const Popularity model(std::vector<float>{3, 0, 16'777'216});
  write_model(folder / "model", example_info(), model);
  const LoadedModel loaded = read_model(folder / "model");
  EXPECT_EQ(loaded.info.model, "popularity");
  EXPECT_EQ(loaded.info.options, example_info().options);
  EXPECT_EQ(loaded.info.data_checksum, "0123456789abcdef");
  EXPECT_EQ(loaded.info.report, example_info().report);
  EXPECT_EQ(loaded.info.items, example_info().items);
  Matrix<float> scores(1, 3);
  const Csr history{.rows = 1, .cols = 3, .offsets = {0, 0}};
  loaded.scorer->score(history.view(), scores.view());
  EXPECT_EQ(scores(0, 2), 16'777'216.0F);
  write_model(folder / "again", example_info(), model);
  EXPECT_EQ(read_file(folder / "model"), read_file(folder / "again"));
}

TEST(ModelFile, AnyBitFlippedOrAnyByteMissingIsFound) {
  const TemporaryFolder folder;
  write_model(folder / "model", example_info(), Popularity({3, 0, 1}));
  const std::string whole = read_file(folder / "model");
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[k] = static_cast<char>(broken[k] ^ (1 << bit));
      write_file(folder / "broken", broken);
      ASSERT_EQ(kind_of_reading(folder / "broken"), ErrorKind::input) << "byte " << k << " bit " << bit;
    }
    write_file(folder / "broken", whole.substr(0, k));
    ASSERT_EQ(kind_of_reading(folder / "broken"), ErrorKind::input) << "length " << k;
  }
}

ModelInfo full_rank_info() {
  ModelInfo info = example_info();
  info.model = "full-rank";
  info.options = {{"model", "full-rank"}, {"lambda", "100"}};
  return info;
}

Matrix<float> example_matrix() {
  Matrix<float> B(3, 3);
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < 3; ++i) B(j, i) = i == j ? 0.0F : 0.1F * static_cast<float>(3 * j - i);
  return B;
}

TEST(ModelFile, DenseFullRankStaysInTheFile) {
  const TemporaryFolder folder;
  const Matrix<float> B = example_matrix();
  write_model(folder / "model", full_rank_info(), FullRank(B));
  const LoadedModel loaded = read_model(folder / "model", 2);
  EXPECT_EQ(loaded.info.options, full_rank_info().options);
  ASSERT_NE(loaded.as<FullRank>(), nullptr);
  EXPECT_EQ(loaded.as<FullRank>()->sparse(), nullptr);
  std::filesystem::remove(folder / "model");
  for (std::int64_t j = 0; j < 3; ++j)
    EXPECT_TRUE(std::ranges::equal(loaded.as<FullRank>()->dense().row(j), B.row(j)));
  write_model(folder / "again", full_rank_info(), *loaded.as<FullRank>());
  write_model(folder / "model", full_rank_info(), FullRank(B));
  EXPECT_EQ(read_file(folder / "model"), read_file(folder / "again"));
}

TEST(ModelFile, SparseFullRankStaysInTheFile) {
  const TemporaryFolder folder;
  const Csr B = keep_top(example_matrix().view(), 1, 1);
  write_model(folder / "model", full_rank_info(), FullRank(B));
  const std::vector<std::byte> bytes = model_bytes(full_rank_info(), FullRank(B));
  const auto within = [&](const auto& values) {
    const auto* const at = reinterpret_cast<const std::byte*>(values.data());
    return at >= bytes.data() && at < bytes.data() + bytes.size();
  };
  const LoadedModel in_place = decode_model(Container::parse(bytes, "the model"));
  const CsrView stored = *in_place.as<FullRank>()->sparse();
  EXPECT_TRUE(within(stored.offsets) && within(stored.indices) && within(stored.values));

  const LoadedModel loaded = read_model(folder / "model");
  ASSERT_NE(loaded.as<FullRank>(), nullptr);
  ASSERT_NE(loaded.as<FullRank>()->sparse(), nullptr);
  std::filesystem::remove(folder / "model");
  const CsrView sparse = *loaded.as<FullRank>()->sparse();
  EXPECT_TRUE(std::ranges::equal(sparse.offsets, B.offsets));
  EXPECT_TRUE(std::ranges::equal(sparse.indices, B.indices));
  EXPECT_TRUE(std::ranges::equal(sparse.values, B.values));
  write_model(folder / "popularity", example_info(), Popularity({3, 0, 1}));
  EXPECT_EQ(read_model(folder / "popularity").as<FullRank>(), nullptr);
}

TEST(ModelFile, ADenseMatrixIsWrittenAndReadWithoutACopy) {
  if (!testing::DataLimit::works) GTEST_SKIP() << "sanitizers take memory of their own";
  const TemporaryFolder folder;
  constexpr std::int64_t n = 3000;
  ModelInfo info = full_rank_info();
  info.items = {};
  for (std::int64_t i = 0; i < n; ++i) info.items.push_back(std::to_string(i));
  const FullRank model(Matrix<float>(n, n, 1.5F));  // 36 MB
  write_model(folder / "model", info, model);       // the threads and their stacks are there from here on
  const testing::DataLimit limit(16 << 20);
  write_model(folder / "again", info, model);
  const LoadedModel loaded = read_model(folder / "again", 1);
  EXPECT_EQ(loaded.as<FullRank>()->contribution(n - 1, n - 1), 1.5F);
}

TEST(ModelFile, FullRankThatDoesNotFitTogetherIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const FullRank& model, const char* what) {
    write_model(folder / "model", full_rank_info(), model);
    EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input) << what;
  };
  refused(FullRank(Matrix<float>(2, 2)), "three ids, two items");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    Matrix<float> B = example_matrix();
    B(2, 1) = bad;
    refused(FullRank(B), "not a finite number");
    refused(FullRank(keep_top(B.view(), 2, 1)), "not a finite number, sparse");
  }
  const auto sparse = [](std::vector<std::int64_t> offsets, std::vector<std::int32_t> indices) {
    std::vector<float> values(indices.size(), 1.0F);
    return FullRank(Csr{.rows = 3,
                        .cols = 3,
                        .offsets = std::move(offsets),
                        .indices = std::move(indices),
                        .values = std::move(values)});
  };
  refused(sparse({0, 2, 2, 2}, {1, 3}), "a column too large");
  refused(sparse({0, 2, 2, 2}, {-1, 2}), "a negative column");
  refused(sparse({0, 2, 2, 2}, {2, 1}), "columns that descend");
  refused(sparse({0, 2, 2, 2}, {1, 1}), "a column twice");
  refused(sparse({0, 2, 1, 2}, {1, 2}), "offsets that descend");
  refused(sparse({1, 2, 2, 2}, {1, 2}), "offsets that do not begin at 0");
  refused(sparse({0, 1, 1, 1}, {1, 2}), "offsets that end too early");
  refused(sparse({0, 1, 1, 3}, {1, 2}), "offsets beyond the end");
}

Matrix<float> example_factor(std::int64_t rows, std::int64_t cols, float first) {
  Matrix<float> factor(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (float& value : factor.row(i)) value = first += 0.25F;
  }
  return factor;
}

TEST(ModelFile, AsymmetricFactorsStayInTheFile) {
  const TemporaryFolder folder;
  ModelInfo info = example_info();
  info.model = "awmf";
  const Asymmetric model(example_factor(3, 2, 1), example_factor(3, 2, -4));
  write_model(folder / "model", info, model);
  const LoadedModel loaded = read_model(folder / "model");
  std::filesystem::remove(folder / "model");
  ASSERT_NE(loaded.as<Asymmetric>(), nullptr);
  EXPECT_EQ(loaded.as<FullRank>(), nullptr);
  EXPECT_EQ(loaded.as<Asymmetric>()->rank(), 2);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::ranges::equal(loaded.as<Asymmetric>()->U().row(i), model.U().row(i)));
    EXPECT_TRUE(std::ranges::equal(loaded.as<Asymmetric>()->V().row(i), model.V().row(i)));
  }
}

TEST(ModelFile, AsymmetricFactorsThatDoNotFitTogetherAreRefused) {
  const TemporaryFolder folder;
  ModelInfo info = example_info();
  info.model = "awmf";
  write_model(folder / "model", info, Asymmetric(example_factor(2, 2, 1), example_factor(2, 2, 1)));
  EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input) << "three ids, two items";
  Matrix<float> V = example_factor(3, 2, 1);
  V(1, 1) = std::numeric_limits<float>::quiet_NaN();
  write_model(folder / "model", info, Asymmetric(example_factor(3, 2, 1), V));
  EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input) << "not a number";
  const Metadata metadata = {{"format", "poise-model"}, {"version", "1"}, {"model", "awmf"},
                             {"options", "{}"},         {"report", "{}"}, {"data_checksum", ""}};
  const std::vector<std::int64_t> id_offsets = {0, 1, 2};
  const std::vector<float> values = {1, 2, 3, 4};
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4}, {4, 1}, {1, 4}, {2, 2, 1}, {2, 2}}) {
    const std::vector<Tensor> tensors = {
        {"U", ElementType::f32, shape, std::as_bytes(std::span(values))},
        {"V", ElementType::f32, {2, 2}, std::as_bytes(std::span(values))},
        {"item_id_offsets", ElementType::i64, {3}, std::as_bytes(std::span(id_offsets))},
        {"item_ids", ElementType::u8, {2}, std::as_bytes(std::span("ab", 2))}};
    write_container(folder / "model", metadata, tensors);
    if (shape == std::vector<std::int64_t>{2, 2}) {
      EXPECT_EQ(read_model(folder / "model").scorer->items(), 2);
    } else {
      EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input);
    }
  }
}

WmfTraining example_training() {
  return {.weighting = {.scheme = Scheme::log, .alpha = 2.5, .epsilon = 0.1, .gamma = 0.7, .clip = 4},
          .lambda = {.lambda = 0.1, .exponent = 0.3, .alpha = 1},
          .users = 7,
          .item_users = {7, 0, 3}};
}

TEST(ModelFile, MatrixFactorizationFoldsInAsBefore) {
  const TemporaryFolder folder;
  ModelInfo info = example_info();
  info.model = "wmf";
  const Wmf model(example_factor(3, 2, -1), example_training());
  write_model(folder / "model", info, model);
  const LoadedModel loaded = read_model(folder / "model");
  std::filesystem::remove(folder / "model");
  ASSERT_NE(loaded.as<Wmf>(), nullptr);
  ASSERT_TRUE(loaded.item_factors().has_value());
  EXPECT_EQ(loaded.item_factors()->cols, 2);
  const WmfTraining& training = loaded.as<Wmf>()->training();
  EXPECT_EQ(training.weighting, example_training().weighting);
  EXPECT_EQ(training.item_users, example_training().item_users);
  EXPECT_EQ(training.users, 7);
  EXPECT_EQ(training.lambda.of(2, 3), example_training().lambda.of(2, 3));
  const Csr history{.rows = 1, .cols = 3, .offsets = {0, 2}, .indices = {0, 2}, .values = {1, 3}};
  Matrix<float> before(1, 3);
  Matrix<float> after(1, 3);
  model.score(history.view(), before.view());
  loaded.scorer->score(history.view(), after.view());
  EXPECT_TRUE(std::ranges::equal(before.row(0), after.row(0)));
}

TEST(ModelFile, BytesInMemoryAreThoseOfTheFile) {
  const TemporaryFolder folder;
  const Popularity popularity(std::vector<float>{3, 0, 1});
  const FullRank dense(example_factor(3, 3, 1));
  const FullRank sparse(keep_top(dense.dense(), 1, 1));
  const Asymmetric asymmetric(example_factor(3, 2, 1), example_factor(3, 2, -1));
  const Wmf wmf(example_factor(3, 2, -1), example_training());
  const std::pair<const char*, const Scorer*> models[] = {{"popularity", &popularity},
                                                          {"full-rank", &dense},
                                                          {"full-rank", &sparse},
                                                          {"awmf", &asymmetric},
                                                          {"wmf", &wmf}};
  for (const auto& [name, model] : models) {
    ModelInfo info = example_info();
    info.model = name;
    write_model(folder / "model", info, *model);
    const std::vector<std::byte> bytes = model_bytes(info, *model);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              read_file(folder / "model"));
    const LoadedModel loaded = decode_model(Container::parse(bytes, "bytes"));
    EXPECT_EQ(loaded.info.model, name);
    EXPECT_EQ(model_bytes(loaded.info, *loaded.scorer), bytes);
  }
}

TEST(ModelFile, MatrixFactorizationThatDoesNotFitTogetherIsRefused) {
  const TemporaryFolder folder;
  ModelInfo info = example_info();
  info.model = "wmf";
  const auto refused = [&](auto&& change, const char* what) {
    WmfTraining training = example_training();
    change(training);
    // Saved as it is: Wmf itself is only built from sound parts.
    const std::vector<double> numbers = {training.lambda.lambda,     training.lambda.exponent,
                                         training.lambda.alpha,      training.weighting.alpha,
                                         training.weighting.epsilon, training.weighting.gamma,
                                         training.weighting.clip};
    const std::vector<std::int64_t> users = {training.users};
    const std::vector<std::int64_t> id_offsets = {0, 1, 2, 3};
    const std::vector<float> V(6, 0.5F);
    const auto& counts = training.item_users;
    const std::vector<Tensor> tensors = {
        {"V", ElementType::f32, {3, 2}, std::as_bytes(std::span(V))},
        {"item_users",
         ElementType::i64,
         {static_cast<std::int64_t>(counts.size())},
         std::as_bytes(std::span(counts))},
        {"users", ElementType::i64, {1}, std::as_bytes(std::span(users))},
        {"fold_in", ElementType::f64, {7}, std::as_bytes(std::span(numbers))},
        {"item_id_offsets", ElementType::i64, {4}, std::as_bytes(std::span(id_offsets))},
        {"item_ids", ElementType::u8, {3}, std::as_bytes(std::span("abc", 3))}};
    write_container(folder / "model",
                    {{"format", "poise-model"},
                     {"version", "1"},
                     {"model", "wmf"},
                     {"options", "{}"},
                     {"report", "{}"},
                     {"data_checksum", ""},
                     {"weighting", "log"}},
                    tensors);
    if (what == nullptr) {
      EXPECT_EQ(read_model(folder / "model").scorer->items(), 3);
    } else {
      EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input) << what;
    }
  };
  refused([](WmfTraining&) {}, nullptr);
  refused([](WmfTraining& training) { training.item_users.pop_back(); }, "two counts");
  refused([](WmfTraining& training) { training.item_users[0] = 8; }, "more users than there are");
  refused([](WmfTraining& training) { training.item_users[0] = -1; }, "a negative count");
  refused([](WmfTraining& training) { training.lambda.lambda = -1; }, "a negative lambda");
  refused([](WmfTraining& training) { training.lambda.alpha = 0; }, "no alpha");
  refused([](WmfTraining& training) { training.weighting.epsilon = 0; }, "no epsilon");
}

/// What write_model never writes.
TEST(ModelFile, TensorsOfTheWrongShapeAreRefused) {
  const TemporaryFolder folder;
  const Metadata metadata = {{"format", "poise-model"}, {"version", "1"}, {"model", "full-rank"},
                             {"options", "{}"},         {"report", "{}"}, {"data_checksum", ""}};
  const std::vector<std::int64_t> id_offsets = {0, 1, 2};
  const std::vector<float> values = {1, 2, 3, 4};
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4}, {1, 4}, {4, 1}, {2, 2, 1}, {1, 2, 2}, {2, 2}}) {
    const std::vector<Tensor> tensors = {
        {"B", ElementType::f32, shape, std::as_bytes(std::span(values))},
        {"item_id_offsets", ElementType::i64, {3}, std::as_bytes(std::span(id_offsets))},
        {"item_ids", ElementType::u8, {2}, std::as_bytes(std::span("ab", 2))}};
    write_container(folder / "model", metadata, tensors);
    if (shape == std::vector<std::int64_t>{2, 2}) {
      EXPECT_EQ(read_model(folder / "model").scorer->items(), 2);
    } else {
      EXPECT_EQ(kind_of_reading(folder / "model"), ErrorKind::input);
    }
  }
}

TEST(ModelFile, NotAModel) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of_reading(folder / "missing"), ErrorKind::input);
  EXPECT_EQ(kind_of_reading(folder.path()), ErrorKind::input);
  write_container(folder / "data", {{"format", "poise-data"}, {"version", "1"}}, {});
  EXPECT_EQ(kind_of_reading(folder / "data"), ErrorKind::input);
}

TEST(ModelFile, WhatDoesNotFitTogetherIsRefused) {
  const TemporaryFolder folder;
  write_model(folder / "counts", example_info(), Popularity({3, 0}));
  EXPECT_EQ(kind_of_reading(folder / "counts"), ErrorKind::input) << "three ids, two counts";
  write_model(folder / "nan", example_info(), Popularity({3, 0, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_EQ(kind_of_reading(folder / "nan"), ErrorKind::input);
  ModelInfo other = example_info();
  other.model = "oracle";
  write_model(folder / "kind", other, Popularity({3, 0, 1}));
  EXPECT_EQ(kind_of_reading(folder / "kind"), ErrorKind::input);
  other = example_info();
  other.report = "{";
  write_model(folder / "report", other, Popularity({3, 0, 1}));
  EXPECT_EQ(kind_of_reading(folder / "report"), ErrorKind::input);
}

}  // namespace
}  // namespace poise
