#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "poise/train/model_file.hpp"
#include "poise/train/trained_json.hpp"
#include "poise/train/trainer.hpp"

#include "command.hpp"

namespace poise::app {

/// A certificate of full rank, as a clause.
std::string certificate_text(const Certificate& certificate);

/// What is known of a model with neighbours: some lines.
std::string neighbours_text(std::int64_t neighbours, const std::string& sizes, double objective,
                            double observed_weight, const Certificate& certificate);

/// The content of trained_json as text: some lines.
std::string trained_text(const ModelParameters& parameters, const Trained& trained, CsrView X);

/// Prints warnings about the result on stderr.
void warn_about(const ModelParameters& parameters, const Trained& trained, const Context& context);

/// Writes the model with its options and report. `past_cache`: see write_container().
WriteSeconds save_model(const std::filesystem::path& path, const Scorer& model,
                        const std::map<std::string, std::string>& options, const LoadedDataset& data,
                        const Json& report, int threads, bool past_cache = false);

}  // namespace poise::app
