#include "estimate.hpp"

#include <fmt/format.h>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"

#include "progress.hpp"

namespace poise::app {

void say_estimate(const Estimate& estimate, const Context& context) {
  constexpr double worth_saying = 2;  // seconds
  if (estimate.seconds < worth_saying) return;
  context.say(fmt::format("expected: about {} and {} of memory", duration(estimate.seconds),
                          amount(estimate.bytes, "B")));
}

void refuse_if_too_large(const Estimate& estimate, const Context& context, const std::string& instead) {
  const auto limit = static_cast<double>(context.memory_limit);
  if (estimate.bytes <= limit) return;
  const auto [needed, there] = compared_bytes(estimate.bytes, limit);
  fail(ErrorKind::resources, "this needs about {} of memory, more than the --memory-limit of {}; {}", needed,
       there, instead);
}

}  // namespace poise::app
