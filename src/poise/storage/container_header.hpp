#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "poise/storage/container.hpp"

/// The constants that the writer and the reader of containers share.
namespace poise::container_layout {

static_assert(std::endian::native == std::endian::little, "containers are little-endian");

inline constexpr std::uint64_t chunk_bytes = std::uint64_t{16} << 20;
inline constexpr std::uint64_t max_header_bytes = 100'000'000;  // the limit of the safetensors library
inline constexpr std::uint64_t alignment = 8;
inline constexpr std::string_view checksums_name = "checksums";
inline constexpr std::string_view metadata_name = "__metadata__";
/// The first bytes of every container's header; other safetensors files begin differently.
inline constexpr std::string_view signature = R"({"checksums":{"dtype":"U64",)";

struct TypeInfo {
  ElementType type;
  std::string_view name;
  std::uint64_t size;
};
inline constexpr std::array<TypeInfo, 6> types = {{{ElementType::u8, "U8", 1},
                                                   {ElementType::i32, "I32", 4},
                                                   {ElementType::i64, "I64", 8},
                                                   {ElementType::u64, "U64", 8},
                                                   {ElementType::f32, "F32", 4},
                                                   {ElementType::f64, "F64", 8}}};
constexpr const TypeInfo& info(ElementType type) { return types[static_cast<std::size_t>(type)]; }

constexpr std::uint64_t chunks(std::uint64_t bytes) { return (bytes + chunk_bytes - 1) / chunk_bytes; }

}  // namespace poise::container_layout

namespace poise {

/// The checked JSON header of a container: known types, shapes that match their lengths, tensors aligned and
/// end to end from 0 to data_bytes, `checksums` first and of the right length.
struct ContainerHeader {
  struct Entry {
    Tensor tensor;  ///< without its bytes
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  Metadata metadata;
  std::vector<Entry> tensors;  ///< in file order, without `checksums`
  std::uint64_t checksums_bytes = 0;
  std::uint64_t data_bytes = 0;
};

/// Throws Error{input} naming the file if the header is malformed or inconsistent.
ContainerHeader parse_container_header(std::string_view json, std::string_view name);

}  // namespace poise
