#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "poise/serve/http.hpp"
#include "poise/serve/limits.hpp"

namespace poise::serve {

/// Cuts the bytes of one connection into requests, without a socket. Holds at most one request and what was
/// sent behind it, which is read no further before that request is answered.
class RequestReader {
 public:
  explicit RequestReader(const Limits& limits) : limits_(limits) {}

  enum class State {
    idle,  ///< no byte of a request
    head,  ///< a part of a head
    body,  ///< a head, and a part of a body
    ready  ///< a whole request: take() it
  };

  void append(std::string_view bytes) { bytes_ += bytes; }
  /// How far the bytes reach. A Refusal for a head that is none (parse_head) or too long; nothing can be read
  /// from this connection then.
  State advance();
  /// The head, in the states body and ready.
  [[nodiscard]] const RequestHead& head() const { return request_.head; }
  Request take();
  /// Whether nothing was sent behind what was taken.
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  State read_head();

  const Limits& limits_;
  std::string bytes_;
  std::size_t scanned_ = 0;  ///< of a head: holds no empty line up to here
  State state_ = State::idle;
  Request request_;
};

}  // namespace poise::serve
