/*
 * src/base/banned.h - functions nobody needs, and builds without assertions, turned into compile errors.
 * The compiler includes this before every file of ours (CMakeLists.txt).
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef NDEBUG
#error "assertions stay on in every kind of build: CMakeLists.txt"
#endif

#define BANNED(function) banned_##function##_see_src_base_banned_h()

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef strtok
#define strcpy(to, from) BANNED(strcpy) /* a copy knows its size: memcpy, snprintf */
#define strcat(to, from) BANNED(strcat)
#define strncpy(to, from, size) BANNED(strncpy)
#define strncat(to, from, size) BANNED(strncat)
#define strtok(text, separators) BANNED(strtok)
#define sprintf(...) BANNED(sprintf)
#define vsprintf(to, fmt, args) BANNED(vsprintf)
#define gets(to) BANNED(gets)
#define atoi(text) BANNED(atoi) /* cannot tell an error from 0: slice_to_i64 */
#define atol(text) BANNED(atol)
#define rand() BANNED(rand) /* randomness comes from struct env */
#define random() BANNED(random)
#define time(at) BANNED(time) /* and so does time */
#define gmtime(at) BANNED(gmtime)
#define localtime(at) BANNED(localtime)
