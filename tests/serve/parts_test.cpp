#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/serve/admission.hpp"
#include "poise/serve/api_keys.hpp"
#include "poise/serve/assets.hpp"
#include "poise/serve/endpoints.hpp"
#include "poise/serve/item_catalogue.hpp"
#include "poise/serve/rate_limit.hpp"
#include "poise/serve/strict_json.hpp"
#include "poise/serve/traffic.hpp"

namespace poise::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::filesystem::path written(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / ("serve_" + name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Ids ids_of(const std::vector<std::string>& texts) {
  Ids ids;
  for (const std::string& text : texts) ids.push_back(text);
  return ids;
}

TEST(StrictJson, ReadsWhatIsOne) {
  EXPECT_EQ(parse_strictly(R"({"a": [1, -2.5, "x\u00e9", null, true, {}]})", 3).dump(),
            "{\"a\":[1,-2.5,\"x\xc3\xa9\",null,true,{}]}");
  EXPECT_EQ(parse_strictly(" 3 ", 0), 3);
}

TEST(StrictJson, RefusesTheRest) {
  for (const char* const text : {"", "{", "{}x", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", "[1,]",
                                 "{'a':1}", "[NaN]", "[1e999]", "\xef\xbb\xbf[]", "[\"\xff\"]",
                                 "[\"\xc0\x80\"]", "[\"\\ud800\"]", "// c\n[]", "[01]", "[+1]", "[\"\t\"]"})
    EXPECT_THROW(parse_strictly(text, 8), Refusal) << text;
  EXPECT_NO_THROW(parse_strictly("[[[]]]", 3));
  EXPECT_THROW(parse_strictly("[[[[]]]]", 3), Refusal);
  std::string many = "{";
  for (int k = 0; k < 101; ++k) many += (k > 0 ? ",\"" : "\"") + std::to_string(k) + "\":0";
  EXPECT_THROW(parse_strictly(many + "}", 3), Refusal);
  EXPECT_NO_THROW(parse_strictly("[1, {\"a\": [2]}]", 3, 5));
  try {
    parse_strictly("[1, {\"a\": [2]}]", 3, 4);
    ADD_FAILURE() << "five values";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, 413);
  }
}

TEST(ItemCatalogue, FindsBeginningsOfWords) {
  const ItemCatalogue items(std::make_unique<const ItemTable>(
      ids_of({"a1", "a2", "b3", "b4"}),
      ids_of({"Green Tea, loose", "The Green Tree", "Tea pot", "\xc3\x89tude"})));
  const auto found = [&](std::string_view text, std::int64_t most = 10) {
    std::vector<std::string> result;
    for (const std::int64_t item : items.find(text, most, [](std::string_view id) { return id != "b4"; }))
      result.emplace_back(items.table().id(item));
    return result;
  };
  EXPECT_THAT(found("gre"), ElementsAre("a1", "a2"));
  EXPECT_THAT(found("T"), ElementsAre("a2", "b3", "a1")) << "those whose text begins so come first";
  EXPECT_THAT(found("tea GREEN"), ElementsAre("a1"));
  EXPECT_THAT(found("green tea, l"), ElementsAre("a1"));
  EXPECT_THAT(found("b3"), ElementsAre("b3"));
  EXPECT_THAT(found("ea"), IsEmpty());
  EXPECT_THAT(found("\xc3\x89tude"), IsEmpty()) << "not accepted";
  EXPECT_THAT(found("", 2), ElementsAre("a1", "a2"));
  std::string many;
  for (int k = 0; k < 16; ++k) many += "green ";
  EXPECT_THAT(found(many), ElementsAre("a1", "a2"));
  EXPECT_THAT(found(many + "nothing"), ElementsAre("a1", "a2")) << "words behind many are not looked for";
}

TEST(ApiKeys, AreComparedInFull) {
  const ApiKeys keys =
      ApiKeys::read(written("keys", "# comment\nalice:0123456789abcdef\nfedcba9876543210\n"));
  EXPECT_EQ(keys.find("0123456789abcdef"), 0U);
  EXPECT_EQ(keys.find("fedcba9876543210"), 1U);
  EXPECT_EQ(keys.name(1), "key2");
  for (const char* const sent : {"", "0", "0123456789abcde", "0123456789abcdeg",
                                 "0123456789abcdef0123456789abcdef", "alice:0123456789abcdef"})
    EXPECT_EQ(keys.find(sent), std::nullopt) << sent;
  EXPECT_FALSE(ApiKeys().needed());
  for (const char* const text : {"", "# none\n", "short\n", "a:0123456789abcdef\na:fedcba9876543210\n",
                                 "0123456789 abcdef\n", "0123456789abcdef\n0123456789abcdef\n"})
    EXPECT_THROW(ApiKeys::read(written("bad_keys", text)), Error) << text;
}

TEST(RateLimit, EachKeyHasABucketThatFillsAgain) {
  RateLimit limit(2, 2);
  EXPECT_TRUE(limit.take(0, 10));
  EXPECT_TRUE(limit.take(0, 10));
  EXPECT_FALSE(limit.take(0, 10));
  EXPECT_TRUE(limit.take(1, 10));
  EXPECT_FALSE(limit.take(0, 10.4));
  EXPECT_TRUE(limit.take(0, 10.5));
  EXPECT_FALSE(limit.take(0, 10.5));
  EXPECT_TRUE(limit.take(0, 100));
  EXPECT_TRUE(limit.take(0, 100));
  EXPECT_FALSE(limit.take(0, 100)) << "no more than a second's worth";
  RateLimit none(1, 0);
  for (int k = 0; k < 100; ++k) EXPECT_TRUE(none.take(0, 0));
}

TEST(Endpoints, AreThoseOfTheDocument) {
  const Json document = Json::parse(assets::openapi_json);
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  EXPECT_EQ(operations, endpoints().size());
  for (const Endpoint& endpoint : endpoints()) {
    const char* const method = endpoint.method == "GET" ? "get" : "post";
    const Json& operation = document["paths"][std::string(endpoint.path)][method];
    EXPECT_EQ(operation["operationId"], endpoint.name);
    EXPECT_EQ(operation.contains("security"), endpoint.access == Access::open) << endpoint.path;
  }
}

TEST(Endpoints, PathsMatchAsTheyWereSent) {
  std::string parameter;
  EXPECT_EQ(find_endpoint("/v1/users/a%2Fb%20c/history", parameter)->id, EndpointId::history);
  EXPECT_EQ(parameter, "a/b c");
  for (const char* const path : {"/v1/users/history", "/v1/users//history", "/v1/users/a/b/history",
                                 "/v1/models/", "//", "/v1", "/v1/../metrics", "/%6detrics"})
    EXPECT_EQ(find_endpoint(path, parameter), nullptr) << path;
}

int refused(Admission& admission, const std::string& method, const std::string& path,
            std::vector<Header> headers) {
  headers.insert(headers.begin(), {"host", "localhost:8080"});
  RequestHead head{.method = method, .path = path, .query = {}, .headers = std::move(headers)};
  Admitted admitted;
  try {
    admission.check(head, 0, admitted);
    return 0;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

TEST(Admission, HostsAndOrigins) {
  const Limits limits;
  Admission admission({.hosts = {"Shop.example"}, .origins = {"https://page.example"}}, limits);
  const auto host = [&](const std::string& name) {
    RequestHead head{.method = "GET", .path = "/v1/livez", .query = {}, .headers = {{"host", name}}};
    Admitted admitted;
    try {
      admission.check(head, 0, admitted);
      return 0;
    } catch (const Refusal& refusal) {
      return refusal.status;
    }
  };
  for (const char* const name :
       {"localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "shop.example:443"})
    EXPECT_EQ(host(name), 0) << name;
  for (const char* const name : {"", "evil.example", "localhost.evil.example", "localhost:x", "localhost:",
                                 "localhost:1:2", "127.0.0.2", "::1", "shop.example.", "evil@localhost"})
    EXPECT_EQ(host(name), 421) << name;
  EXPECT_EQ(refused(admission, "GET", "/v1/models", {{"origin", "http://localhost:8080"}}), 0);
  EXPECT_EQ(refused(admission, "GET", "/v1/models", {{"origin", "https://page.example"}}), 0);
  EXPECT_EQ(refused(admission, "GET", "/v1/models", {{"origin", "http://localhost"}}), 403);
  EXPECT_EQ(refused(admission, "GET", "/v1/models", {{"origin", "null"}}), 403);
  EXPECT_EQ(refused(admission, "POST", "/v1/reload", {{"content-type", "text/plain"}}), 415);
  EXPECT_EQ(refused(admission, "POST", "/v1/reload", {{"content-type", "application/jsonp"}}), 415);
  EXPECT_EQ(refused(admission, "POST", "/v1/reload", {{"content-type", "application/json; charset=utf-8"}}),
            0);
  EXPECT_EQ(refused(admission, "POST", "/v1/reload",
                    {{"content-type", "application/json"}, {"content-encoding", "gzip"}}),
            415);
}

TEST(Admission, NamesThatNoRequestCouldHaveAreRefused) {
  const auto admits = [](const std::string& host, const std::string& origin) {
    Admission({.hosts = {host}, .origins = {origin}}, Limits());
  };
  for (const char* const host : {"shop.example", "[::1]", "10.0.0.1", "SHOP"})
    EXPECT_NO_THROW(admits(host, "https://shop.example:8443")) << host;
  for (const char* const host :
       {"", "shop.example:8080", "https://shop.example", "*", "*.example", "a b", "[]", "[::1]:80"})
    EXPECT_THROW(admits(host, "https://shop.example"), Error) << host;
  for (const char* const origin :
       {"", "*", "null", "shop.example", "https://", "https://shop.example/", "https://Shop.example",
        "https://shop.example, https://other.example", "://shop.example"})
    EXPECT_THROW(admits("localhost", origin), Error) << origin;
}

TEST(Admission, HostsInUrls) {
  EXPECT_EQ(host_in_url("127.0.0.2"), "127.0.0.2");
  EXPECT_EQ(host_in_url("::1"), "[::1]");
  EXPECT_EQ(host_in_url("[::1]"), "[::1]");
}

ModelSet models_called(const std::vector<std::string>& names) {
  ModelSet models;
  for (const std::string& name : names) {
    LoadedModel model{
        .info = {.model = "full-rank", .options = {}, .data_checksum = {}, .report = "{}", .items = {}},
        .scorer = std::make_unique<FullRank>(Matrix<float>(0, 0)),
        .checksum = {}};
    models.push_back(std::make_shared<const ServedModel>(name, std::move(model), "0"));
  }
  return models;
}

TEST(Traffic, SharesMayAddUpToOneInAnyOrder) {
  const ModelSet models = models_called({"a", "b", "c", "d"});
  // Their sum in doubles is above 1.
  const Traffic traffic({{"a", 0.05}, {"b", 0.55}, {"c", 0.3}, {"d", 0.1}}, models);
  EXPECT_EQ(traffic.share_of("b"), 0.55);
  EXPECT_THROW(Traffic({{"a", 0.5}, {"b", 0.51}}, models), Error);
  EXPECT_THROW(Traffic({{"a", 0.5}, {"a", 0.1}}, models), Error);
  EXPECT_THROW(Traffic({{"e", 0.5}}, models), Error);
}

}  // namespace
}  // namespace poise::serve
