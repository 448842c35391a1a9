#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "poise/train/trainer.hpp"

#include "command.hpp"

namespace poise::app {

/// The keys of `poise train --json`, without times.
Json trained_json(const ModelParameters& parameters, const Trained& trained);

/// The same for people, some lines.
std::string trained_text(const ModelParameters& parameters, const Trained& trained, CsrView X);

/// Says on stderr what the user should know about the outcome.
void warn_about(const ModelParameters& parameters, const Trained& trained, const Context& context);

/// Writes the model with its options and report.
void save_model(const std::filesystem::path& path, const AnyModel& model,
                const std::map<std::string, std::string>& options, const LoadedDataset& data,
                const Json& report);

}  // namespace poise::app
