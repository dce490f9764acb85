/*
 * test/client/failing_alloc.h - memory that runs out on demand: the n-th allocation of the library fails.
 * The linker sends malloc, calloc and realloc of this program here (CMakeLists.txt); a shared library's own are not.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* From now on the n-th fails, counted from 1; 0: none. */
void failing_alloc_at(size_t number);

/* Whether it came to that. */
bool failing_alloc_happened(void);

/* Counts an allocation of another kind; whether it is the one that fails. */
bool failing_alloc_refuses(void);

/* Allocations of the test's own between the two are neither counted nor refused. They nest. */
void failing_alloc_pause(void);
void failing_alloc_go_on(void);
