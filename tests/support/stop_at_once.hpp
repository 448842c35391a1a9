#pragma once

#include "poise/base/observer.hpp"

namespace poise::testing {

/// Asks all work to stop, from the beginning on.
class StopAtOnce : public Observer {
 public:
  [[nodiscard]] bool stop_requested() const override { return true; }
};

}  // namespace poise::testing
