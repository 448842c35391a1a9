#include "poise/serve/request_reader.hpp"

#include <gtest/gtest.h>

namespace poise::serve {
namespace {

using State = RequestReader::State;

/// The status that a request gets, or 0 if it is read whole.
int status_of(const std::string& bytes, const Limits& limits = {}) {
  RequestReader reader(limits);
  reader.append(bytes);
  try {
    return reader.advance() == State::ready ? 0 : -1;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

std::string get(const std::string& headers) {
  return "GET / HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}
std::string post(const std::string& headers, const std::string& body) {
  return "POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
}

TEST(RequestReader, ReadsByteByByteAndKeepsWhatFollows) {
  const Limits limits;
  RequestReader reader(limits);
  const std::string first = post("Content-Length: 3\r\nX-A:  b c \r\n", "abc");
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    reader.append(first.substr(k, 1));
    const State state = reader.advance();
    EXPECT_EQ(state, k + 4 < first.size() ? State::head : State::body) << k;
  }
  reader.append("c" + get(""));
  ASSERT_EQ(reader.advance(), State::ready);
  const Request request = reader.take();
  EXPECT_EQ(request.body, "abc");
  EXPECT_EQ(request.head.header("x-a"), "b c");
  EXPECT_FALSE(reader.empty());
  ASSERT_EQ(reader.advance(), State::ready);
  EXPECT_EQ(reader.take().head.path, "/");
  EXPECT_TRUE(reader.empty());
  EXPECT_EQ(reader.advance(), State::idle);
}

TEST(RequestReader, TargetsAndVersions) {
  const Limits limits;
  RequestReader reader(limits);
  reader.append("GET /v1/items?q=a?b HTTP/1.0\r\nHost: x\r\n\r\n");
  ASSERT_EQ(reader.advance(), State::ready);
  const RequestHead head = reader.take().head;
  EXPECT_EQ(head.path, "/v1/items");
  EXPECT_EQ(head.query, "q=a?b");
  EXPECT_FALSE(head.keep_alive);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: x\r\n\r\n"), 505);
  for (const char* const line :
       {"GET /", "GET / HTTP/1", "GET  / HTTP/1.1", "GET / x HTTP/1.1", "GET x HTTP/1.1",
        "GET http://x/ HTTP/1.1", "G(T / HTTP/1.1", "/ HTTP/1.1", "GET /\tHTTP/1.1", ""})
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: x\r\n\r\n"), 400) << line;
}

TEST(RequestReader, FramingThatServersReadDifferentlyIsRefused) {
  EXPECT_EQ(status_of(get("")), 0);
  EXPECT_EQ(status_of(get("Host: localhost\r\n")), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: b\r\n\r\n"), 400);
  for (const char* const headers :
       {"A : b\r\n", " A: b\r\n", "A: b\r\n c\r\n", "A: b\r\n\tc\r\n", "A\r\n", ": b\r\n", "A: b\n",
        "A: \xe9\r\n", "A: b\rc\r\n", "A: \x01\r\n", "A: \x7f\r\n", "\xc3\xa9: b\r\n", "Expect: 200-ok\r\n"})
    EXPECT_EQ(status_of(get(headers)), 400) << headers;
  EXPECT_EQ(status_of(get(std::string("A: ") + '\0' + "\r\n")), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: x\n\n"), 400) << "lines that end with LF alone";
  EXPECT_EQ(status_of("\r\n" + get("")), 400);
}

TEST(RequestReader, BodiesHaveOneLength) {
  EXPECT_EQ(status_of(post("Content-Length: 2\r\n", "{}")), 0);
  EXPECT_EQ(status_of(post("", "")), 411);
  for (const char* const length :
       {"+2", "-1", "0x2", "2 2", "2,2", "", "2.0", "two", " 2\r\nContent-Length: 2",
        "2\r\nContent-Length: 3", "2\r\nTransfer-Encoding: chunked"})
    EXPECT_EQ(status_of(post(std::string("Content-Length: ") + length + "\r\n", "{}")), 400) << length;
  EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n")), 501);
  EXPECT_EQ(status_of(post("Transfer-Encoding: identity\r\n", "")), 501);
  EXPECT_EQ(status_of(post("Content-Length: 1048577\r\n", "")), 413);
  EXPECT_EQ(status_of(post("Content-Length: 99999999999999999999999\r\n", "")), 413);
  EXPECT_EQ(status_of(get("Content-Length: 2\r\n") + "{}"), 400);
  EXPECT_EQ(status_of(get("Content-Length: 0\r\n")), 0);
}

TEST(RequestReader, HeadsHaveALimit) {
  const Limits limits{.header_bytes = 100, .headers = 3};
  EXPECT_EQ(status_of(get("A: " + std::string(200, 'x') + "\r\n"), limits), 431);
  EXPECT_EQ(status_of("GET /" + std::string(200, 'x'), limits), 431) << "before its end is there";
  EXPECT_EQ(status_of(get("A: b\r\nC: d\r\n"), limits), 0);
  EXPECT_EQ(status_of(get("A: b\r\nC: d\r\nE: f\r\n"), limits), 431);
  // Only the head counts.
  EXPECT_EQ(status_of(post("Content-Length: 300\r\n", std::string(300, 'x')), limits), 0);
}

TEST(PercentDecoding, BrokenEscapesAreRefused) {
  EXPECT_EQ(percent_decoded("a%20b%C3%a9+", Encoded::path), "a b\xc3\xa9+");
  EXPECT_EQ(query_value("x=1&q=a+b%26&q=c", "q"), "a b&");
  EXPECT_EQ(query_value("q", "q"), "");
  EXPECT_EQ(query_value("p=1", "q"), std::nullopt);
  for (const char* const text : {"%", "%4", "%zz", "%00", "%ff", "%ed%a0%80", "%c0%80"})
    EXPECT_THROW(percent_decoded(text, Encoded::path), Refusal) << text;
}

}  // namespace
}  // namespace poise::serve
