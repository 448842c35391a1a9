#include "kept_inverse.hpp"

#include <utility>

#include <fmt/format.h>

#include "progress.hpp"

namespace poise::app {

StagedInverse::StagedInverse(std::filesystem::path model, const KeptInverse& kept, int threads)
    : model_(std::move(model)) {
  checksum_ = stage_kept_inverse(model_, kept, threads);
}

StagedInverse::~StagedInverse() {
  if (!published_) drop_kept_inverse(model_);
}

void StagedInverse::publish() {
  publish_kept_inverse(model_);
  published_ = true;
}

void say_kept_inverse(std::int64_t items, bool weighted, const std::filesystem::path& model,
                      const Context& context) {
  const auto bytes = [&](bool float64) {
    return amount(static_cast<double>(kept_inverse_bytes(items, weighted, float64)), "B");
  };
  context.say(fmt::format("{} takes {}, or {} if the inverse needs float64",
                          kept_inverse_path(model).string(), bytes(false), bytes(true)));
}

}  // namespace poise::app
