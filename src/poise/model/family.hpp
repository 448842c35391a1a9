#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/model/fit_context.hpp"
#include "poise/model/model_content.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// How a family uses a parameter.
struct FamilyParameter {
  std::string_view id;
  bool reported = false;       ///< the JSON of a trained model has it; in the order of the family's list
  bool costs = true;           ///< whether its value changes the cost of training
  std::string_view help = {};  ///< its help for this family; empty: that of its declaration
  bool (*kept)(const ModelParameters&) = nullptr;  ///< whether files and journals have it; null: always
};

/// The weight of dislikes, which files and journals have where there is one.
FamilyParameter alpha_negative_parameter();

/// An axis that is searched for a kind of model, over these values, or by profiles over this range.
struct KindAxis {
  std::string id;
  std::vector<double> values;
  std::vector<double> range;
  std::string needs;       ///< the range of its values: "above 0"
  bool exclusive = false;  ///< whether other kinds of the same fixed parameters cannot have it
};

/// A kind of model, as tables show it: a row pair of a study, a short form of --model.
struct ModelKind {
  int place = 0;    ///< in tables: the paper's models 1 to 5, then the others
  std::string key;  ///< "awmf/weight-decay": how results name it, with `zero_diagonal`
  bool zero_diagonal = false;
  std::string title;              ///< "AWMF, weight decay"
  std::string variant = "plain";  ///< within its key's first part: "zero diag."
  std::string objective = {};     ///< the objective, for the paper's models
  std::string name = {};          ///< of --model and --models; empty: no study has it
  std::vector<std::pair<std::string, std::string>> fixed = {};  ///< parameters beside the family, by id
  std::vector<KindAxis> axes = {};
  bool in_all = true;  ///< whether --models all has it
  Family family = {};  ///< set by model_kinds()

  /// The paper's number; empty beyond it.
  [[nodiscard]] std::string number() const { return place <= 5 ? std::to_string(place) : std::string(); }
  [[nodiscard]] bool low_rank() const;
};

/// What a model is trained on, for estimates.
struct TrainingInput {
  CsrView X;
  CsrView features = {};  ///< of the items; no rows: none

  TrainingInput(CsrView users, CsrView of_items = {})
      : X(users), features(of_items) {}  // NOLINT(*-explicit-*)
};

/// The cost of training, estimated from the data's sizes and the parameters alone: operations of a matrix
/// product (a gathered operation counts as many), and bytes besides the data.
struct TrainingCost {
  double bytes = 0;
  double most_bytes = 0;  ///< with what a search may need besides: both diagonals, float64
  double eigenpairs = 0;  ///< operations; for low rank, unless a file beside the data has them
  double fit = 0;         ///< of full rank, and of a closed form
  double round = 0;       ///< of low rank with weights
  double compared = 0;    ///< of `fit`, the comparison with the dense optimum, which a search leaves out
  double gpu_bytes = 0;   ///< of a GPU's memory, if it trains
  bool gpu = true;        ///< whether a GPU can train it

  /// The total, with fifteen rounds if there are rounds.
  [[nodiscard]] double operations() const { return eigenpairs + (round > 0 ? 15 * round : fit); }
  /// The part of it that a GPU could do.
  [[nodiscard]] double gpu_operations() const { return gpu ? operations() : 0; }
};

/// All that the rest of the library knows of a family of models. A new family is a folder with a family.cpp,
/// an enumerator and a line in family.cpp.
class ModelFamily {
 public:
  ModelFamily() = default;
  ModelFamily(const ModelFamily&) = delete;
  ModelFamily& operator=(const ModelFamily&) = delete;
  virtual ~ModelFamily() = default;

  std::string name;                         ///< "full-rank"
  std::string help;                         ///< one line for users
  std::vector<FamilyParameter> parameters;  ///< those that it reads; none: there is nothing to train
  std::vector<ModelParameter> own = {};     ///< those that it declares itself
  std::vector<ModelKind> kinds;

  [[nodiscard]] const FamilyParameter* find(std::string_view id) const;
  [[nodiscard]] bool low_rank() const { return find("rank") != nullptr; }

  /// Error{usage} for parameters out of range.
  virtual void validate(const ModelParameters& /*parameters*/) const {}
  [[nodiscard]] virtual Trained fit(const ModelParameters& parameters, const Weights& W,
                                    FitContext& context) const = 0;
  [[nodiscard]] virtual TrainingCost cost(const ModelParameters& /*parameters*/, const TrainingInput& /*on*/,
                                          std::uint64_t /*memory_limit*/, const Weights& /*W*/,
                                          int /*threads*/) const {
    return {};
  }
  /// TrainingCost::gpu_bytes alone.
  [[nodiscard]] virtual double gpu_bytes(const ModelParameters& /*parameters*/, CsrView /*X*/) const {
    return 0;
  }
  /// A lower bound on the operations of training with this many items, to decide early that a GPU is used.
  [[nodiscard]] virtual double least_operations(double /*items*/) const { return 0; }
  /// Error{resources}, which says what would fit, if training does not; its cost where it is known.
  virtual void check_memory(const ModelParameters& parameters, const TrainingInput& on,
                            std::uint64_t memory_limit, const Weights& W, const TrainingCost* known,
                            bool both_diagonals) const;

  /// Reads the model of a file; Error{input} if it is damaged.
  [[nodiscard]] virtual std::unique_ptr<Scorer> read(const Container& file, int threads) const = 0;
  /// The contents of such a file; none if the model is of another family.
  [[nodiscard]] virtual std::optional<ModelContent> content(const Scorer& model) const = 0;
};

/// In the order of Family.
const std::vector<std::unique_ptr<ModelFamily>>& families();
const ModelFamily& family_of(Family family);
inline const ModelFamily& family_of(const ModelParameters& parameters) {
  return family_of(parameters.family);
}

/// "full-rank", "awmf", "wmf", "popularity"; Error{usage} for anything else.
Family parse_family(std::string_view name);
std::string_view family_name(Family family);

/// The kinds of all families in the order of tables.
const std::vector<ModelKind>& model_kinds();

/// Error{usage} for parameters out of range.
void validate(const ModelParameters& parameters);

}  // namespace poise
