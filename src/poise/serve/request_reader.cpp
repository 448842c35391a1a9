#include "poise/serve/request_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "poise/serve/request_head.hpp"

namespace poise::serve {

RequestReader::State RequestReader::advance() {
  if (state_ == State::idle || state_ == State::head) state_ = read_head();
  if (state_ == State::body && std::ssize(bytes_) >= request_.head.content_length) {
    // The body takes the bytes over, so that no large buffer stays with a connection that falls idle.
    std::string rest = bytes_.substr(request_.head.content_length);
    bytes_.resize(request_.head.content_length);
    request_.body = std::exchange(bytes_, std::move(rest));
    state_ = State::ready;
  }
  return state_;
}

RequestReader::State RequestReader::read_head() {
  if (bytes_.empty()) return State::idle;
  // A line that ends with LF alone would never end the head: it is refused as soon as it is there.
  for (; scanned_ < bytes_.size(); ++scanned_) {
    if (std::ssize(bytes_) > limits_.header_bytes && std::cmp_greater_equal(scanned_, limits_.header_bytes))
      throw Refusal{431, "headers_too_large",
                    fmt::format("the request's head has more than {} bytes", limits_.header_bytes)};
    const char c = bytes_[scanned_];
    if (c == '\0') throw Refusal{400, "bad_request", "the request's head has a NUL byte"};
    if (c != '\n') continue;
    if (scanned_ == 0 || bytes_[scanned_ - 1] != '\r')
      throw Refusal{400, "bad_request", "a line of the request ends with LF alone"};
    if (scanned_ == 1) throw Refusal{400, "bad_request", "the request begins with an empty line"};
    if (scanned_ < 3 || bytes_[scanned_ - 2] != '\n') continue;
    const std::size_t end = scanned_ + 1;
    request_.head = parse_head(std::string_view(bytes_).substr(0, end), limits_);
    bytes_.erase(0, end);
    scanned_ = 0;
    return State::body;
  }
  return State::head;
}

Request RequestReader::take() {
  state_ = State::idle;
  return std::exchange(request_, {});
}

}  // namespace poise::serve
