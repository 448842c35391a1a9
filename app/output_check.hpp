#pragma once

#include <filesystem>

namespace poise::app {

/// Error{resources} if a file cannot be written there now: checked before long work. Leaves nothing behind.
void check_file_can_be_written(const std::filesystem::path& file);

/// The same for a folder, which need not exist, and a file in it.
void check_folder_can_be_written(const std::filesystem::path& folder);

}  // namespace poise::app
