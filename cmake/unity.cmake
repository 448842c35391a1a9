# Each folder of the library as one translation unit: headers are parsed, and templates instantiated, once for all of its files.
set_target_properties(poise PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
# Files whose own names are also those of a neighbour stay alone; what writes formats calls the same things
# by the same names.
set(alone backend/cpu/sampled backend/cpu/spmm backend/cpu/spmm_kernels data/dataset_codec data/log/record data/synth/synthesize
          evaluate/evaluate io/model_file io/spectrum_cache model/full_rank model/full_rank_fit model/keep_top model/left_factor
          model/popularity model/wmf_fit solver/pcg solver/row_entries solver/shared_system solver/weighted_errors)
foreach(source ${poise_sources})
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src/poise OUTPUT_VARIABLE name)
  cmake_path(REMOVE_EXTENSION name)
  cmake_path(GET name PARENT_PATH folder)
  if(name IN_LIST alone OR name MATCHES "^report/|^study/.*_(json|csv)$")
    continue()  # without a group
  endif()
  string(REPLACE "/" "_" group ${folder})
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
endforeach()
