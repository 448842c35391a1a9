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

bool is_picture_origin(std::string_view text) {
  const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return false;
  std::string_view host = text.substr(scheme);
  if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    host = host.substr(0, colon);
  }
  // Anything else, as a blank or a semicolon, could write further rules into the policy.
  return !host.empty() &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos;
}

Response explorer_page(std::span<const std::string> picture_origins) {
  constexpr std::string_view hole = "{{nonce}}";
  const std::string nonce = new_nonce();
  std::string page(assets::page_html);
  for (std::size_t at = page.find(hole); at != std::string::npos; at = page.find(hole, at + nonce.size()))
    page.replace(at, hole.size(), nonce);
  std::string pictures;
  for (const std::string& origin : picture_origins) pictures += " " + origin;
  return {.content_type = "text/html; charset=utf-8",
          .body = std::move(page),
          .headers = {{"Content-Security-Policy",
                       fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                                   "img-src data:{1}; connect-src 'self'; base-uri 'none'; "
                                   "form-action 'none'; frame-ancestors 'none'",
                                   nonce, pictures)},
                      {"X-Frame-Options", "DENY"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"}}};
}

}  // namespace poise::serve
