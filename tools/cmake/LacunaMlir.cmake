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

# The distribution links every MLIR archive against libLLVM.so. For one static program the archives must
# name LLVM's components instead, or two copies of LLVM meet in one process.
if(NOT LACUNA_USE_DYLIB)
  get_property(mlirLibs GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(components LLVMCore LLVMSupport LLVMBinaryFormat LLVMIRReader LLVMAsmParser LLVMBitReader LLVMBitWriter
      LLVMTargetParser LLVMRemarks LLVMTransformUtils LLVMFrontendOpenMP LLVMLinker LLVMTarget LLVMMC LLVMObject
      LLVMOrcJIT LLVMPasses LLVMipo LLVMAnalysis LLVMJITLink LLVMExecutionEngine)
  foreach(lib ${mlirLibs})
    if(TARGET ${lib})
      get_target_property(type ${lib} TYPE)
      get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
      if(type STREQUAL "STATIC_LIBRARY" AND links)
        list(FIND links LLVM hasLlvm)
        list(REMOVE_ITEM links LLVM MLIR)
        if(NOT hasLlvm EQUAL -1)
          list(APPEND links ${components})
        endif()
        if(lib STREQUAL "MLIRExecutionEngine")
          list(APPEND links MLIRExecutionEngineUtils MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation
               MLIRTargetLLVMIRExport MLIRLLVMDialect MLIRIR)
        endif()
        set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
      endif()
    endif()
  endforeach()
  find_library(LACUNA_ZLIB libz.a REQUIRED)
  find_library(LACUNA_ZSTD libzstd.a REQUIRED)
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
    "rt;dl;m;${LACUNA_ZLIB};${LACUNA_ZSTD};LLVMDemangle")
endif()

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
