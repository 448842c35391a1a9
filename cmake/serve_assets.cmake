# Adds the explorer page and the OpenAPI document to the layer serve.
set(serve_assets_cpp "${PROJECT_BINARY_DIR}/serve_assets.cpp")
set(serve_assets_folder "${PROJECT_SOURCE_DIR}/src/poise/serve/assets")
file(GLOB serve_assets CONFIGURE_DEPENDS src/poise/serve/assets/*)
add_custom_command(OUTPUT ${serve_assets_cpp}
                   COMMAND ${CMAKE_COMMAND} -DASSETS=${serve_assets_folder} -DOUTPUT=${serve_assets_cpp}
                           -P ${PROJECT_SOURCE_DIR}/cmake/embed_serve_assets.cmake
                   DEPENDS ${serve_assets} cmake/embed_serve_assets.cmake
                   COMMENT "Embedding the server's page" VERBATIM)
target_sources(poise_serve PRIVATE ${serve_assets_cpp})
