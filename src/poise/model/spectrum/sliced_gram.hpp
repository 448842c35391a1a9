#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// G = X' diag(a) X as an operator on n x k blocks in float64, by slices of users: X' diag(a) (X B) = sum
/// over the slices, so that the scores of a slice are still in a cache when they are gathered for the items;
/// on a GPU in one slice. Holds the transposed slices, 4 bytes an entry and 8 n a slice, and views of X and
/// a. The entries of X count as 1.
class SlicedGram {
 public:
  SlicedGram(CsrView X, std::span<const float> row_weights, Backend& backend, const Execution& execution);

  /// G B. 4 nnz k operations, gathered.
  Resident<double> times(In<double> B);

 private:
  struct Slice {
    CsrView X;
    std::vector<double> a;
    Csr transposed;
    std::vector<Pin> pins = {};
  };

  std::int64_t items_;
  Backend& backend_;
  std::vector<Slice> slices_;
  Resident<double> scores_;  ///< of a slice; kept, like `part_`, for its memory
  Resident<double> part_;
};

/// Its memory in bytes, including blocks up to this width.
double sliced_gram_bytes(CsrView X, std::int64_t width);

}  // namespace poise
