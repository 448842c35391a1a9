#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace poise::report {

/// A Markdown table whose columns are also aligned as plain text. The first row is the header.
class PipeTable {
 public:
  /// `alignment` has a letter for each column: l or r.
  explicit PipeTable(std::string_view alignment) : alignment_(alignment) {}

  /// Missing cells at the end are empty.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

/// Any text as one line of Markdown that displays it unchanged.
std::string markdown_text(std::string_view text);

}  // namespace poise::report
