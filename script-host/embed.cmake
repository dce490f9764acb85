# script-host/embed.cmake - writes files' bytes, one after the other between two texts, as a C array that ends with a NUL.
# usage: cmake "-DFROM=a.js;b.js" -DBEFORE=text -DAFTER=text -DTO=prelude.h -DNAME=prelude_text -P embed.cmake
string(HEX "${BEFORE}\n" bytes)
foreach(file IN LISTS FROM)
  file(READ ${file} more HEX)
  string(APPEND bytes ${more})
endforeach()
string(HEX "${AFTER}" more)
string(APPEND bytes ${more})
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "/* Made by script-host/embed.cmake. */\n#pragma once\n\nstatic const unsigned char ${NAME}[] = {\n${bytes}\n0x00\n};\n")
