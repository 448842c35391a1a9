#pragma once

#include <string_view>

namespace poise::serve::assets {

// src/poise/serve/assets/, embedded by cmake/serve_assets.cmake.
extern const std::string_view page_html;  ///< page.html, page.css and page*.js in one; {{nonce}} is a nonce
extern const std::string_view openapi_json;  ///< the OpenAPI document

}  // namespace poise::serve::assets
