#include "poise/model/full_rank/family.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "poise/model/family.hpp"
#include "poise/model/full_rank/dense_checkpoint.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/full_rank/kinds.hpp"
#include "poise/model/full_rank/spread_fit.hpp"
#include "poise/model/full_rank/spread_full_rank.hpp"
#include "poise/model/neighbours/train.hpp"

namespace poise {
namespace {

constexpr std::int64_t rows_per_tile = 1024;

/// Row r of B ascends within the catalogue.
bool row_is_sound(CsrView B, std::int64_t r) {
  const auto columns = B.row(r);
  return columns.empty() ||
         (columns.front() >= 0 && columns.back() < B.cols &&
          std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end());
}

std::unique_ptr<Scorer> read_sparse(const Container& file, int threads) {
  const auto offsets = file.elements<std::int64_t>("B.offsets");
  const auto indices = file.elements<std::int32_t>("B.indices");
  const auto values = finite_elements(file, "B.values", threads);
  const auto expect = [&](bool sound) { expect_sound(file, sound, "its sparse B does not fit together"); };
  expect(are_offsets_of(offsets, indices.size()) && values.size() == indices.size());
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const CsrView B{.rows = n, .cols = n, .offsets = offsets, .indices = indices, .values = values};
  const Tiling tiling{n, rows_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t r = tiling.first(tile); r < tiling.last(tile); ++r) expect(row_is_sound(B, r));
  });
  return std::make_unique<FullRank>(B, file.owner());
}

/// B, read from its processes some rows at a time while it is written.
Tensor tensor_of_rows(const SpreadFullRank& model) {
  constexpr std::uint64_t bytes_at_once = std::uint64_t{4} << 20U;
  const auto n = static_cast<std::uint64_t>(model.items());
  const std::uint64_t row_bytes = n * sizeof(float);
  const std::uint64_t most =
      std::max<std::uint64_t>(1, bytes_at_once / std::max<std::uint64_t>(1, row_bytes));
  struct Window {
    std::uint64_t first = 0;
    Matrix<float> rows;
  };
  const auto window = std::make_shared<Window>();
  const auto make = [&model, n, row_bytes, most, window](std::uint64_t offset, std::span<std::byte> to) {
    while (!to.empty()) {
      const std::uint64_t row = offset / row_bytes;
      if (row < window->first || row >= window->first + static_cast<std::uint64_t>(window->rows.rows())) {
        window->first = row;
        window->rows = Matrix<float>(static_cast<std::int64_t>(std::min(most, n - row)), model.items());
        model.read_rows(static_cast<std::int64_t>(row), window->rows.view());
      }
      const auto there = std::as_bytes(std::span(window->rows.view().data, window->rows.rows() * n));
      const auto part = there.subspan(offset - window->first * row_bytes);
      const std::size_t count = std::min(part.size(), to.size());
      std::ranges::copy(part.first(count), to.begin());
      to = to.subspan(count);
      offset += count;
    }
  };
  return {.name = "B",
          .type = ElementType::f32,
          .shape = {model.items(), model.items()},
          .bytes = {},
          .make = make,
          .made_bytes = n * row_bytes};
}

/// What is known of a model, without the model.
Trained trained_of(const FullRankFit& fit, const FullRankSolution& solution) {
  return {.model = nullptr,
          .objective = solution.objective,
          .observed_weight = solution.observed_weight,
          .certificate = solution.certificate,
          .iterations = fit.iterations,
          .converged = solution.converged,
          .seconds = fit.seconds,
          .objective_error = solution.objective_error,
          .condition = fit.condition,
          .float64 = fit.float64,
          .tensor_cores = fit.tensor_cores,
          .direct_columns = fit.direct_columns,
          .iterated_columns = fit.iterated_columns,
          .worst_column = fit.worst_column};
}

TrainedToUpdate to_update(FullRankFit fit, const Weights& W, TrainingCounts counts, FitContext& context) {
  if (fit.solutions.empty()) {
    TrainedToUpdate none;
    none.trained.condition = fit.condition;
    none.good = false;
    return none;
  }
  FullRankSolution& solution = fit.solutions.front();
  TrainedToUpdate result{.trained = trained_of(fit, solution), .kept = {}, .good = solution.good()};
  result.kept = keep_inverse(fit, context.basis, std::move(counts), !W.c.empty() || !W.b.empty());
  result.trained.model = std::make_shared<FullRank>(std::move(solution.B));
  context.basis = {};
  return result;
}

