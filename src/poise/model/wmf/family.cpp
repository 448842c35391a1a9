#include "poise/model/low_rank/family.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/wmf/fit.hpp"
#include "poise/model/wmf/wmf.hpp"

namespace poise {
namespace {

/// The tensor `fold_in`: lambda, its exponent and its alpha, then the weighting's alpha, epsilon, gamma and
/// clip; last the weight of dislikes, unless it is 1.
constexpr std::size_t fold_in_numbers = 8;

/// The parameters of folding in that the file holds besides item_users.
struct FoldInTensors {
  std::array<double, fold_in_numbers> numbers;
  std::array<std::int64_t, 1> users;
};

WmfOptions wmf_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  WmfOptions options;
  copy_low_rank(parameters, memory_limit, options);
  options.lambda_exponent = parameters.lambda_exponent;
  // A slope is not the weight of an entry.
  options.alpha = traits(parameters.weighting.scheme).slope ? 1 : parameters.weighting.alpha;
  return options;
}

class WmfFamily : public ModelFamily {
 public:
  WmfFamily() {
    name = "wmf";
    help = "matrix factorization";
    parameters = low_rank_parameters(
        {.id = "lambda-exponent", .reported = true, .help = "users and items by their counts to this power"});
    kinds = {{.place = 2,
              .key = name,
              .title = "WMF",
              .objective = "‖√W ∘ (X − UVᵀ)‖² + λ(‖U‖² + ‖V‖²)",
              .name = name}};
  }

  void validate(const ModelParameters& each) const override { poise::validate(wmf_options(each, 0)); }

  [[nodiscard]] Trained fit(const ModelParameters& each, const Weights& W,
                            FitContext& context) const override {
    context.basis = {};
    context.left = {};
    const WmfOptions options = wmf_options(each, context.memory_limit);
    std::map<std::string, double> seconds;
    Stopwatch watch(seconds);
    const Spectrum none;
    const bool begins_there = each.start == Start::closed_form && context.earlier == nullptr;
    const Spectrum& pairs = begins_there ? context.eigenpairs(each.rank) : none;
    watch.book("eigenpairs");
    std::optional<RoundCheckpoint> checkpoint = round_checkpoint(context);
    LowRankFit fit = fit_wmf(context.X, W, options, pairs, context.backend, context.execution,
                             checkpoint ? &*checkpoint : nullptr, context.earlier, context.processes);
    fit.seconds.merge(seconds);
    WmfTraining training{.weighting = each.weighting,
                         .lambda = options.regularization(),
                         .users = context.X.rows,
                         .item_users = column_counts(context.X, context.execution.threads)};
    return trained_of(fit, std::make_shared<Wmf>(std::move(fit.V), std::move(training)));
  }

  [[nodiscard]] TrainingCost cost(const ModelParameters& each, const TrainingInput& on,
                                  std::uint64_t /*memory_limit*/, const Weights& /*W*/,
                                  int /*threads*/) const override {
    const CsrView X = on.X;
    const bool eigenpairs = each.start == Start::closed_form;
    return low_rank_cost(each, X, memory(each, X) + (eigenpairs ? eigenpair_bytes(each, X) : 0), eigenpairs,
                         240, 0);
  }

  [[nodiscard]] double gpu_bytes(const ModelParameters& each, CsrView X) const override {
    return low_rank_gpu_bytes(X, static_cast<double>(memory(each, X)));
  }

  [[nodiscard]] std::unique_ptr<Scorer> read(const Container& file, int threads) const override {
    const MatrixView<const float> V = finite_matrix(file, "V", threads);
    const auto item_users = file.elements<std::int64_t>("item_users");
    const auto users = file.elements<std::int64_t>("users");
    const auto numbers = file.elements<double>("fold_in");
    expect_sound(file,
                 std::ssize(item_users) == V.rows && users.size() == 1 &&
                     (numbers.size() == fold_in_numbers || numbers.size() == fold_in_numbers - 1),
                 "its parts do not fit together");
    const auto possible = [&](std::int64_t count) { return count >= 0 && count <= users[0]; };
    expect_sound(file, users[0] >= 0 && std::ranges::all_of(item_users, possible),
                 "an item has more users than there are");
    WmfTraining training{.weighting = {.alpha = numbers[3],
                                       .epsilon = numbers[4],
                                       .gamma = numbers[5],
                                       .clip = numbers[6],
                                       .alpha_negative = numbers.size() == fold_in_numbers ? numbers[7] : 1},
                         .lambda = {.lambda = numbers[0], .exponent = numbers[1], .alpha = numbers[2]},
                         .users = users[0],
                         .item_users = {item_users.begin(), item_users.end()}};
    expect_sound(file,
                 std::isfinite(numbers[0]) && numbers[0] >= 0 && std::isfinite(numbers[1]) &&
                     std::isfinite(numbers[2]) && numbers[2] > 0,
                 "its regularization is out of range");
    try {
      training.weighting.scheme = parse_scheme(file.metadata("weighting"));
      poise::validate(training.weighting);
    } catch (const Error& error) {
      expect_sound(file, false, error.sentence());
    }
    return std::make_unique<Wmf>(V, file.owner(), std::move(training));
  }

  [[nodiscard]] std::optional<ModelContent> content(const Scorer& model) const override {
    const auto* const wmf = dynamic_cast<const Wmf*>(&model);
    if (wmf == nullptr) return {};
    const WmfTraining& training = wmf->training();
    const WeightingOptions& weighting = training.weighting;
    const auto kept = std::make_shared<const FoldInTensors>(FoldInTensors{
        {training.lambda.lambda, training.lambda.exponent, training.lambda.alpha, weighting.alpha,
         weighting.epsilon, weighting.gamma, weighting.clip, weighting.alpha_negative},
        {training.users}});
    const std::span<const double> numbers =
        std::span(kept->numbers).first(fold_in_numbers - (weighting.alpha_negative == 1 ? 1 : 0));
    return ModelContent{{tensor_of("V", wmf->V()),
                         tensor_of("item_users", ElementType::i64, training.item_users, {model.items()}),
                         tensor_of("users", ElementType::i64, kept->users, {1}),
                         tensor_of("fold_in", ElementType::f64, numbers, {std::ssize(numbers)})},
                        {{"weighting", std::string(scheme_name(weighting.scheme))}},
                        kept};
  }

 private:
  static std::uint64_t memory(const ModelParameters& each, CsrView X) {
    return wmf_memory(X.rows, X.cols, X.entries(), std::min(each.rank, X.cols));
  }
};

}  // namespace

std::unique_ptr<ModelFamily> wmf_family() { return std::make_unique<WmfFamily>(); }

}  // namespace poise
