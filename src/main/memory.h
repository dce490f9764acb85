/*
 * src/main/memory.h - how much memory the process may have, and how much of that the store has from the start.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* What the process has now. */
struct memory_use {
    uint64_t resident_bytes; /* of all kinds; 0: the system does not tell */
    uint64_t own_bytes;      /* of these, what no file stands behind */
    uint64_t heap_bytes;     /* that somebody has from the allocator; 0: the allocator does not tell */
};

void memory_use(struct memory_use *use);

/*
 * The allocator keeps what it is given back between pieces that are still held, and it is the larger part after an
 * hour of large answers. Called now and then, by one thread, it returns such pages to the system when there are many.
 * `due_ms` is the caller's to keep, 0 at first; `now_ms` never falls.
 */
void memory_give_back(int64_t now_ms, int64_t *due_ms);

/* Whether so much is kept for nobody that it is worth to look for it. */
bool memory_is_spare(const struct memory_use *use);
