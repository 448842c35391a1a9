#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "poise/base/parallel.hpp"

namespace poise::python {

/// How a call runs.
struct Calling {
  int threads = 0;            ///< 0: all cores
  pybind11::object progress;  ///< None, or called from time to time with (task, done, total, unit)

  [[nodiscard]] Execution execution() const {
    return {.threads = threads > 0 ? threads : Execution::default_threads(), .observer = nullptr};
  }
};

/// Runs `body`, which must not touch Python objects, on a thread of its own. The caller waits without the
/// interpreter's lock; some twenty times a second it checks for signals and calls `progress`. An exception of
/// either, such as KeyboardInterrupt, stops the work and is thrown once it has stopped.
///
/// OpenMP keeps a team of threads for every thread that starts one. A new thread has a new team, so that work
/// also runs in a forked child, which does not inherit its parent's team.
void run_and_wait(const Calling& calling, const std::function<void(const Execution&)>& body);

/// The same for a body that returns something.
template <class Body>
auto run(const Calling& calling, Body&& body) {
  using Result = std::invoke_result_t<Body, const Execution&>;
  std::optional<Result> result;
  run_and_wait(calling, [&](const Execution& execution) { result.emplace(body(execution)); });
  return std::move(*result);
}

/// Runs a short body on the calling thread, without the interpreter's lock.
template <class Body>
auto run_here(Body&& body) {
  const pybind11::gil_scoped_release release;
  return body(Execution{.threads = 1, .observer = nullptr});
}

}  // namespace poise::python
