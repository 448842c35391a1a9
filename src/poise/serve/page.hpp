#pragma once

#include <span>
#include <string>
#include <string_view>

#include "poise/serve/http.hpp"

namespace poise::serve {

/// Whether a text is an origin that a content security policy can name: http(s)://host, perhaps with a port.
bool is_picture_origin(std::string_view text);

/// The page at `/`, with a content security policy by which it runs its own script alone (a nonce of 128
/// random bits), talks to its own server alone, and shows pictures of `data:` addresses and of these origins.
Response explorer_page(std::span<const std::string> picture_origins);

}  // namespace poise::serve
