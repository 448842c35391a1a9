#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/log/read_inputs.hpp"
#include "poise/data/log_format.hpp"

namespace poise::testing {
namespace {

using ::testing::HasSubstr;

Interactions read_json(const std::string& text, LogOptions options = {}, std::size_t chunk = 1U << 20U) {
  options.format = LogFormat::json_lines;
  return logs::read_inputs({{"log.jsonl", text}}, options, {.chunk = chunk, .batch = 4 * chunk},
                           {.threads = 2});
}

std::string rows_of_json(const Interactions& log) {
  std::string text;
  for (std::int64_t k = 0; k < log.rows(); ++k) {
    text += fmt::format("{}|{}", log.users[log.user[k]], log.items[log.item[k]]);
    if (!log.value.empty()) text += fmt::format("|{}", log.value[k]);
    text += "\n";
  }
  return text;
}

std::string json_problem(const std::string& text, const LogOptions& options = {}) {
  try {
    read_json(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LogJson, ReadsKnownFieldsOfAnyOrder) {
  const Interactions log = read_json(
      "{\"item_id\": \"a\", \"user_id\": 7, \"rating\": 4.5, \"when\": [1, {\"user_id\": 9}]}\r\n"
      "\n"
      "{\"user_id\":\"\\u00e9\\\"x\",\"rating\":\"2\",\"item_id\":-3}\n"
      "{\"user_id\":123456789012345678901234567890,\"rating\":1e-3,\"item_id\":18446744073709551615}");
  EXPECT_EQ(rows_of_json(log),
            "7|a|4.5\n\xc3\xa9\"x|-3|2\n123456789012345678901234567890|18446744073709551615|0.001\n");
  EXPECT_EQ(log.reading, "jsonl, user = 'user_id', item = 'item_id', value = 'rating'");
}

TEST(LogJson, PiecesDoNotMatter) {
  std::string text;
  for (int k = 0; k < 200; ++k)
    text += fmt::format("{{\"user\":{},\"item\":\"i{}\",\"x\":\"{}\"}}\n", k % 7, k % 11, k);
  const std::string expected = rows_of_json(read_json(text));
  for (const std::size_t chunk : {1, 24, 100, 5000})
    EXPECT_EQ(rows_of_json(read_json(text, {}, chunk)), expected);
}

TEST(LogJson, TakesFieldsByName) {
  const Interactions log =
      read_json("{\"who\":1,\"what\":2,\"user\":3,\"n\":4}\n", {.columns = {"who", "what", "n"}});
  EXPECT_EQ(rows_of_json(log), "1|2|4\n");
  EXPECT_THAT(json_problem("{\"who\":1,\"what\":2}\n"),
              HasSubstr("no field of log.jsonl is known as a user"));
  EXPECT_THAT(json_problem("{\"who\":1,\"what\":2}\n"), HasSubstr("(its first object has 'who', 'what')"));
  EXPECT_THAT(json_problem("{\"user\":1}\n"), HasSubstr("known as an item"));
  EXPECT_THAT(json_problem("{}\n", {.columns = {"a", "a"}}), HasSubstr("given twice"));
}

TEST(LogJson, EmptyIdsAndThresholdsCountAsInCsv) {
  const Interactions log = read_json(
      "{\"user\":null,\"item\":1,\"value\":5}\n{\"user\":1,\"item\":\"\",\"value\":5}\n"
      "{\"user\":1,\"item\":2,\"value\":3}\n{\"user\":1,\"item\":3,\"value\":4}\n",
      {.keep_above = 3});
  EXPECT_EQ(rows_of_json(log), "1|3|4\n");
  EXPECT_EQ(log.empty_ids, 2);
  EXPECT_EQ(log.below_threshold, 1);
}

TEST(LogJson, BadLinesAreNamedOrSkipped) {
  const std::string good = "{\"user\":1,\"item\":2,\"value\":3}\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"user\":1,\"item\":2", "no JSON from byte"},
      {"not json", "no JSON from byte"},
      {"[1,2,3]", "no JSON object"},
      {"17", "no JSON object"},
      {good.substr(0, good.size() - 1) + " {}", "no JSON from byte"},
      {"{\"user\":1,\"value\":3}", "the object has no field 'item'"},
      {"{\"user\":1,\"item\":2}", "the object has no field 'value'"},
      {"{\"user\":1,\"user\":2,\"item\":2,\"value\":3}", "'user' twice"},
      {"{\"user\":1.5,\"item\":2,\"value\":3}", "the user id '1.5' is no whole number"},
      {"{\"user\":true,\"item\":2,\"value\":3}", "neither a text nor a number"},
      {"{\"user\":[1],\"item\":2,\"value\":3}", "neither a text nor a number"},
      {"{\"user\":1,\"item\":{\"id\":2},\"value\":3}", "neither a text nor a number"},
      {"{\"user\":\"a\\u0000b\",\"item\":2,\"value\":3}", "holds a NUL character"},
      {std::string("{\"user\":\"a\0b\",\"item\":2}", 24), "holds a NUL byte"},
      {"{\"user\":\"\xff\",\"item\":2,\"value\":3}", "no JSON from byte"},
      {"{\"user\":\"\\ud800\",\"item\":2,\"value\":3}", "no JSON from byte"},
      {"{\"user\":1,\"item\":2,\"value\":NaN}", "no JSON from byte"},
      {"{\"user\":1,\"item\":2,\"value\":\"NaN\"}", "is not finite"},
      {"{\"user\":1,\"item\":2,\"value\":null}", "is no number"},
      {"{\"user\":1,\"item\":2,\"value\":\"many\"}", "is not a number"},
      {"{\"user\":1,\"item\":2,\"value\":1e999}", "no JSON from byte"},
      {"{\"user\":1,\"item\":2,\"value\":1e300}", "is not finite"},
      {"{\"user\":\"" + std::string(5000, 'x') + "\",\"item\":2,\"value\":3}", "4096 are allowed"},
  };
  for (const auto& [line, problem] : cases) {
    const std::string message = json_problem(good + "\n" + line + "\n" + good);
    EXPECT_THAT(message, HasSubstr("log.jsonl:3: ")) << line;
    EXPECT_THAT(message, HasSubstr(problem)) << line;
    const Interactions log = read_json(good + line + "\n" + good, {.skip_bad_lines = true});
    EXPECT_EQ(log.skipped_lines, 1) << line;
    EXPECT_EQ(log.rows(), 2) << line;
  }
}

TEST(LogJson, DeepNestingIsNoTrouble) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(read_json("{\"user\":1,\"item\":2,\"x\":" + deep + "}\n").rows(), 1);
}

TEST(LogJson, OtherFilesAreRefused) {
  EXPECT_THAT(json_problem("[\n{\"user\":1,\"item\":2}\n]\n"), HasSubstr("one JSON array"));
  EXPECT_THAT(json_problem(" \n"), HasSubstr("no data row"));
  EXPECT_THAT(json_problem("{\"user\":1,\"item\":2}\n", {.delimiter = ";"}),
              HasSubstr("neither delimiter nor header"));
  EXPECT_THAT(json_problem("{\"user\":1,\"item\":2}\n", {.keep_above = 1}), HasSubstr("no value column"));
}

TEST(LogJson, IsDetected) {
  using logs::detect_format;
  EXPECT_EQ(detect_format("a.jsonl", "nonsense\n", true), LogFormat::json_lines);
  EXPECT_EQ(detect_format("a.NDJSON.gz", "", true), LogFormat::json_lines);
  EXPECT_EQ(detect_format("a.txt", "{\"user\": 1}\n", true), LogFormat::json_lines);
  EXPECT_EQ(detect_format("a.db", std::string_view("SQLite format 3\0\x10", 17), false), LogFormat::sqlite);
  EXPECT_EQ(detect_format("a.csv", "{a},b\n", true), LogFormat::csv);
}

TEST(LogJson, AFormatIsFoundWhileReading) {
  const auto read = [](const std::string& text) {
    return logs::read_inputs({{"pipe", text}}, {.threshold_of_format = true}, {}, {.threads = 1});
  };
  EXPECT_EQ(read("{\"user\":1,\"item\":2}\n").rows(), 1);
  EXPECT_EQ(read("userId,movieId,rating\n1,2,3\n1,3,4\n").rows(), 1);
  EXPECT_EQ(read("userId,movieId,rating\n1,2,3\n1,3,4\n").keep_above, 3.5);
  EXPECT_EQ(read("user,item\n1,2\n").keep_above, std::nullopt);
  EXPECT_EQ(read("1 2 3\n4 5 6 7\n").rows(), 5);
}

}  // namespace
}  // namespace poise::testing
