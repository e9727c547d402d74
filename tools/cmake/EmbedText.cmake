# Writes a C++ source that holds text files as raw string literals:
#   cmake -DOUTPUT=file.cpp "-DFILES=name=path;..." -P EmbedText.cmake
set(text "// Generated from the device library.\n#include \"lib/Device/DeviceLibrary.h\"\n\n")
foreach(pair ${FILES})
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 path)
  file(READ ${path} content)
  # A raw literal may be limited to 64 KiB; the files are far smaller, but say so if that changes.
  string(LENGTH "${content}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${path} is too long for one literal")
  endif()
  string(APPEND text "std::string_view lacuna::${name}() {\n  return R\"lacuna(${content})lacuna\";\n}\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
