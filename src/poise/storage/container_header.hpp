#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "poise/storage/container.hpp"

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
