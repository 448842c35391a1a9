#include "poise/train/trainer.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/full_rank/certify.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/search/search.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/model_file.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/random_data.hpp"
#include "support/random_dataset.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

std::vector<std::byte> bytes_of(const Trained& trained) { return model_bytes({}, *trained.model); }

/// A matrix that somebody else holds is trained on as prepared data is, without anything written beside it.
TEST(Trainer, AMatrixWithoutAFolder) {
  const testing::TemporaryFolder folder;
  const LoadedDataset data{testing::random_dataset({.users = 80, .items = 25, .values = true, .seed = 3}),
                           "checksum"};
  const auto backend = make_backend(BackendKind::cpu, 2);
  Trainer stored(data, folder / "data", Keep::nothing, 1U << 30U, *backend, {.threads = 2});
  Trainer bare(data.dataset.train.view(), Keep::nothing, 1U << 30U, *backend, {.threads = 2});
  std::filesystem::create_directory(folder / "data");
  for (const Family family : {Family::full_rank, Family::awmf, Family::wmf, Family::popularity}) {
    ModelParameters parameters{.family = family, .rank = 5, .lambda = 3};
    parameters.weighting.alpha = 4;
    const Trained expected = stored.train(parameters);
    const Trained trained = bare.train(parameters);
    EXPECT_EQ(bytes_of(trained), bytes_of(expected)) << family_name(family);
    EXPECT_EQ(trained.objective, expected.objective);
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder / "data")) << "eigenpairs lie beside the data";
  EXPECT_FALSE(std::filesystem::exists("spectrum-25.poise"));
}

/// What a model file says of a full-rank model is what it was trained with; files from before there was an
/// exponent are of models without one, and those still look the same.
TEST(Trainer, FullRankParametersOfAFile) {
  ModelParameters parameters{.zero_diagonal = true, .dropout = 0.2, .lambda = 30};
  std::map<std::string, std::string> texts = option_texts(parameters);
  EXPECT_FALSE(texts.contains("lambda-exponent"));
  EXPECT_EQ(parameters_of(texts).lambda_exponent, 0);
  for (const double exponent : {-0.5, 0.1, 0.75}) {
    parameters.lambda_exponent = exponent;
    texts = option_texts(parameters);
    const ModelParameters read = parameters_of(texts);
    EXPECT_EQ(read.lambda_exponent, exponent);
    EXPECT_EQ(full_rank_options(read, 0).lambda_exponent, exponent);
    EXPECT_EQ(option_texts(read), texts);
  }
  texts["lambda-exponent"] = "half";
  EXPECT_THROW(parameters_of(texts), Error);
}

/// Weights that are known already change nothing, neither the model nor what it is said to cost.
TEST(Trainer, WeightsThatAreKnown) {
  const Csr X = testing::random_dataset({.users = 80, .items = 25, .values = true, .seed = 3}).train;
  const auto backend = make_backend(BackendKind::cpu, 2);
  Trainer trainer(X.view(), Keep::nothing, 1U << 30U, *backend, {.threads = 2});
  for (const Family family : {Family::full_rank, Family::awmf, Family::wmf}) {
    ModelParameters parameters{.family = family, .rank = 5, .lambda = 3};
    parameters.weighting.alpha = 4;
    const Weights W = make_weights(X.view(), parameters.weighting, 2);
    EXPECT_EQ(bytes_of(trainer.train(parameters, &W)), bytes_of(trainer.train(parameters)));
    const TrainingCost cost =
        training_cost(parameters, X.view(), 1U << 30U, weights_of(parameters, X.view()));
    const TrainingCost known = training_cost(parameters, X.view(), 1U << 30U, W, 3);
    EXPECT_EQ(known.operations(), cost.operations());
    EXPECT_EQ(known.bytes, cost.bytes);
    const Work work = training_work(std::span(&parameters, 1), X.view(), {}, 1U << 30U, worth_a_gpu);
    EXPECT_EQ(work.operations, known.operations());
    EXPECT_EQ(work.gpu_bytes, known.gpu_bytes);
    EXPECT_NO_THROW(check_memory(parameters, X.view(), 1U << 30U, W, &known));
    EXPECT_THROW(check_memory(parameters, X.view(), 1000, W, &known), Error);
  }
}

