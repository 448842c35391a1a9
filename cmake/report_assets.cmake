# Adds the page's style, script and plotting library to the layer report.
find_path(POISE_VEGA vega-parser.min.js PATHS /usr/share/javascript/vega DOC "Folder with Vega's modules")
find_file(POISE_VEGA_LICENCE copyright PATHS /usr/share/doc/libjs-vega NO_DEFAULT_PATH DOC "Vega's licence")
if(NOT POISE_VEGA OR NOT POISE_VEGA_LICENCE)
  message(FATAL_ERROR "Vega was not found, which draws the plots of report.html. Install the package libjs-vega "
                      "(scripts/install-packages.sh build), or set POISE_VEGA to the folder with vega-parser.min.js and "
                      "POISE_VEGA_LICENCE to its licence file.")
endif()
set(report_assets_cpp "${PROJECT_BINARY_DIR}/report_assets.cpp")
file(GLOB report_assets CONFIGURE_DEPENDS src/poise/report/assets/*)
add_custom_command(OUTPUT ${report_assets_cpp}
                   COMMAND ${CMAKE_COMMAND} -DASSETS=${PROJECT_SOURCE_DIR}/src/poise/report/assets -DVEGA=${POISE_VEGA}
                           -DLICENCE=${POISE_VEGA_LICENCE} -DOUTPUT=${report_assets_cpp}
                           -P ${PROJECT_SOURCE_DIR}/cmake/embed_assets.cmake
                   DEPENDS ${report_assets} cmake/embed_assets.cmake ${POISE_VEGA}/vega-parser.min.js
                   COMMENT "Embedding the report's assets" VERBATIM)
target_sources(poise_report PRIVATE ${report_assets_cpp})
