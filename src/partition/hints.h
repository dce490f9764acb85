/*
 * src/partition/hints.h - where an item probably lies: (container, EPK, id) to number, in memory.
 * A record names its own EPK and id, so a reader that follows a hint sees whether the hint was right. A wrong or
 * stale hint costs a get, and never gives a wrong answer. With a right one a point read is one get instead of two.
 *
 * Threads. Any, without locks.
 */
#pragma once
#include <stdint.h>

struct hints;

struct hints *hints_open(void);
void hints_close(struct hints *hints); /* NULL is welcome */

/* `item` is a hash of container, EPK and id. 0 when there is no hint. */
uint64_t hints_find(const struct hints *hints, uint64_t item);
void hints_put(struct hints *hints, uint64_t item, uint64_t number);
