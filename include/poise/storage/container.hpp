#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/base/parallel.hpp"

namespace poise {

/// The file layout of models and of prepared data: safetensors (8-byte little-endian header length, a JSON
/// header with names, types, shapes and offsets, then the tensors' bytes without gaps), readable by that
/// library. Its first tensor, `checksums`, holds the XXH3 of all bytes before it and of every 16 MiB chunk of
/// the bytes behind it, so that every byte of the file is covered. docs/data-format.md has the details.

enum class ElementType { u8, i32, i64, u64, f32, f64 };

struct Tensor {
  std::string name;
  ElementType type = ElementType::u8;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  /// If not null, makes the bytes from `offset` on as they are written, in the order of the file: for a
  /// tensor that no memory holds. There are `made_bytes` of them, and `bytes` is empty.
  std::function<void(std::uint64_t offset, std::span<std::byte> to)> make = nullptr;
  std::uint64_t made_bytes = 0;

  [[nodiscard]] std::uint64_t size() const { return make ? made_bytes : bytes.size(); }
};

using Metadata = std::map<std::string, std::string>;

/// Seconds of writing a file: checksums and bytes, and the wait for the disk.
struct WriteSeconds {
  double write = 0;
  double sync = 0;
};

/// Writes the tensors atomically, directly from their memory: those with larger elements first, so that all
/// are aligned without gaps; otherwise in the given order. Names are distinct and neither "checksums" nor
/// "__metadata__"; texts are UTF-8. Each thread computes the checksum of a chunk and writes it; equal
/// arguments give equal bytes for any number of threads. `past_cache`: see AtomicFile.
WriteSeconds write_container(const std::filesystem::path& path, const Metadata& metadata,
                             std::span<const Tensor> tensors, int threads = Execution::default_threads(),
                             bool past_cache = false);

/// The bytes that write_container writes.
std::vector<std::byte> container_bytes(const Metadata& metadata, std::span<const Tensor> tensors,
                                       int threads = Execution::default_threads());

/// A memory-mapped container. Opening checks layout and checksums, and throws Error{input} if the file is
/// missing, truncated, altered in any byte, or not a container.
class Container {
 public:
  static Container open(const std::filesystem::path& path, int threads = Execution::default_threads());
  /// Reads the header only. The tensors' bytes are not checked and may be damaged.
  static Container peek(const std::filesystem::path& path);
  /// As open(), over bytes in memory, which must outlive it and be 8-byte aligned; `name` replaces the path
  /// in messages.
  static Container parse(std::span<const std::byte> bytes, std::string_view name,
                         int threads = Execution::default_threads());

  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  /// Throws Error{input} if there is no such key.
  [[nodiscard]] const std::string& metadata(const std::string& key) const;
  [[nodiscard]] bool has(std::string_view tensor) const;
  /// Throws Error{input} if there is no such tensor or it has another type.
  [[nodiscard]] const Tensor& tensor(std::string_view name, ElementType type) const;
  /// The elements of a tensor; T is one of the element types: uint8_t, int32_t, int64_t, uint64_t, float,
  /// double.
  template <class T>
  [[nodiscard]] std::span<const T> elements(std::string_view name) const;
  /// The tensors in file order, without `checksums`.
  [[nodiscard]] std::span<const Tensor> tensors() const { return tensors_; }
  /// XXH3 of the checksums as 16 hex digits: the identity of prepared data in models and journals.
  [[nodiscard]] const std::string& checksum() const { return checksum_; }
  /// Keeps the tensors' bytes alive; null for bytes in memory, which the caller keeps.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return mapping_; }
  /// The name in messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  /// With threads = 0 the bytes are not checked.
  static Container read(std::span<const std::byte> bytes, std::string_view name, int threads);

  std::string name_;
  std::shared_ptr<const void> mapping_;
  Metadata metadata_;
  std::vector<Tensor> tensors_;
  std::string checksum_;
};

}  // namespace poise