class FullRankFamily : public ModelFamily {
 public:
  FullRankFamily() {
    name = "full-rank";
    help = fmt::format(
        "the item-item autoencoder; ease is short for it with {}, edlae with {} too; full-rank-nu and "
        "ease-nu with a {}; full-rank-features and ease-features with a {}",
        "zero-diagonal"_p, "dropout"_p, "lambda-exponent"_p, "feature-weight"_p);
    // A plain model is written as it was before there was an exponent: the same file, the same journal entry.
    parameters = {{.id = "zero-diagonal", .reported = true, .costs = false},
                  {.id = "lambda-exponent",
                   .reported = true,
                   .costs = false,
                   .help = "regularize an item by lambda (users / their geometric mean over items)^this",
                   .kept = [](const ModelParameters& each) { return each.lambda_exponent != 0; }},
                  {.id = "neighbours",
                   .reported = true,
                   .kept = [](const ModelParameters& each) { return each.neighbours != 0; }},
                  {.id = "lambda", .reported = true, .costs = false},
                  {.id = "dropout", .reported = true, .costs = false},
                  {.id = "feature-weight",
                   .reported = true,
                   .kept = [](const ModelParameters& each) { return each.feature_weight != 1; }},
                  {.id = "alpha", .reported = true},
                  {.id = "weighting", .reported = true},
                  {.id = "epsilon"},
                  {.id = "gamma"},
                  {.id = "clip"},
                  alpha_negative_parameter(),
                  {.id = "tolerance"}};
    own = {{{.id = "zero-diagonal", .help = "an item must not predict itself"},
            in_member(&ModelParameters::zero_diagonal)},
           {{.id = "dropout",
             .help = "probability of dropout; p adds p/(1-p) diag(X'X) to the regularization",
             .axis = SearchAxis::free},
            in_member(&ModelParameters::dropout)},
           {{.id = "neighbours",
             .help = "entries of each column of B; exact on them, in memory for these alone; 0 is all items",
             .least = 0,
             .most = 2'147'483'647,
             .axis = SearchAxis::listed},
            in_member(&ModelParameters::neighbours)},
           {{.id = "lambda-exponent",
             .keyword = "regularization_exponent",
             .help = "how the regularization of a user or item depends on its count",
             .axis = SearchAxis::free},
            in_member(&ModelParameters::lambda_exponent)},
           {{.id = "feature-weight",
             .help = "Weight of the items' features, relative to a user without weights; 0 ignores them",
             .least = 0,
             .axis = SearchAxis::free},
            in_member(&ModelParameters::feature_weight)}};
    kinds = full_rank_kinds(name);
  }

  void validate(const ModelParameters& each) const override {
    poise::validate(full_rank_options(each, 0));
    if (each.neighbours < 0)
      fail(ErrorKind::usage, "{} {} is out of range: it must be at least 1, or 0 for all items",
           "neighbours"_p, each.neighbours);
  }

  [[nodiscard]] Trained fit(const ModelParameters& each, const Weights& W,
                            FitContext& context) const override {
    const FullRankOptions options = full_rank_options(each, context.memory_limit, context.features);
    if (each.neighbours > 0) return train_neighbours(options, each.neighbours, W, context);
    return std::move(train_full_rank(options, W, context).front());
  }

  [[nodiscard]] TrainingCost cost(const ModelParameters& each, const TrainingInput& on,
                                  std::uint64_t memory_limit, const Weights& W, int threads) const override {
    const CsrView X = on.X;
    const FullRankOptions options = full_rank_options(each, memory_limit, on.features);
    if (each.neighbours > 0) return neighbours_cost(options, each.neighbours, X, W);
    const FullRankMemory memory = full_rank_memory(X, !W.uniform(), 1);
    const bool with_T = !W.c.empty() && W.b.empty() && memory.with_T <= memory_limit;
    const std::uint64_t of_features = feature_bytes(options);
    const auto bytes = static_cast<double>((with_T ? memory.with_T : memory.least) + of_features);
    const double matrix = sizeof(float) * static_cast<double>(X.cols) * static_cast<double>(X.cols);
    return {.bytes = bytes,
            .most_bytes = matrix + std::max(bytes, static_cast<double>(full_rank_memory(X, true, 2).least +
                                                                       of_features)),
            .fit = full_rank_operations(X, W, options, threads)};
  }

  [[nodiscard]] double gpu_bytes(const ModelParameters& each, CsrView X) const override {
    if (each.neighbours > 0) return 0;
    return static_cast<double>(full_rank_gpu_memory(X.cols, !each.uniform(), 1));
  }

  [[nodiscard]] double least_operations(double items) const override { return items * items * items; }

  void check_memory(const ModelParameters& each, const TrainingInput& on, std::uint64_t memory_limit,
                    const Weights& W, const TrainingCost* /*cost*/, bool both_diagonals) const override {
    FullRankOptions options = full_rank_options(each, memory_limit, on.features);
    if (each.neighbours > 0) return check_neighbours_memory(options, each.neighbours, on.X, W);
    if (both_diagonals) options.unconstrained = options.zero_diagonal = true;
    check_full_rank_memory(on.X, W, options);
  }

