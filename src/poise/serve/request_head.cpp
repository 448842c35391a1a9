#include "poise/serve/request_head.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "poise/base/lower_case.hpp"

namespace poise::serve {
namespace {

[[noreturn]] void bad_request(std::string message) { throw Refusal{400, "bad_request", std::move(message)}; }

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Cuts the next line, which must end with CRLF and hold no other control character than tabs.
std::string_view next_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\r');
  if (end == std::string_view::npos || end + 1 >= bytes.size() || bytes[end + 1] != '\n')
    bad_request("a line of the request does not end with CR LF");
  const std::string_view line = bytes.substr(0, end);
  for (const char c : line) {
    if (c == '\t' || (c >= ' ' && c <= '~')) continue;
    bad_request(c == '\n' ? "a line of the request ends with LF alone"
                          : "the request's head has a byte that is no visible ASCII");
  }
  bytes.remove_prefix(end + 2);
  return line;
}

int minor_version(std::string_view version) {
  if (version == "HTTP/1.1") return 1;
  if (version == "HTTP/1.0") return 0;
  const bool a_version = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.' &&
                         std::isdigit(static_cast<unsigned char>(version[5])) != 0 &&
                         std::isdigit(static_cast<unsigned char>(version[7])) != 0;
  if (!a_version) bad_request("the request line does not end with a version such as HTTP/1.1");
  throw Refusal{505, "http_version", fmt::format("{} is not spoken here; use HTTP/1.1", version)};
}

void read_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    bad_request("the request line is not METHOD TARGET VERSION");
  head.method = line.substr(0, first);
  if (!is_token(head.method) || head.method.size() > 32) bad_request("the method is no token");
  head.minor = minor_version(line.substr(last + 1));
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!target.starts_with('/') || target.find_first_of(" \t") != std::string_view::npos)
    throw Refusal{400, "bad_target", "the target is no path that begins with '/'"};
  const std::size_t question = std::min(target.find('?'), target.size());
  head.path = target.substr(0, question);
  head.query = target.substr(std::min(question + 1, target.size()));
}

Header header_of(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') bad_request("a header is folded over two lines");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) bad_request("a header has no colon");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) bad_request("the name of a header is no token");
  return {lower_case(name), std::string(without_spaces(line.substr(colon + 1)))};
}

std::int64_t count_of(const RequestHead& head, std::string_view name) {
  return std::ranges::count(head.headers, name, &Header::name);
}

std::int64_t content_length_of(const RequestHead& head, const Limits& limits) {
  const std::int64_t lengths = count_of(head, "content-length");
  if (count_of(head, "transfer-encoding") > 0) {
    if (lengths > 0) bad_request("the request has both Transfer-Encoding and Content-Length");
    throw Refusal{501, "transfer_encoding", "Transfer-Encoding is not accepted; send a Content-Length"};
  }
  if (lengths > 1) bad_request("the request has more than one Content-Length");
  if (lengths == 0) {
    if (head.method == "POST") throw Refusal{411, "length_required", "a POST needs a Content-Length"};
    return 0;
  }
  const std::string_view text = *head.header("content-length");
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) bad_request("Content-Length is not a number");
  std::int64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || length > limits.body_bytes)
    throw Refusal{413, "body_too_large", fmt::format("the body has more than {} bytes", limits.body_bytes)};
  if (length > 0 && head.method != "POST") bad_request("only a POST has a body");
  return length;
}

/// Whether a comma-separated header has this word.
bool has_word(const RequestHead& head, std::string_view name, std::string_view word) {
  for (const Header& header : head.headers) {
    if (header.name != name) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (lower_case(without_spaces(part)) == word) return true;
    }
  }
  return false;
}

}  // namespace

RequestHead parse_head(std::string_view bytes, const Limits& limits) {
  RequestHead head;
  read_request_line(next_line(bytes), head);
  for (std::string_view line = next_line(bytes); !line.empty(); line = next_line(bytes)) {
    if (std::ssize(head.headers) == limits.headers)
      throw Refusal{431, "headers_too_large",
                    fmt::format("the request has more than {} headers", limits.headers)};
    head.headers.push_back(header_of(line));
  }
  const std::int64_t hosts = count_of(head, "host");
  if (hosts != 1) bad_request(hosts == 0 ? "the request has no Host" : "the request has two Hosts");
  head.content_length = content_length_of(head, limits);
  head.keep_alive = head.minor == 1 && !has_word(head, "connection", "close");
  if (const auto expected = head.header("expect")) {
    if (lower_case(*expected) != "100-continue") bad_request("only 100-continue can be expected");
    head.expects_continue = head.minor == 1 && head.content_length > 0;
  }
  return head;
}

}  // namespace poise::serve
