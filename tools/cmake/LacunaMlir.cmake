# Finds LLVM and MLIR 22, mends the exported targets for a fully static link, and offers the helpers
# that declare dialects and libraries.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Lacuna needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})

include(LacunaStaticMlir)

# One precompiled header for every target that sees MLIR.
add_library(LacunaPch OBJECT ${CMAKE_SOURCE_DIR}/tools/cmake/Pch.cpp)
if(LACUNA_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(LacunaPch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(LacunaPch PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/Pch.h)
endif()
function(lacuna_use_pch target)
  if(LACUNA_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Programs would get -fPIE, which the header (made with -fPIC) does not fit.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(${target} REUSE_FROM LacunaPch)
  endif()
endfunction()

# lacuna_tablegen(<folder's .td> <output> <flags...>): one generated file next to its source's path.
macro(lacuna_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN})
endmacro()

# lacuna_library(<name> SOURCES ... LINK ... [DEPENDS ...]): a static library that sees MLIR.
function(lacuna_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  lacuna_warnings(${name})
  lacuna_use_pch(${name})
endfunction()

# lacuna_tool(<name> SOURCES ... LINK ...): a program in <build>/bin.
function(lacuna_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  if(NOT LACUNA_USE_DYLIB AND NOT LACUNA_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  lacuna_warnings(${name})
  lacuna_use_pch(${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
