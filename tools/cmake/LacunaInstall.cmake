# What `cmake --install` copies, and the package that `find_package(Lacuna)` finds.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(packageFolder ${CMAKE_INSTALL_LIBDIR}/cmake/Lacuna)
# Include lines are spelled from the repository root; headers other than the public ones keep their
# paths below this folder.
set(sourceHeaders ${CMAKE_INSTALL_INCLUDEDIR}/lacuna/source)

set(libraries LacunaLib LacunaRuntime)
set(layers lib runtime)
if(LACUNA_BUILD_COMPILER)
  list(APPEND libraries LacunaDialects LacunaCompiler)
  list(APPEND layers dialects compiler)
endif()
# A program that loads artifacts finds no LLVM and needs none: each component is an export of its own.
set(setOfLacunaLib Lacuna)
set(setOfLacunaRuntime Lacuna)
set(setOfLacunaDialects LacunaCompiler)
set(setOfLacunaCompiler LacunaCompiler)

foreach(library ${libraries})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  else()
    set(scope PUBLIC)
  endif()
  target_include_directories(${library} SYSTEM ${scope}
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${sourceHeaders}>)
  target_compile_features(${library} ${scope} cxx_std_20)
  install(TARGETS ${library} EXPORT ${setOf${library}}Targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
install(EXPORT LacunaTargets NAMESPACE Lacuna:: DESTINATION ${packageFolder})
if(LACUNA_BUILD_COMPILER)
  install(EXPORT LacunaCompilerTargets NAMESPACE Lacuna:: DESTINATION ${packageFolder})
endif()
if(LACUNA_SHARED)
  install(TARGETS lacuna-shared EXPORT LacunaSharedTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT LacunaSharedTargets NAMESPACE Lacuna:: DESTINATION ${packageFolder})
  install(DIRECTORY bindings/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

foreach(layer ${layers})
  if(EXISTS ${CMAKE_SOURCE_DIR}/${layer}/include)
    install(DIRECTORY ${layer}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
  install(DIRECTORY ${layer} DESTINATION ${sourceHeaders}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "include" EXCLUDE)
  if(EXISTS ${CMAKE_BINARY_DIR}/${layer} OR LACUNA_BUILD_COMPILER)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/${layer} DESTINATION ${sourceHeaders}
      FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  endif()
endforeach()

configure_package_config_file(tools/cmake/LacunaConfig.cmake.in ${CMAKE_BINARY_DIR}/LacunaConfig.cmake
  INSTALL_DESTINATION ${packageFolder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/LacunaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/LacunaConfig.cmake ${CMAKE_BINARY_DIR}/LacunaConfigVersion.cmake
  tools/cmake/LacunaStaticMlir.cmake DESTINATION ${packageFolder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/lacuna)
