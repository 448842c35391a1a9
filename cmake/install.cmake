include(CMakePackageConfigHelpers)

install(TARGETS poise EXPORT poiseTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(POISE_SHARED)
  install(TARGETS poise_shared EXPORT poiseTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/poise TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(EXPORT poiseTargets NAMESPACE poise:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/poise)
configure_package_config_file(cmake/poiseConfig.cmake.in poiseConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/poise)
write_basic_package_version_file(poiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/poiseConfig.cmake ${PROJECT_BINARY_DIR}/poiseConfigVersion.cmake
              cmake/dependencies.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/poise)

# For compilers that are not run by CMake. With --static it names what a static library needs besides.
set(poise_static_libraries "-fopenmp -lopenblas -llapacke -lz -lzstd -lsqlite3 -lxxhash -ldl -lpthread -lstdc++")
configure_file(cmake/poise.pc.in poise.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/poise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
