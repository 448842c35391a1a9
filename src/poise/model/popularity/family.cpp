#include "poise/model/family.hpp"

#include "poise/model/popularity.hpp"

namespace poise {
namespace {

class PopularityFamily : public ModelFamily {
 public:
  PopularityFamily() {
    name = "popularity";
    kinds = {{.place = 15, .key = name, .title = "Popularity"}};
  }

  [[nodiscard]] Trained fit(const ModelParameters& /*parameters*/, const Weights& /*W*/,
                            FitContext& context) const override {
    return {.model = std::make_shared<Popularity>(Popularity::train(context.X))};
  }

  [[nodiscard]] std::unique_ptr<Scorer> read(const Container& file, int threads) const override {
    const auto counts = finite_elements(file, "counts", threads);
    return std::make_unique<Popularity>(std::vector<float>(counts.begin(), counts.end()));
  }

  [[nodiscard]] std::optional<ModelContent> content(const Scorer& model) const override {
    const auto* const popularity = dynamic_cast<const Popularity*>(&model);
    if (popularity == nullptr) return {};
    return ModelContent{{tensor_of("counts", ElementType::f32, popularity->counts(), {model.items()})}};
  }
};

}  // namespace

std::unique_ptr<ModelFamily> popularity_family() { return std::make_unique<PopularityFamily>(); }

}  // namespace poise
