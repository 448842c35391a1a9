#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace poise {

/// A file of finished work, one JSON object a line, that survives kill -9 at any moment: a line is durable
/// (fsync) before append() returns, and a last line that was cut off is recognised and dropped. The first
/// line says what the rest depends on. A lock refuses a second run on the same file for as long as this
/// lives. Every line carries a checksum.
class Journal {
 public:
  using Json = nlohmann::ordered_json;

  /// Opens or begins it. `header` is what all entries depend on (the method's version, options): Error{input}
  /// naming the difference when the file was begun with another one, or when any line but the last is
  /// damaged; Error{resources} when it is in use or cannot be written.
  Journal(std::filesystem::path path, const Json& header);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// What is there under this key; null when nothing is.
  [[nodiscard]] const Json* find(const std::string& key) const;
  /// Adds it for good. A key is added once.
  void append(const std::string& key, const Json& value);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  void read(const Json& header);
  void write_line(const Json& line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::map<std::string, Json> entries_;
};

}  // namespace poise
