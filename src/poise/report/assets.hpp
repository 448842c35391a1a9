#pragma once

#include <string_view>

/// Files that the build embeds (cmake/embed_assets.cmake).
namespace poise::report::assets {

extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view vega_js;  ///< defines `vega` from the modules of Debian's libjs-vega
extern const std::string_view vega_licence;

}  // namespace poise::report::assets
