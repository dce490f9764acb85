/*
 * src/main/memory.h - how much memory the process may have, and how much of that the store has from the start.
 */
#pragma once
#include <stddef.h>

#include "main/settings.h"

enum { MEMORY_MB_MIN = 256 };

/* Of the machine, of the control group and of the resource limits, whichever is least. */
size_t memory_available_mb(void);

/* Fills in --memory and --cache-mb where they were not given. NULL, or why what was given does not do. */
const char *memory_settle(struct settings *settings, size_t available_mb);

/*
 * Called once, before there are threads: has the allocator and the threads reserve little more than they use, so that
 * what the process has is near to what the account knows of.
 */
void memory_spare(void);

/* What the store takes with a cache of that size, whatever clients do, and the program itself. */
size_t memory_fixed_bytes(long cache_mb);
