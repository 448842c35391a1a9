#pragma once

#include "poise/base/error.hpp"

namespace poise::app {

constexpr int exit_done = 0;
constexpr int exit_unexpected = 1;
constexpr int exit_usage = 2;
constexpr int exit_input = 3;
constexpr int exit_resources = 4;
constexpr int exit_numerical = 5;
constexpr int exit_interrupted = 130;

constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::input:
      return exit_input;
    case ErrorKind::resources:
      return exit_resources;
    case ErrorKind::numerical:
      return exit_numerical;
    case ErrorKind::interrupted:
      return exit_interrupted;
  }
  return exit_unexpected;
}

}  // namespace poise::app
