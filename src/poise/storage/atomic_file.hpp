#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace poise {

/// A file that appears whole or not at all: bytes go to a temporary file beside `path`, and commit() makes
/// them durable (fsync) and renames it into place. A symbolic link stays: what it points to is written.
/// Destroyed without commit() it leaves nothing behind. Failures to write throw Error{resources} naming the
/// path and the reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Room for a file of so many bytes, where the file system can tell: a full disk is then noticed at once,
  /// and the bytes are written much faster.
  void reserve(std::uint64_t bytes);
  /// Writes the bytes at their place; several threads may write at several places at once. The disk is told
  /// to begin with them, so that commit() has less to wait for.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace poise
