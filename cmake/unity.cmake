# Each folder of the library as one translation unit: headers are parsed, and templates instantiated, once for all of its files.
set_target_properties(poise PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
foreach(source ${poise_sources})
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE group)
  string(REPLACE "/" "_" group ${group})
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
endforeach()
# Files whose own names are also those of a neighbour stay alone.
set(alone backend/cpu/sampled backend/cpu/spmm backend/cpu/spmm_kernels data/dataset_codec data/log/record data/synth/synthesize
          evaluate/evaluate io/model_file io/spectrum_cache model/full_rank model/full_rank_fit model/keep_top model/left_factor
          model/popularity model/wmf_fit report/latex report/markdown solver/pcg solver/row_entries solver/shared_system solver/weighted_errors
          study/results_json)
foreach(name ${alone})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/poise/${name}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
