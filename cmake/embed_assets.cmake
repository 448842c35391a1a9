# cmake -DASSETS=... -DVEGA=... -DLICENCE=... -DOUTPUT=... -P embed_assets.cmake
#
# Writes a C++ file with the page's assets as raw strings: small and fast to compile.
set(modules util time format loader dataflow scale canvas scenegraph statistics expression selections event-selector
    functions runtime parser view transforms view-transforms encode interpreter)

function(append_string variable name text)
  set(${variable} "${${variable}}const std::string_view ${name} = R\"~~~~(${text})~~~~\";\n\n" PARENT_SCOPE)
endfunction()

set(vega "const module_texts = {};\n")
foreach(module ${modules})
  set(file ${module})
  if(module STREQUAL "selections")
    set(file selection)  # the package's name of the file
  endif()
  file(READ "${VEGA}/vega-${file}.min.js" text)
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" text "${text}")
  string(APPEND vega "module_texts['vega-${module}'] = function (exports, module, require) {\n${text}\n};\n")
endforeach()
file(READ "${ASSETS}/vega_loader.js" text)
string(APPEND vega "${text}")
if(vega MATCHES "</[sS][cC]|<!--")
  message(FATAL_ERROR "Vega's text would end the script element that holds it")
endif()

set(code "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include \"poise/report/assets.hpp\"\n\nnamespace poise::report::assets {\n\n")
file(READ "${ASSETS}/page.css" text)
append_string(code page_css "${text}")
# The parts share the scope of one function.
set(script "'use strict';\n(() => {\n")
foreach(part page_plots page)
  file(READ "${ASSETS}/${part}.js" text)
  string(APPEND script "${text}")
endforeach()
append_string(code page_js "${script}})();\n")
append_string(code vega_js "${vega}")
file(READ "${LICENCE}" text)
append_string(code vega_licence "${text}")
file(WRITE "${OUTPUT}" "${code}}  // namespace poise::report::assets\n")
