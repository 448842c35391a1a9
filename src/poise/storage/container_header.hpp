#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "poise/storage/container.hpp"

namespace poise {

/// The JSON header of a container, checked: known types, shapes that fit their lengths, tensors aligned and
/// end to end from 0 to data_bytes, `checksums` first and as long as the rest needs.
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

/// Throws Error{input} naming the file when the header lies or is malformed.
ContainerHeader parse_container_header(std::string_view json, std::string_view name);

}  // namespace poise
