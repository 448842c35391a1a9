# cmake -DASSETS=... -DOUTPUT=... -P embed_serve_assets.cmake
#
# Writes a C++ file with the server's page and OpenAPI document as raw strings.
set(code "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include \"poise/serve/assets.hpp\"\n\nnamespace poise::serve::assets {\n\n")
foreach(asset page.html openapi.json)
  file(READ "${ASSETS}/${asset}" text)
  string(REPLACE "." "_" name "${asset}")
  string(APPEND code "const std::string_view ${name} = R\"~~~~(${text})~~~~\";\n\n")
endforeach()
file(WRITE "${OUTPUT}" "${code}}  // namespace poise::serve::assets\n")
