# Mends the exported targets of MLIR for a fully static link; installed for consumers too.

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
