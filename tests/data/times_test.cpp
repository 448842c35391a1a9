#include "poise/data/times.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace poise {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t second = 1'000'000;

std::int64_t at(const std::string& text, TimeUnit unit = TimeUnit::automatic) {
  const ParsedTime parsed = parse_time(text, unit);
  EXPECT_FALSE(parsed.problem) << text << ": " << parsed.problem.value_or("");
  return parsed.microseconds;
}

std::string problem(const std::string& text, TimeUnit unit = TimeUnit::automatic) {
  return std::string(parse_time(text, unit).problem.value_or("none"));
}

// The seconds are those of `date -u -d TEXT +%s`.
TEST(Times, Dates) {
  const std::vector<std::pair<std::string, std::int64_t>> table = {
      {"1970-01-01", 0},
      {"1969-12-31", -86'400},
      {"1969-12-31T23:59:59Z", -1},
      {"2010-12-01 08:26:00", 1'291'191'960},
      {"2010/12/01 08:26", 1'291'191'960},
      {" 2010-12-01t08:26z\t", 1'291'191'960},
      {"2010-12-01T08:26:00+00:00", 1'291'191'960},
      {"2010-12-01T09:26:00+01:00", 1'291'191'960},
      {"2010-12-01 10:26:00 +0200", 1'291'191'960},
      {"2010-12-01T03:56:00-04:30", 1'291'191'960},
      {"2010-12-01T00:26-08", 1'291'191'960},
      {"2000-02-29", 951'782'400},
      {"2038-01-19T03:14:07Z", 2'147'483'647},
      {"2038-01-19T03:14:08Z", 2'147'483'648},
      {"0001-01-01", -62'135'596'800},
      {"9999-12-31T23:59:59Z", 253'402'300'799},
      {"2016-12-31T23:59:60Z", 1'483'228'800}};
  for (const auto& [text, seconds] : table) EXPECT_EQ(at(text), seconds * second) << text;
  EXPECT_EQ(at("2010-12-01T08:26:00.25Z"), 1'291'191'960 * second + 250'000);
  EXPECT_EQ(at("2010-12-01T08:26:00,1234567+00:00"), 1'291'191'960 * second + 123'456);
  EXPECT_EQ(at("1969-12-31T23:59:59.5Z"), -500'000);
}

// Central European clocks went from 03:00 (+02:00) back to 02:00 (+01:00) on this day.
TEST(Times, OffsetsOrderTheHourThatComesTwice) {
  EXPECT_EQ(at("2011-10-30T02:30:00+01:00") - at("2011-10-30T02:30:00+02:00"), 3600 * second);
  EXPECT_EQ(at("2011-10-30T02:30:00+02:00"), at("2011-10-30T00:30:00Z"));
  EXPECT_EQ(at("2011-03-27T03:00:00+02:00") - at("2011-03-27T01:59:59+01:00"), second);
}

TEST(Times, NumbersShowTheirUnitBySize) {
  const std::vector<std::tuple<std::string, std::int64_t, TimeUnit>> table = {
      {"0", 0, TimeUnit::automatic},
      {"-0.0", 0, TimeUnit::automatic},
      {"1", second, TimeUnit::seconds},
      {"-1", -second, TimeUnit::seconds},
      {"1.5", 1'500'000, TimeUnit::seconds},
      {"-1.25", -1'250'000, TimeUnit::seconds},
      {"+1291191960", 1'291'191'960 * second, TimeUnit::seconds},
      {"1291191960.0000019", 1'291'191'960 * second + 1, TimeUnit::seconds},
      {"1.29119196e9", 1'291'191'960 * second, TimeUnit::seconds},
      {"2147483647", 2'147'483'647 * second, TimeUnit::seconds},
      {"2147483648", 2'147'483'648 * second, TimeUnit::seconds},
      {"4294967296", 4'294'967'296 * second, TimeUnit::seconds},
      {"99999999999", 99'999'999'999 * second, TimeUnit::seconds},
      {"100000000000", 100'000'000'000 * 1000, TimeUnit::milliseconds},
      {"1291191960123", 1'291'191'960'123'000, TimeUnit::milliseconds},
      {"1291191960123.5", 1'291'191'960'123'500, TimeUnit::milliseconds},
      {"-1291191960123", -1'291'191'960'123'000, TimeUnit::milliseconds},
      {"1291191960123456", 1'291'191'960'123'456, TimeUnit::microseconds},
      {"1291191960123456789", 1'291'191'960'123'456, TimeUnit::nanoseconds},
      {"9223372036854775807", 9'223'372'036'854'775, TimeUnit::nanoseconds}};
  for (const auto& [text, microseconds, unit] : table) {
    EXPECT_EQ(at(text), microseconds) << text;
    EXPECT_EQ(parse_time(text).unit, unit) << text;
  }
}

TEST(Times, AUnitCanBeSaid) {
  EXPECT_EQ(at("1000", TimeUnit::seconds), 1000 * second);
  EXPECT_EQ(at("1000", TimeUnit::milliseconds), second);
  EXPECT_EQ(at("1000", TimeUnit::microseconds), 1000);
  EXPECT_EQ(at("-1999", TimeUnit::nanoseconds), -1);
  EXPECT_EQ(at("20110301", TimeUnit::seconds), 20'110'301 * second);
  EXPECT_EQ(at("2010-12-01", TimeUnit::milliseconds), 1'291'161'600 * second);
}

TEST(Times, LimitsOfTheRange) {
  EXPECT_EQ(at("9000000000000", TimeUnit::seconds), 9'000'000'000'000 * second);
  EXPECT_EQ(at("-9000000000000", TimeUnit::seconds), -9'000'000'000'000 * second);
  for (const char* text : {"9300000000000", "-9300000000000", "9223372036854775807", "9223372036854775808",
                           "-9223372036854775808", "1e300", "inf"})
    EXPECT_THAT(problem(text, TimeUnit::seconds), HasSubstr("290 000 years")) << text;
  for (const char* text : {"1e300", "-1e300", "9.3e21", "inf", "-inf"})
    EXPECT_THAT(problem(text), HasSubstr("290 000 years")) << text;
  EXPECT_NE(problem("nan"), "none");
}

TEST(Times, WhatIsNoTimeIsRefused) {
  for (const char* text : {"yesterday", "2010-12", "2010-12-01T", "2010-12-01T8:26", "2010-12-01T08",
                           "2010-12/01", "2010-12-01T08:26:00+1", "2010-12-01T08:26:00Zulu", "2010-12-01x",
                           "2010-1-1", "12345-01-01", "0x10", "--1", "2010-12-01T08:26:00.", "\xff"})
    EXPECT_THAT(problem(text), HasSubstr("is no time; write a date")) << text;
  for (const char* text :
       {"2011-02-29", "2011-13-01", "2011-00-01", "2011-01-00", "0000-01-01", "2011-01-01T24:00",
        "2011-01-01T23:60", "2011-01-01T23:59:61", "2011-01-01T00:00+24:00"})
    EXPECT_THAT(problem(text), HasSubstr("is no day of the calendar")) << text;
  for (const char* text : {"01/02/2011", "1/2/2011 8:26", "12.1.2010", "31-12-2011", "13/01/11 08:26"})
    EXPECT_THAT(problem(text), HasSubstr("day/month or as month/day")) << text;
  EXPECT_THAT(problem("20110301"), HasSubstr("can be the date or a number"));
  EXPECT_EQ(problem("20119901"), "none");
  EXPECT_THAT(problem(""), HasSubstr("is empty"));
  EXPECT_THAT(problem("  "), HasSubstr("is empty"));
}

TEST(Times, TextIsReadAgain) {
  for (const std::int64_t time :
       {std::int64_t{0}, -second, -std::int64_t{1}, std::int64_t{1}, 1'291'191'960 * second + 500'000,
        -62'135'596'800 * second, 253'402'300'799 * second + 999'999})
    EXPECT_EQ(at(time_text(time)), time) << time_text(time);
  EXPECT_EQ(time_text(1'291'191'960 * second), "2010-12-01T08:26:00Z");
  EXPECT_EQ(time_text(1'291'161'600 * second), "2010-12-01");
  EXPECT_EQ(time_text(-500'000), "1969-12-31T23:59:59.5Z");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()), "9223372036854");
}

TEST(Times, LooksLikeTimes) {
  for (const char* text : {"2010-12-01", "978300760", "978300760.5", "1112486027000"})
    EXPECT_TRUE(looks_like_time(text)) << text;
  for (const char* text : {"5", "", "2010-13-01", "17850", "x"}) EXPECT_FALSE(looks_like_time(text)) << text;
}

}  // namespace
}  // namespace poise
