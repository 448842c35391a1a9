#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "poise/base/parallel.hpp"

namespace poise::python {

/// How a call is to run.
struct Calling {
  int threads = 0;            ///< 0: all cores
  pybind11::object progress;  ///< None, or called with (task, done, total, unit) now and then

  [[nodiscard]] Execution execution() const {
    return {.threads = threads > 0 ? threads : Execution::default_threads(), .observer = nullptr};
  }
};

/// Runs `body`, which must touch no Python object, on a thread of its own. The caller waits without the
/// interpreter's lock, looks for signals and calls `progress`, both some twenty times a second; an exception
/// of either, such as KeyboardInterrupt, stops the work and is thrown when it has stopped.
///
/// OpenMP keeps a team of threads for every thread that starts one. A thread of its own has a new team, so
/// that work runs as well in a forked child, whose parent's team did not come along.
void run_and_wait(const Calling& calling, const std::function<void(const Execution&)>& body);

/// The same for a body that returns something.
template <class Body>
auto run(const Calling& calling, Body&& body) {
  using Result = std::invoke_result_t<Body, const Execution&>;
  std::optional<Result> result;
  run_and_wait(calling, [&](const Execution& execution) { result.emplace(body(execution)); });
  return std::move(*result);
}

/// Runs a body that takes no time on the calling thread alone, without the interpreter's lock.
template <class Body>
auto run_here(Body&& body) {
  const pybind11::gil_scoped_release release;
  return body(Execution{.threads = 1, .observer = nullptr});
}

}  // namespace poise::python
