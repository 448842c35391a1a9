#include "poise/base/parameter_name.hpp"

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

/// A sentence names parameters by ids until a front end writes its own names, and what a user wrote stays.
TEST(ParameterName, IsWrittenByTheFrontEnd) {
  const Error error(ErrorKind::usage,
                    fmt::format("{} {} contradicts {} of --lambda.txt", "lambda-exponent"_p, 2, "rank"_p));
  EXPECT_STREQ(error.what(), "lambda-exponent 2 contradicts rank of --lambda.txt");
  EXPECT_EQ(with_names(error.sentence(), flag_name),
            "--lambda-exponent 2 contradicts --rank of --lambda.txt");
  EXPECT_EQ(error.parameter(), "lambda-exponent");
}

TEST(ParameterName, ASentenceWithoutAny) {
  const Error error(ErrorKind::input, "nothing to name");
  EXPECT_EQ(error.parameter(), "");
  EXPECT_EQ(with_names(error.sentence(), flag_name), "nothing to name");
  EXPECT_EQ(Error(ErrorKind::input, "").parameter(), "");
}

}  // namespace
}  // namespace poise
