#include "poise/serve/page.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <sys/random.h>

#include "poise/serve/assets.hpp"

namespace poise::serve {
namespace {

std::string new_nonce() {
  std::array<std::uint64_t, 2> bits = {};
  if (::getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    throw Refusal{503, "internal_error", "the system has no random numbers"};
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace

Response explorer_page() {
  constexpr std::string_view hole = "{{nonce}}";
  const std::string nonce = new_nonce();
  std::string page(assets::page_html);
  for (std::size_t at = page.find(hole); at != std::string::npos; at = page.find(hole, at + nonce.size()))
    page.replace(at, hole.size(), nonce);
  return {.content_type = "text/html; charset=utf-8",
          .body = std::move(page),
          .headers = {{"Content-Security-Policy",
                       fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                                   "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
                                   "form-action 'none'; frame-ancestors 'none'",
                                   nonce)},
                      {"X-Frame-Options", "DENY"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"}}};
}

}  // namespace poise::serve
