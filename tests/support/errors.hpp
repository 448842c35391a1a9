#pragma once

#include <string>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

namespace poise::testing {

/// The message of the Error of this kind that `body` throws; fails the test when it throws none, or another.
template <class Body>
std::string error_message(ErrorKind kind, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace poise::testing
