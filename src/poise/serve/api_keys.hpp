#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poise::serve {

/// The keys by which clients are known.
class ApiKeys {
 public:
  /// Nobody needs a key.
  ApiKeys() = default;
  /// Reads a file: a key of at least 16 visible characters on each line, or NAME:KEY, where the name appears
  /// in logs; lines that begin with # are left out. Error{input} for others, for keys or names given twice,
  /// and for a file without keys.
  static ApiKeys read(const std::filesystem::path& path);

  [[nodiscard]] bool needed() const { return !keys_.empty(); }
  /// The number of the key that was sent; none for a wrong one. Takes the same time for every text of a
  /// length: each key is compared in full.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view sent) const;
  [[nodiscard]] std::string_view name(std::size_t key) const { return keys_[key].name; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string name;
    std::string text;
  };
  std::vector<Key> keys_;
};

}  // namespace poise::serve
