# The GPU backend: src/poise/backend/cuda/*.cu, with the CUDA toolkit's own cuBLAS and cuSOLVER.
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

# Older CMakes do not know that newer compilers support C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
# Separate objects, so that a check can compile them without the rest.
file(GLOB poise_cuda_sources CONFIGURE_DEPENDS src/poise/backend/cuda/*.cu)
add_library(poise_cuda OBJECT ${poise_cuda_sources})
set_target_properties(poise_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_STANDARD 20)
# fmt 9 has to be told that nvcc supports constexpr; warning 554: a view of constants converts to itself implicitly.
target_compile_options(poise_cuda PRIVATE --expt-relaxed-constexpr -lineinfo -diag-suppress=554 -Xcompiler=-Wall)
target_compile_definitions(poise_cuda PRIVATE POISE_CUDA FMT_USE_CONSTEXPR=1)
target_include_directories(poise_cuda PRIVATE include src $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>
                                              ${CUDAToolkit_INCLUDE_DIRS})
target_sources(poise PRIVATE $<TARGET_OBJECTS:poise_cuda>)
# The files that differ in a build without CUDA.
set_source_files_properties(src/poise/backend/cuda/not_built.cpp src/poise/backend/choose.cpp
                            PROPERTIES COMPILE_DEFINITIONS POISE_CUDA)
# A static library passes them on for linking only; poiseConfig.cmake finds them again.
target_link_libraries(poise PRIVATE CUDA::cudart_static CUDA::cublas CUDA::cusolver)
