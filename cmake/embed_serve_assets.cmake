# cmake -DASSETS=... -DOUTPUT=... -P embed_serve_assets.cmake
#
# Writes a C++ file with the server's page, joined from its parts, and the OpenAPI document as raw strings.
set(script "")
foreach(part page_parts page_lists page_graph page_card page)
  file(READ "${ASSETS}/${part}.js" text)
  string(APPEND script "${text}\n")
endforeach()
if(script MATCHES "</[sS][cC]|<!--")
  message(FATAL_ERROR "the page's script would end the script element that holds it")
endif()
file(READ "${ASSETS}/page.css" style)
file(READ "${ASSETS}/page.html" page)
string(REPLACE "{{style}}" "${style}" page "${page}")
string(REPLACE "{{script}}" "${script}" page "${page}")
file(READ "${ASSETS}/openapi.json" openapi)

set(code "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include \"poise/serve/assets.hpp\"\n\nnamespace poise::serve::assets {\n\n")
string(APPEND code "const std::string_view page_html = R\"~~~~(${page})~~~~\";\n\n")
string(APPEND code "const std::string_view openapi_json = R\"~~~~(${openapi})~~~~\";\n\n")
file(WRITE "${OUTPUT}" "${code}}  // namespace poise::serve::assets\n")
