#include "serve_demo.hpp"

#include <array>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "poise/data/split.hpp"
#include "poise/data/synth.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/trained_json.hpp"
#include "poise/train/trainer.hpp"

#include "serve_inputs.hpp"

namespace poise::app {

namespace {

constexpr std::array<std::string_view, 28> first_words = {
    "Amber", "Autumn", "Blue",   "Bright", "Broken", "Burning", "Distant", "Empty", "Endless", "Fading",
    "First", "Frozen", "Golden", "Hidden", "Hollow", "Last",    "Little",  "Long",  "Lost",    "Midnight",
    "Open",  "Paper",  "Quiet",  "Red",    "Second", "Silver",  "Slow",    "Sunday"};
constexpr std::array<std::string_view, 25> last_words = {
    "Bridge", "Coast",  "Country", "Crossing", "Dream",   "Field", "Garden", "Harbour",  "Hour",
    "House",  "Island", "Journey", "Kitchen",  "Letter",  "Light", "Market", "Mountain", "Orchard",
    "River",  "Road",   "Room",    "Season",   "Station", "Story", "Window"};

/// A title for an item number from 1; distinct for the 700 items of the demo.
std::string demo_title(std::int64_t number) {
  const auto k = static_cast<std::size_t>(number - 1);
  const std::size_t pair = (k * 401) % (first_words.size() * last_words.size());
  return fmt::format("{} {}", first_words[pair % first_words.size()], last_words[pair / first_words.size()]);
}

std::shared_ptr<const serve::ServedModel> demo_model(std::string name, const ModelParameters& parameters,
                                                     Trainer& trainer) {
  const Trained trained = trainer.train(parameters);
  ModelInfo info{.model = {},
                 .options = option_texts(parameters),
                 .data_checksum = trainer.data().checksum,
                 .report = trained_json(parameters, trained).dump(),
                 .items = trainer.data().dataset.items};
  info.model = info.options.at("model");
  // Through the bytes of its file, so that the demo serves what a file would.
  auto bytes = std::make_shared<const std::vector<std::byte>>(model_bytes(info, *trained.model));
  const Container file = Container::parse(*bytes, name);
  LoadedModel model = decode_model(file);
  // The model may refer to the bytes, which live as long as it does.
  auto served = std::make_shared<serve::ServedModel>(std::move(name), std::move(model), file.checksum());
  const serve::ServedModel* const address = served.get();
  return {address, [bytes = std::move(bytes), served = std::move(served)](const serve::ServedModel*) mutable {
            served.reset();
          }};
}

}  // namespace

Demo make_demo(const Context& context) {
  context.say("training three small models on generated data");
  const Execution execution{.threads = context.execution.threads, .observer = nullptr};
  const SynthOptions synth{.values = true};
  const Interactions log = synth_interactions(synthesize(synth, execution), synth.seed, execution);
  LoadedDataset data{.dataset = split_users(log, {.min_user_items = 5}, {}, execution), .checksum = {}};
  data.checksum = checksum_of(data.dataset, execution);
  Trainer trainer(data, Keep::nothing, execution);
  Demo demo;
  demo.models = {
      demo_model("ease", {.family = Family::full_rank, .zero_diagonal = true, .lambda = 50}, trainer),
      demo_model("wmf", {.family = Family::wmf, .rank = 32, .lambda = 5, .weighting = {.alpha = 5}}, trainer),
      demo_model("popularity", {.family = Family::popularity}, trainer)};
  Ids titles;
  const Ids& items = data.dataset.items;
  for (std::int64_t i = 0; i < items.size(); ++i) {
    std::int64_t number = 1;
    std::from_chars(items[i].data(), items[i].data() + items[i].size(), number);
    titles.push_back(demo_title(number));
  }
  demo.catalogue = std::make_unique<const serve::ItemCatalogue>(
      std::make_unique<const ItemTable>(items, std::move(titles)));
  demo.users = std::make_unique<const serve::KnownUsers>(histories_of(data.dataset));
  return demo;
}

}  // namespace poise::app
