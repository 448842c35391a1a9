#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace poise {

/// A file of finished work, one JSON object per line, that survives kill -9 at any moment: a line is durable
/// (fsync) before append() returns, and a last line that was cut off is recognised and dropped. The first
/// line holds what the others depend on. While this object exists, a lock refuses a second run on the same
/// file. Every line has a checksum.
class Journal {
 public:
  using Json = nlohmann::ordered_json;

  /// Opens or begins it. `header` is what all entries depend on (the method's version, options): Error{input}
  /// naming the difference if the file was begun with another one, or if any line but the last is damaged;
  /// Error{resources} if it is in use or cannot be written.
  Journal(std::filesystem::path path, const Json& header);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// The value of this key; null if there is none.
  [[nodiscard]] const Json* find(const std::string& key) const;
  /// Adds an entry durably. A key is added once.
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
