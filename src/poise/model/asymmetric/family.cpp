#include "poise/model/low_rank/family.hpp"

#include "poise/base/stopwatch.hpp"
#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/asymmetric/fit.hpp"
#include "poise/model/spectrum/cache.hpp"

namespace poise {
namespace {

/// In the order of Regularizer.
const std::vector<std::string>& regularizers() {
  static const std::vector<std::string> names = {"weight-decay", "dropout", "data-weight-decay"};
  return names;
}

AsymmetricOptions asymmetric_options(const ModelParameters& parameters, std::uint64_t memory_limit) {
  AsymmetricOptions options;
  copy_low_rank(parameters, memory_limit, options);
  options.regularizer = parameters.regularizer;
  return options;
}

class AsymmetricFamily : public ModelFamily {
 public:
  AsymmetricFamily() {
    name = "awmf";
    help = fmt::format(
        "its low-rank form, scores x U V'; short for it with that {}: weight-decay, dropout, "
        "data-weight-decay",
        "regularizer"_p);
    parameters = low_rank_parameters({.id = "regularizer", .reported = true});
    own = {{{.id = "regularizer",
             .help = "what lambda weighs; weight-decay: |U|^2 + |V|^2, dropout: |U V'|^2, data-weight-decay: "
                     "|X U|^2 + |V|^2",
             .names = regularizers()},
            in_member(&ModelParameters::regularizer)}};
    const auto kind = [](int place, const std::string& regularizer, std::string title,
                         const std::string& penalty) {
      return ModelKind{.place = place,
                       .key = "awmf/" + regularizer,
                       .title = std::move(title),
                       .objective = "‖√W ∘ (X − XUVᵀ)‖² + λ" + penalty,
                       .name = regularizer,
                       .fixed = {{"regularizer", regularizer}}};
    };
    kinds = {kind(1, "weight-decay", "AWMF, weight decay", "(‖U‖² + ‖V‖²)"),
             kind(3, "dropout", "AWMF, dropout", "‖UVᵀ‖²"),
             kind(4, "data-weight-decay", "AWMF, data/weight decay", "(‖XU‖² + ‖V‖²)")};
  }

  void validate(const ModelParameters& each) const override { poise::validate(asymmetric_options(each, 0)); }

  [[nodiscard]] Trained fit(const ModelParameters& each, const Weights& W,
                            FitContext& context) const override {
    context.basis = {};
    std::map<std::string, double> seconds;
    Stopwatch watch(seconds);
    const Spectrum& pairs = context.eigenpairs(each.rank);
    watch.book("eigenpairs");
    std::optional<RoundCheckpoint> checkpoint = round_checkpoint(context);
    LowRankFit fit = fit_asymmetric(context.X, W, asymmetric_options(each, context.memory_limit), pairs,
                                    context.backend, context.execution, &context.left,
                                    checkpoint ? &*checkpoint : nullptr, context.earlier, context.processes);
    fit.seconds.merge(seconds);
    return trained_of(fit, std::make_shared<Asymmetric>(std::move(fit.U), std::move(fit.V)));
  }

  [[nodiscard]] TrainingCost cost(const ModelParameters& each, const TrainingInput& on,
                                  std::uint64_t memory_limit, const Weights& W,
                                  int /*threads*/) const override {
    const CsrView X = on.X;
    const std::int64_t rank = std::min(each.rank, X.cols);
    std::uint64_t held = asymmetric_memory(X, rank) + eigenpair_bytes(each, X);
    LeftFactorCost left;
    if (has_rounds(each))
      left = left_factor_cost(X, W, each.regularizer, each.lambda, spectrum_step(each.rank, X.cols),
                              memory_limit - std::min(held, memory_limit));
    constexpr double iterations = 3;  // of U's, in a round
    return low_rank_cost(each, X, held + left.bytes, true, 300,
                         iterations * left.operations * static_cast<double>(rank));
  }

  [[nodiscard]] double gpu_bytes(const ModelParameters& each, CsrView X) const override {
    const auto left_factor = 4 * static_cast<double>(X.cols) * static_cast<double>(X.cols);
    return low_rank_gpu_bytes(
        X, static_cast<double>(asymmetric_memory(X, std::min(each.rank, X.cols))) + left_factor);
  }

  [[nodiscard]] std::unique_ptr<Scorer> read(const Container& file, int threads) const override {
    const MatrixView<const float> U = finite_matrix(file, "U", threads);
    const MatrixView<const float> V = finite_matrix(file, "V", threads);
    expect_sound(file, U.rows == V.rows && U.cols == V.cols, "its tensors U and V do not fit together");
    return std::make_unique<Asymmetric>(U, V, file.owner());
  }

  [[nodiscard]] std::optional<ModelContent> content(const Scorer& model) const override {
    const auto* const factors = dynamic_cast<const Asymmetric*>(&model);
    if (factors == nullptr) return {};
    return ModelContent{{tensor_of("U", factors->U()), tensor_of("V", factors->V())}};
  }
};

}  // namespace

std::string_view regularizer_name(Regularizer regularizer) {
  return regularizers()[static_cast<std::size_t>(regularizer)];
}

std::unique_ptr<ModelFamily> asymmetric_family() { return std::make_unique<AsymmetricFamily>(); }

}  // namespace poise
