# Compiler flags, linker, ccache and sanitizers: everything that is the same for all of Lacuna's targets.

set(LACUNA_SANITIZE "" CACHE STRING "sanitizers to build with, as -fsanitize= takes them")

find_program(LACUNA_CCACHE ccache)
if(LACUNA_CCACHE)
  # The precompiled header is keyed by content; the other two allow hits from another checkout.
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LACUNA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# The distribution's default lld is older than the objects it must read: name the one of LLVM 22.
find_program(LACUNA_LLD NAMES ld.lld-22 ld.lld HINTS /usr/lib/llvm-22/bin)
if(LACUNA_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(--ld-path=${LACUNA_LLD})
endif()
add_link_options(-Wl,--gc-sections)
add_compile_options(-ffunction-sections -fdata-sections)

# LLVM is built with RTTI and without exceptions; one set of flags lets every target share one PCH.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

if(LACUNA_SANITIZE)
  add_compile_options(-fsanitize=${LACUNA_SANITIZE} -fno-omit-frame-pointer -g1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # LLVM's headers call through types that these two checks cannot see.
    add_compile_options(-fno-sanitize=vptr,function)
    # Edge counters for test/Fuzz.
    if(LACUNA_SANITIZE MATCHES "address")
      add_compile_options(-fsanitize=fuzzer-no-link)
    endif()
  endif()
  add_link_options(-fsanitize=${LACUNA_SANITIZE})
endif()

# Header assertions (cast<> and friends) stay on: the distribution's LLVM libraries have none of their own.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# Static links of LLVM take memory: one at a time.
set_property(GLOBAL PROPERTY JOB_POOLS lacuna_link=1)
set(CMAKE_JOB_POOL_LINK lacuna_link)

# Warnings for our own code only; foreign headers are included as SYSTEM.
function(lacuna_warnings target)
  # Generated interface code has parameters that it does not use.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -Werror=switch
    $<$<BOOL:${LACUNA_WERROR}>:-Werror>
    # g++ 12 sees overlapping copies in any string that is built with operator+.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endfunction()