  [[nodiscard]] std::unique_ptr<Scorer> read(const Container& file, int threads) const override {
    if (file.has("B.offsets")) return read_sparse(file, threads);
    const MatrixView<const float> B = finite_matrix(file, "B", threads);
    expect_sound(file, B.rows == B.cols, "its tensor B is not square");
    return std::make_unique<FullRank>(B, file.owner());
  }

  [[nodiscard]] std::optional<ModelContent> content(const Scorer& model) const override {
    if (const auto* const spread = dynamic_cast<const SpreadFullRank*>(&model))
      return ModelContent{{tensor_of_rows(*spread)}};
    const auto* const full_rank = dynamic_cast<const FullRank*>(&model);
    if (full_rank == nullptr) return {};
    const CsrView* const sparse = full_rank->sparse();
    if (sparse == nullptr) return ModelContent{{tensor_of("B", full_rank->dense())}};
    return ModelContent{{tensor_of("B.offsets", ElementType::i64, sparse->offsets, {model.items() + 1}),
                         tensor_of("B.indices", ElementType::i32, sparse->indices, {sparse->entries()}),
                         tensor_of("B.values", ElementType::f32, sparse->values, {sparse->entries()})}};
  }
};

}  // namespace

std::unique_ptr<ModelFamily> full_rank_family() { return std::make_unique<FullRankFamily>(); }

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  return {.lambda = parameters.lambda,
          .lambda_exponent = parameters.lambda_exponent,
          .dropout = parameters.dropout,
          .unconstrained = !parameters.zero_diagonal,
          .zero_diagonal = parameters.zero_diagonal,
          .feature_weight = parameters.feature_weight,
          .tolerance = parameters.tolerance,
          .memory_limit = memory_limit};
}

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit,
                                  CsrView features) {
  FullRankOptions options = full_rank_options(parameters, memory_limit);
  if (features.rows == 0) {
    if (parameters.feature_weight != 0 && parameters.feature_weight != ModelParameters().feature_weight)
      fail(ErrorKind::usage,
           "{} {} weighs features of items, and the data have none: prepare them with {}, or leave {} out",
           "feature-weight"_p, parameters.feature_weight, "item-features"_p, "feature-weight"_p);
    return options;
  }
  options.features = features;
  return options;
}

std::vector<Trained> train_full_rank(const FullRankOptions& options, const Weights& W, FitContext& context) {
  const int solutions = static_cast<int>(options.unconstrained) + static_cast<int>(options.zero_diagonal);
  const bool keep =
      context.keep && full_rank_memory(context.X, true, solutions).least <= context.memory_limit;
  if (!keep) context.basis = {};
  std::optional<DenseCheckpoint> checkpoint;
  if (!context.checkpoint.empty() && solutions == 1)
    checkpoint.emplace(context.checkpoint, context.checkpoint_key, context.X.cols, nullptr,
                       context.execution.observer);
  FullRankFit fit =
      fit_full_rank(context.X, W, options, context.backend, context.execution,
                    keep ? &context.basis : nullptr, nullptr, checkpoint ? &*checkpoint : nullptr);
  std::vector<Trained> result;
  for (FullRankSolution& solution : fit.solutions) {
    result.push_back(trained_of(fit, solution));
    result.back().model = std::make_shared<FullRank>(std::move(solution.B));
  }
  return result;
}

TrainedToUpdate train_to_update(const FullRankOptions& options, const Weights& W, FitContext& context) {
  context.basis = {};
  context.basis.in_place = true;
  FullRankFit fit = fit_full_rank(context.X, W, options, context.backend, context.execution, &context.basis);
  return to_update(std::move(fit), W, training_counts(context.X, context.execution.threads), context);
}

TrainedToUpdate continue_training(const FullRankOptions& options, const Weights& W,
                                  const FullRankStart& start, TrainingCounts counts, FitContext& context) {
  context.basis.in_place = true;
  FullRankFit fit =
      continue_full_rank(context.X, W, options, start, context.basis, context.backend, context.execution);
  return to_update(std::move(fit), W, std::move(counts), context);
}

Trained train_full_rank_spread(const FullRankOptions& options, const Weights& W, const ColumnShare& share,
                               FitContext& context) {
  std::optional<DenseCheckpoint> checkpoint;
  if (!context.checkpoint.empty())
    checkpoint.emplace(context.checkpoint, context.checkpoint_key, context.X.cols, &share,
                       context.execution.observer);
  FullRankFit fit = fit_full_rank_spread(context.X, W, options, share, context.backend, context.execution,
                                         checkpoint ? &*checkpoint : nullptr);
  FullRankSolution& solution = fit.solutions.front();
  Trained trained = trained_of(fit, solution);
  trained.model = std::make_shared<SpreadFullRank>(std::move(solution.B), share);
  return trained;
}

}  // namespace poise
