#include "study_files.hpp"

#include <fmt/format.h>

#include "poise/report/report.hpp"
#include "poise/storage/atomic_file.hpp"

namespace poise::app {

std::string data_name(const std::filesystem::path& folder, std::set<std::string>& taken) {
  std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  const std::string base = path.filename().string();
  std::string name = base;
  for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{} ({})", base, k);
  return name;
}

void write_files(const std::filesystem::path& folder, const std::map<std::string, std::string>& files) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : files) {
    AtomicFile file(folder / name);
    file.write(text);
    file.commit();
  }
}

void write_study(const std::filesystem::path& folder, const StudyResults& results) {
  write_files(folder, study_files(results));
}

}  // namespace poise::app
