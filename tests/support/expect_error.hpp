#pragma once

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

namespace poise::testing {

/// Runs `work`, which must throw Error{kind} with a message that contains `part`.
template <class Work>
void expect_error(ErrorKind kind, const std::string& part, const Work& work) {
  try {
    work();
    ADD_FAILURE() << "no error; expected one about: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace poise::testing
