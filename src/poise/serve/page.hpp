#pragma once

#include "poise/serve/http.hpp"

namespace poise::serve {

/// The page at `/`, with a content security policy by which it runs its own script alone (a nonce of 128
/// random bits) and talks to its own server alone.
Response explorer_page();

}  // namespace poise::serve