/// What features take is known before any work, of one model and of a search.
TEST(Trainer, FeaturesAreInTheEstimate) {
  const Csr X = testing::random_dataset({.users = 80, .items = 25, .values = true, .seed = 3}).train;
  const Csr F = testing::random_csr(5000, 25, 0.3, false, 4);
  for (const std::int64_t neighbours : {0, 7}) {
    for (const double alpha : {1.0, 3.0}) {
      ModelParameters parameters{.neighbours = neighbours, .lambda = 3, .weighting = {.alpha = alpha}};
      const Weights W = weights_of(parameters, X.view());
      const auto bytes = [&](const TrainingInput& on) {
        return training_cost(parameters, on, 1U << 30U, W).bytes;
      };
      const auto more =
          static_cast<double>(feature_bytes(full_rank_options(parameters, 1U << 30U, F.view())));
      const double plain = bytes(X.view());
      EXPECT_GT(more, 2e6);
      EXPECT_GE(bytes({X.view(), F.view()}), plain + more);
      const auto limit = static_cast<std::uint64_t>(plain + more / 2);
      EXPECT_NO_THROW(check_memory(parameters, X.view(), limit, W));
      EXPECT_THROW(check_memory(parameters, {X.view(), F.view()}, limit, W), Error);
      SearchSpace space{.base = parameters, .lambda = {1, 3}, .alpha = {alpha}};
      EXPECT_NO_THROW(check_memory(space, X.view(), {}, limit));
      EXPECT_THROW(check_memory(space, X.view(), F.view(), limit), Error);
      space.base.feature_weight = parameters.feature_weight = 0;
      EXPECT_NO_THROW(check_memory(space, X.view(), F.view(), limit));
      EXPECT_EQ(bytes({X.view(), F.view()}), plain);
    }
  }
}

/// Nothing that is given the weights makes them again: it would read the values, which are spoiled by then.
TEST(Trainer, WeightsAreMadeOnce) {
  Csr X = testing::random_dataset({.users = 80, .items = 25, .values = true, .seed = 3}).train;
  const std::vector<float> values = X.values;
  const auto backend = make_backend(BackendKind::cpu, 2);
  const Execution execution{.threads = 2};
  for (const Family family : {Family::full_rank, Family::awmf, Family::wmf}) {
    ModelParameters parameters{.family = family, .rank = 5, .lambda = 3};
    parameters.weighting = {.scheme = Scheme::linear, .alpha = 0.5};
    X.values = values;
    const Weights W = weights_of(parameters, X.view());
    std::ranges::fill(X.values, -1.0F);
    ASSERT_THROW(weights_of(parameters, X.view()), Error);
    const TrainingCost cost = training_cost(parameters, X.view(), 1U << 30U, W, 2);
    check_memory(parameters, X.view(), 1U << 30U, W, &cost);
    check_memory(parameters, X.view(), 1U << 30U, W);
    Trainer trainer(X.view(), Keep::nothing, 1U << 30U, *backend, execution);
    const Trained trained = trainer.train(parameters, &W);
    EXPECT_GT(trained.objective, 0);
    if (family != Family::full_rank) continue;
    const FullRankOptions options = full_rank_options(parameters, 1U << 30U);
    const MatrixView<const float> B = dynamic_cast<const FullRank&>(*trained.model).dense();
    const double objective =
        full_rank_objective(X.view(), W, options, keep_top(B, B.rows, 2).view(), *backend, execution);
    EXPECT_NEAR(objective, trained.objective, 1e-6 * objective);
    Matrix<float> columns(B.rows, B.cols);
    for (std::int64_t j = 0; j < B.rows; ++j) {
      for (std::int64_t i = 0; i < B.cols; ++i) columns(i, j) = B(j, i);
    }
    EXPECT_TRUE(certify_full_rank(X.view(), W, options, std::move(columns), *backend, execution).converged);
  }
}

}  // namespace
}  // namespace poise
