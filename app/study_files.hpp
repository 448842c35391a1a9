#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "poise/study/results.hpp"

namespace poise::app {

/// What tables call the data of a folder: its own name; a second one of that name is told apart by a number.
std::string data_name(const std::filesystem::path& folder, std::set<std::string>& taken);

/// Writes files by their names to a folder, which is made.
void write_files(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

/// Writes all files of a study to its folder, which is made.
void write_study(const std::filesystem::path& folder, const StudyResults& results);

}  // namespace poise::app
