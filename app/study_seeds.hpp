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

/// The arguments of `poise study --seeds` and `--over-cuts`.
struct SeedsStudy {
  std::span<const StudyInput> inputs;  ///< as they were prepared
  std::vector<std::uint32_t> seeds;    ///< none over cuts, of which each input is one
  StudyOptions options;
  std::optional<Points::Clock::time_point> until;
  std::filesystem::path out;
  std::vector<std::pair<std::string, std::string>> flags;  ///< without --seeds
};

/// Refuses a repeated seed, and data that cannot be split again.
void check_seeds(std::span<const std::uint32_t> seeds, std::span<const StudyInput> inputs);

/// Studies each split and writes its files to its own folder in `out`; at the end writes those over all
/// splits to `out` and prints them.
void study_seeds(const SeedsStudy& asked, Journal& journal, Backend& backend, const StudyWatcher& watcher,
                 const Context& context);

}  // namespace poise::app
