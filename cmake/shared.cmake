# The shared library, of the same objects as the static one. Before version 1.0 a MINOR version may change the C++ interface, and so both
# numbers are in the soname: libpoise.so.0.2. The program and the Python module use private headers and contain the static library instead.
if(NOT POISE_SHARED)
  return()
endif()
add_library(poise_shared SHARED $<TARGET_PROPERTY:poise,SOURCES>)
set_target_properties(poise_shared PROPERTIES OUTPUT_NAME poise EXPORT_NAME shared VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE CXX)
target_include_directories(poise_shared PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(poise_shared PUBLIC cxx_std_20)
target_link_libraries(poise_shared PUBLIC fmt::fmt PRIVATE $<TARGET_PROPERTY:poise,LINK_LIBRARIES>)
target_link_options(poise_shared PRIVATE -Wl,--as-needed -Wl,--no-undefined)
