#pragma once

#include "poise/linalg/csr.hpp"

namespace poise {

/// The same entries, all 1.
inline CsrView support_of(CsrView matrix) {
  matrix.values = {};
  return matrix;
}

/// A copy, whose offsets begin at 0 also where `matrix` is a block of rows of another.
Csr copy_of(CsrView matrix);

}  // namespace poise
