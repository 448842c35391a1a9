#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "poise/data/ids.hpp"

namespace poise::app {

/// Item ids to their numbers; the ids must outlive it.
class ItemIndex {
 public:
  explicit ItemIndex(const Ids& items);

  [[nodiscard]] std::optional<std::int32_t> find(std::string_view id) const;
  /// Error{input} for an id that is not there.
  [[nodiscard]] std::int32_t at(std::string_view id) const;

 private:
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

/// One id per line; blank lines are ignored. Error{input} when the file cannot be read.
std::vector<std::string> read_id_lines(const std::filesystem::path& path);

}  // namespace poise::app
