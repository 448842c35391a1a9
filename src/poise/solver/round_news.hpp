#pragma once

#include <functional>
#include <string>

namespace poise {

/// What processes tell each other at the beginning of a round of products with a spread inverse
/// (SpreadInverse::multiply), where all of them meet.
struct RoundNews {
  std::function<bool()> stops;            ///< whether this process is asked to stop
  std::function<std::string()> give;      ///< bytes for the first process; usually none
  std::function<void(std::string)> take;  ///< at the first process: what another one, or itself, gave
  bool stopping = false;                  ///< whether any was asked to, the same at all of them
};

}  // namespace poise
