/* embedded/place.h - where the program that runs scripts was installed, seen from the library. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The path that was given, or else what lies in bin/ or libexec/ beside the library's lib/. False: nowhere. */
bool place_script_program(const char *given, char *path, size_t size);
