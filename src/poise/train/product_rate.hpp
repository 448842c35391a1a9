#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// Operations of a matrix product per second, measured with a product that takes negligible time.
double product_rate(Backend& backend);

}  // namespace poise
