#pragma once

#include <optional>
#include <string>

#include "poise/base/parallel.hpp"
#include "poise/data/packing.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// A sparse matrix as lists of ascending numbers: its rows, or its columns. `counts` holds the lists' lengths
/// as numbers. `gaps` holds, list after list, the first number and then each number minus its predecessor
/// minus 1, as varints; `values` holds the values as float32 in the same order, and is empty for a matrix
/// without values. Both are cut into chunks, one zstd frame each: a chunk ends with the list that brings it
/// to chunk_entries entries or more, or with the last list.
struct PackedMatrix {
  static constexpr std::int64_t chunk_entries = std::int64_t{1} << 20;

  std::string counts;
  std::string gaps;
  std::string values;
};

/// The rows in their order.
PackedMatrix pack_rows(CsrView matrix, const Execution& execution);

/// The columns by descending count, equal counts by index (`counts` itself is in index order): columns of
/// equal density lie together, so that a frame's gaps have one distribution and compress well for any
/// numbering of the items.
PackedMatrix pack_columns(CsrView matrix, const Execution& execution);

/// The bytes of a PackedMatrix in a file.
struct PackedMatrixView {
  Packed counts;
  Packed gaps;
  std::optional<Packed> values;
};

/// The inverse of pack_rows and pack_columns; rows and cols are below 2^31. Throws Error{input} unless the
/// bytes describe such a matrix.
Csr unpack_rows(const PackedMatrixView& packed, std::int64_t rows, std::int64_t cols,
                const Execution& execution);
Csr unpack_columns(const PackedMatrixView& packed, std::int64_t rows, std::int64_t cols,
                   const Execution& execution);

}  // namespace poise
