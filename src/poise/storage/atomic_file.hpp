#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace poise {

/// A file that appears complete or not at all: bytes go to a temporary file beside `path`, and commit() makes
/// them durable (fsync) and renames it to `path`. If `path` is a symbolic link, its target is written.
/// Destruction without commit() removes the temporary file. A failed write throws Error{resources} naming the
/// path and the reason.
class AtomicFile {
 public:
  /// `past_cache`: write_at() brings whole blocks to the disk directly where the file system can, so that
  /// gigabytes are not copied into the system's cache, from where they would not be read soon.
  explicit AtomicFile(std::filesystem::path path, bool past_cache = false);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Reserves space for a file of so many bytes, if the file system can: a full disk is then noticed at once,
  /// and writing is much faster.
  void reserve(std::uint64_t bytes);
  /// Writes the bytes at an offset; several threads may write at the same time. Starts their write-back, so
  /// that commit() waits less.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void commit();

 private:
  void write_cached(std::uint64_t offset, std::span<const std::byte> bytes) const;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  int direct_ = -1;  ///< the same file past the cache; -1: not wanted, or not possible
};

}  // namespace poise
