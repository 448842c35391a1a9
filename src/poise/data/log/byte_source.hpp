#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "poise/base/observer.hpp"

namespace poise::logs {

/// The bytes of one input, decompressed, from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `capacity` bytes; 0 only at the end. Truncated or corrupt compressed data is an
  /// Error{input} that names the input.
  virtual std::size_t read(char* to, std::size_t capacity) = 0;
  /// How many bytes of the input itself (compressed bytes of a compressed one) have been read so far.
  [[nodiscard]] virtual std::uint64_t consumed() const = 0;
};

/// The path that stands for standard input, and its name in messages.
constexpr std::string_view standard_input = "-";
std::string display_name(const std::filesystem::path& file);

/// Whether a second reading would not find the bytes again: standard input, a pipe.
bool is_read_once(const std::filesystem::path& file);

/// Opens a file, or standard input for "-": plain, gzip (any number of members) or zstd (any number of
/// frames, windows up to 128 MiB), recognized by its first bytes. A missing file or a folder is an
/// Error{input}. While it waits for bytes (of a pipe) it polls the observer: Error{interrupted} if it asks to
/// stop.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file, const Observer* observer = nullptr);

/// The same for bytes in memory, which must outlive the source; `name` is used in messages.
std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, const std::string& name);

}  // namespace poise::logs
