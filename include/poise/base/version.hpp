#pragma once

#include <string_view>

namespace poise {

/// The library's version, e.g. "0.2.0".
std::string_view version();

}  // namespace poise
