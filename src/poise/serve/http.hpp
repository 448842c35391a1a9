#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poise::serve {

/// A request that is answered by an error: {"error": {"code":, "message":}} with this status. It leaves no
/// further than the loop that reads a connection.
struct Refusal {
  int status = 400;
  std::string code;
  std::string message;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct Header {
  std::string name;  ///< in lower case
  std::string value;
};

/// The request line and the headers, checked by parse_head().
struct RequestHead {
  std::string method;
  std::string path;   ///< as it was sent, still percent-encoded
  std::string query;  ///< what follows the first '?'
  int minor = 1;      ///< of HTTP/1.x
  std::vector<Header> headers;
  std::int64_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;

  /// The value of the first header of this lower-case name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

struct Request {
  RequestHead head;
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// What is done once the client has its answer.
  std::function<void()> after = {};
};

/// "Not Found" for 404.
std::string_view reason_phrase(int status);

enum class AfterAnswer { keep_open, close };

/// The bytes of a response. `head_only`: as HEAD wants it, with the length of a body that does not follow.
std::string response_bytes(const Response& response, AfterAnswer then, bool head_only);

/// The bytes that %XX stand for; Refusal{400} for a broken escape, NUL, or text that is not UTF-8. A '+' is a
/// space in a query.
enum class Encoded { path, query };
std::string percent_decoded(std::string_view text, Encoded where);

/// The decoded value of the first parameter of this name in a query.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace poise::serve
