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
set(CMAKE_CUDA_ARCHITECTURES ${POISE_CUDA_ARCHITECTURES})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
file(GLOB poise_cuda_sources CONFIGURE_DEPENDS src/poise/backend/cuda/*.cu)
target_sources(poise PRIVATE ${poise_cuda_sources})
# CMake drops CMAKE_CUDA_STANDARD 20 for compilers newer than itself. Host warnings that nvcc's own generated code
# would raise stay off.
set_source_files_properties(${poise_cuda_sources} PROPERTIES COMPILE_OPTIONS
                            "-std=c++20;--expt-relaxed-constexpr;-Xcompiler=-Wall;-lineinfo")
target_compile_definitions(poise PUBLIC POISE_CUDA)
target_link_libraries(poise PRIVATE CUDA::cudart_static CUDA::cublas CUDA::cusolver)
