#pragma once

#include <string>
#include <utility>

namespace poise {

/// Two amounts of bytes for a sentence that compares them ("1.23 GB", "1.22 GB"): in the same unit, and with
/// enough digits to distinguish unequal ones.
std::pair<std::string, std::string> compared_bytes(double one, double other);

}  // namespace poise
