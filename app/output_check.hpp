#pragma once

#include <filesystem>

namespace poise::app {

/// Error{resources} when a file could not be written there now: asked before long work, so that it is not in
/// vain. Leaves nothing behind.
void check_file_can_be_written(const std::filesystem::path& file);

/// The same for a folder, which need not exist, and a file in it.
void check_folder_can_be_written(const std::filesystem::path& folder);

}  // namespace poise::app
