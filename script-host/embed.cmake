# script-host/embed.cmake - writes a file's bytes as a C array that ends with a NUL.
# usage: cmake -DFROM=prelude.js -DTO=prelude.h -DNAME=prelude_text -P embed.cmake
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
get_filename_component(from ${FROM} NAME)
file(WRITE ${TO} "/* Made from ${from} by script-host/embed.cmake. */\n#pragma once\n\nstatic const unsigned char ${NAME}[] = {\n${bytes}\n0x00\n};\n")
