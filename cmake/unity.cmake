# Each folder of the library as one translation unit: headers are parsed, and templates instantiated, once for all of its files.
set_target_properties(poise PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
foreach(source ${poise_sources})
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src/poise)
  string(REPLACE "/" "_" group ${folder})
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
endforeach()
