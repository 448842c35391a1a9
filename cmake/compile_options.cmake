# Flags for Poise's own translation units; users of the installed library do not get them.
add_library(poise_compile_options INTERFACE)
target_compile_options(poise_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies in std::string's own code (GCC bug 105651).
  target_compile_options(poise_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # At low optimization levels a loop marked for vectorization stays scalar, which is harmless.
  target_compile_options(poise_compile_options INTERFACE -Wno-pass-failed)
endif()
if(POISE_WERROR)
  target_compile_options(poise_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(POISE_SANITIZE)
  # Global, so that tests, program and library agree.
  add_compile_options(-fsanitize=${POISE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${POISE_SANITIZE})
  if(POISE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    if(POISE_SANITIZE MATCHES "address")
      # Checks of every pointer are a fifth of the time to compile; what they would find ends the program under AddressSanitizer too.
      add_compile_options(-fno-sanitize=null,object-size,vptr)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Functions with many accesses call AddressSanitizer's checks instead of repeating them inline: the same checks, a fifth less
        # to compile in the library.
        add_compile_options(--param=asan-instrumentation-with-call-threshold=30)
      endif()
    endif()
  endif()
endif()
