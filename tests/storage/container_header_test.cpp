#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include "poise/storage/container.hpp"

#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::error_message;
using ::testing::HasSubstr;

/// A container with this header, whose checksums are right, and `data` zero bytes behind the checksums.
std::vector<std::byte> with_header(std::string json, std::size_t data, std::size_t checksums = 2) {
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = json.size();
  std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  head += json;
  std::vector<std::uint64_t> sums(checksums);
  const std::string zeros(data, '\0');
  if (checksums > 0) sums[0] = XXH3_64bits(head.data(), head.size());
  if (checksums > 1) sums[1] = XXH3_64bits(zeros.data(), zeros.size());
  head.append(reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(std::uint64_t));
  head += zeros;
  const auto bytes = std::as_bytes(std::span(head));
  return {bytes.begin(), bytes.end()};
}

std::string checksums_and(const std::string& rest) {
  return R"({"checksums":{"dtype":"U64","shape":[2],"data_offsets":[0,16]},)" + rest + "}";
}

std::string refusal(const std::vector<std::byte>& bytes) {
  return error_message(ErrorKind::input, [&] { (void)Container::parse(bytes, "the file", 1); });
}

TEST(ContainerHeader, AValidOneIsAccepted) {
  const auto bytes =
      with_header(checksums_and(R"("a":{"dtype":"I32","shape":[2,2],"data_offsets":[16,32]})"), 16);
  EXPECT_EQ(Container::parse(bytes, "the file").elements<std::int32_t>("a").size(), 4U);
}

TEST(ContainerHeader, LiesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> lies = {
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[16,36]})", "shape and length differ"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[32,16]})", "shape and length differ"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[20,36]})", "overlap or leave gaps"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[8,24]})", "overlap or leave gaps"},
      {R"("a":{"dtype":"I32","shape":[-4],"data_offsets":[16,32]})", "not a whole number"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[-16,0]})", "not a whole number"},
      {R"("a":{"dtype":"I32","shape":[4.0],"data_offsets":[16,32]})", "not a whole number"},
      {R"("a":{"dtype":"I32","shape":["4"],"data_offsets":[16,32]})", "not a whole number"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[16,18446744073709551615]})", "too large"},
      {R"("a":{"dtype":"I32","shape":[4611686018427387904,4],"data_offsets":[16,16]})", "too large"},
      {R"("a":{"dtype":"I32","shape":[4611686018427387904,4,0],"data_offsets":[16,16]})", "too large"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[16]})", "no begin and end"},
      {R"("a":{"dtype":"I32","shape":[4],"data_offsets":[16,32,48]})", "no begin and end"},
      {R"("a":{"dtype":"I32","shape":[4]})", "no data_offsets"},
      {R"("a":{"dtype":"I32","data_offsets":[16,32]})", "no shape"},
      {R"("a":{"shape":[4],"data_offsets":[16,32]})", "no dtype"},
      {R"("a":{"dtype":"BF16","shape":[8],"data_offsets":[16,32]})", "unknown dtype"},
      {R"("a":{"dtype":7,"shape":[8],"data_offsets":[16,32]})", "no dtype"},
      {R"("a":7)", "not an object"},
      {R"("a":{"dtype":"U8","shape":[1],"data_offsets":[16,17]},"b":{"dtype":"U8","shape":[15],"data_offsets":[16,31]})",
       "overlap or leave gaps"},
      {R"("a":{"dtype":"U8","shape":[1],"data_offsets":[16,17]},"b":{"dtype":"I32","shape":[3],"data_offsets":[17,29]})",
       "not aligned"},
      {R"("a":{"dtype":"U8","shape":[16],"data_offsets":[16,32]},"a":{"dtype":"U8","shape":[16],"data_offsets":[16,32]})",
       "appears twice"},
      {R"("a":{"dtype":"U8","dtype":"U8","shape":[16],"data_offsets":[16,32]})", "appears twice"},
      {R"("__metadata__":{"a":1})", "not all text"},
      {R"("__metadata__":[])", "not an object"},
      {R"("a":{"dtype":"U8","shape":[[[16]]],"data_offsets":[16,32]})", "nested too deeply"},
      {R"("a":)" + std::string(100'000, '[') + std::string(100'000, ']'), "nested too deeply"},
      {R"("a":)" + std::string(100'000, '['), "nested too deeply"},
      {R"("a":{"dtype":"U8")", "not JSON"},
      {"\"\xff\":1", "not JSON"},
      {R"("a":{"dtype":"U8","shape":[0],"data_offsets":[16,16]})", "wrong number of checksums"},
      {R"("a":{"dtype":"U8","shape":[16777217],"data_offsets":[16,16777233]})", "wrong number of checksums"}};
  for (const auto& [rest, reason] : lies)
    EXPECT_THAT(refusal(with_header(checksums_and(rest), 16)), HasSubstr(reason)) << rest.substr(0, 200);
  EXPECT_THAT(
      refusal(with_header(R"({"checksums":{"dtype":"U64","shape":[2],"data_offsets":[0,16]}} x)", 16)),
      HasSubstr("not JSON"));
}

TEST(ContainerHeader, LengthsBeyondTheFileAreRefused) {
  const auto beyond = checksums_and(R"("a":{"dtype":"U8","shape":[1000],"data_offsets":[16,1016]})");
  EXPECT_THAT(refusal(with_header(beyond, 16)), HasSubstr("cut short"));
  auto bytes = with_header(checksums_and(R"("a":{"dtype":"U8","shape":[16],"data_offsets":[16,32]})"), 16);
  for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{7},
                                     std::uint64_t{50'000'000}, std::uint64_t{0}, std::uint64_t{8}}) {
    std::memcpy(bytes.data(), &length, sizeof length);
    refusal(bytes);
  }
}

TEST(ContainerHeader, ChecksumsMustComeFirst) {
  EXPECT_THAT(refusal(with_header(R"({"checksums":{"dtype":"U64","shape":[2],"data_offsets":[8,24]},)"
                                  R"("a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}})",
                                  8)),
              HasSubstr("first tensor is not checksums"));
  EXPECT_THAT(refusal(with_header(R"({"checksums":{"dtype":"U64","shape":[0],"data_offsets":[0,0]}})", 0)),
              HasSubstr("wrong number of checksums"));
}

}  // namespace
}  // namespace poise
