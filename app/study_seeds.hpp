#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "poise/study/splits.hpp"

#include "command.hpp"

namespace poise::app {

/// What `poise study --seeds` is asked.
struct SeedsStudy {
  std::span<const StudyInput> inputs;  ///< as they were prepared
  std::vector<std::uint32_t> seeds;
  StudyOptions options;
  std::optional<Points::Clock::time_point> until;
  std::filesystem::path out;
  std::vector<std::pair<std::string, std::string>> flags;  ///< without --seeds
};

/// Refuses a seed that stands twice, and data that no seed can split again.
void check_seeds(std::span<const std::uint32_t> seeds, std::span<const StudyInput> inputs);

/// Studies each split, writes its files to a folder of its own in `out` when it is done, and in the end those
/// over all splits to `out`, and prints them.
void study_seeds(const SeedsStudy& asked, Journal& journal, Backend& backend, const StudyWatcher& watcher,
                 const Context& context);

}  // namespace poise::app
