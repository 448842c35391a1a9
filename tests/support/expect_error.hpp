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

/// Runs `work`, which must throw Error{kind} with a message that contains `part`.
template <class Work>
void expect_error(ErrorKind kind, const std::string& part, const Work& work) {
  const std::string message = error_message(kind, work);
  EXPECT_NE(message.find(part), std::string::npos) << message << "; expected one about: " << part;
}

}  // namespace poise::testing
