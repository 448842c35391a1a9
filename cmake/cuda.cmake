# The GPU backend: src/poise/backend/cuda/*.cu, with the CUDA toolkit's own cuBLAS, cuSOLVER and cuSPARSE.
option(POISE_CUDA "Build the CUDA backend (needs nvcc)" OFF)
set(POISE_CUDA_ARCHITECTURES "90" CACHE STRING "GPU architectures to build for, e.g. 80;90")
if(NOT POISE_CUDA)
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER)
  find_program(POISE_NVCC nvcc PATHS /usr/local/cuda/bin DOC "CUDA's compiler")
  if(NOT POISE_NVCC)
    message(FATAL_ERROR "POISE_CUDA is on, but nvcc was not found: install the CUDA toolkit, or set CMAKE_CUDA_COMPILER.")
  endif()
  set(CMAKE_CUDA_COMPILER ${POISE_NVCC})
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER AND CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
set(CMAKE_CUDA_ARCHITECTURES ${POISE_CUDA_ARCHITECTURES})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

# Objects of their own, so that they can be compiled, as a check, without all the rest.
file(GLOB poise_cuda_sources CONFIGURE_DEPENDS src/poise/backend/cuda/*.cu)
if(poise_cuda_sources)
  add_library(poise_cuda OBJECT ${poise_cuda_sources})
  # CMake drops CMAKE_CUDA_STANDARD 20 for compilers newer than itself. Host warnings that nvcc's own generated code
  # would raise stay off, and so does one (554) about a view of const that converts to itself.
  target_compile_options(poise_cuda PRIVATE -std=c++20 --expt-relaxed-constexpr --extended-lambda -lineinfo -Xcompiler=-Wall
                                            -diag-suppress=554)
  # What fmt would find out by itself for g++, but not for g++ behind nvcc.
  target_compile_definitions(poise_cuda PRIVATE POISE_CUDA FMT_USE_CONSTEXPR=1)
  target_include_directories(poise_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(poise_cuda PRIVATE fmt::fmt CUDA::cublas CUDA::cusolver CUDA::cusparse)
  set_target_properties(poise_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(poise PRIVATE $<TARGET_OBJECTS:poise_cuda>)
endif()
target_compile_definitions(poise PUBLIC POISE_CUDA)
# A static library passes them on for linking alone; poiseConfig.cmake finds them again.
target_link_libraries(poise PRIVATE CUDA::cudart_static CUDA::cublas CUDA::cusolver CUDA::cusparse)
