#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// Operations of a matrix product per second, from a product small enough not to be noticed.
double product_rate(Backend& backend);

}  // namespace poise
