#include "poise/serve/http.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "poise/base/utf8.hpp"

namespace poise::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string_view> RequestHead::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Header::name);
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

std::string response_bytes(const Response& response, AfterAnswer then, bool head_only) {
  std::string bytes;
  bytes.reserve(512 + response.body.size());
  const auto to = std::back_inserter(bytes);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (response.status != 204) {
    fmt::format_to(to, "Content-Type: {}\r\nContent-Length: {}\r\n", response.content_type,
                   response.body.size());
  }
  bytes +=
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n";
  for (const auto& [name, value] : response.headers) fmt::format_to(to, "{}: {}\r\n", name, value);
  if (then == AfterAnswer::close) bytes += "Connection: close\r\n";
  bytes += "\r\n";
  if (!head_only && response.status != 204) bytes += response.body;
  return bytes;
}

std::string percent_decoded(std::string_view text, Encoded where) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '+' && where == Encoded::query) {
      result += ' ';
    } else if (text[k] != '%') {
      result += text[k];
    } else {
      const int high = k + 2 < text.size() ? hex_digit(text[k + 1]) : -1;
      const int low = k + 2 < text.size() ? hex_digit(text[k + 2]) : -1;
      if (high < 0 || low < 0 || high + low == 0)
        throw Refusal{400, "bad_target", "the request's target has a broken % escape"};
      result += static_cast<char>(high * 16 + low);
      k += 2;
    }
  }
  if (!is_utf8(result)) throw Refusal{400, "bad_target", "the request's target is not UTF-8"};
  return result;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    if (percent_decoded(part.substr(0, equals), Encoded::query) != name) continue;
    return percent_decoded(part.substr(std::min(equals + 1, part.size())), Encoded::query);
  }
  return std::nullopt;
}

}  // namespace poise::serve
