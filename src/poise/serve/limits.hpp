#pragma once

#include <cstdint>

namespace poise::serve {

/// What a client may ask for, and how long it may take to ask. What goes beyond is refused, by status 413,
/// 431, 408, 429 or 503.
struct Limits {
  std::int64_t header_bytes = 16 << 10;
  std::int64_t headers = 100;
  std::int64_t body_bytes = 1 << 20;
  std::int64_t json_depth = 16;
  /// A value in a body: an id with its quotes and its comma, usually. Shorter ones than this on the average
  /// are refused where they are as many as a full body would hold.
  std::int64_t bytes_of_value = 8;
  std::int64_t history_items = 10'000;  ///< of one history
  std::int64_t batch = 100;             ///< histories of one request
  std::int64_t k = 1'000;
  std::int64_t explained = 1'000;    ///< explained items of one request, over all of its histories
  std::int64_t reasons = 200'000;    ///< of all explained items: an item has one for each item of its history
  std::int64_t diversified = 1'000;  ///< items of diversified lists of one request
  std::int64_t found_items = 100;    ///< of one search
  std::int64_t connections = 1'024;
  double requests_per_second = 0;  ///< of one key; 0: any number

  // Seconds.
  double header_timeout = 10;  ///< from the first byte of a request to the end of its headers
  double body_timeout = 20;
  double idle_timeout = 60;   ///< between two requests
  double write_timeout = 30;  ///< for a client to take its answer
  double drain_timeout = 30;  ///< after SIGTERM
};

}  // namespace poise::serve
