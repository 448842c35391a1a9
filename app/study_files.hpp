#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "poise/study/results.hpp"

namespace poise::app {

/// The name of a folder's data in tables: the folder's name; a second one of that name gets a number.
std::string data_name(const std::filesystem::path& folder, std::set<std::string>& taken);

/// Writes files by name to a folder, which is created.
void write_files(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

/// Writes all files of a study to its folder, which is created.
void write_study(const std::filesystem::path& folder, const StudyResults& results);

}  // namespace poise::app
