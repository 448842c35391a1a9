#include "poise/base/version.hpp"

namespace poise {

std::string_view version() { return POISE_VERSION; }

}  // namespace poise
