/*
 * src/base/reserve.h - memory that is set aside for what cannot be refused.
 * What a client chooses the size of is refused when the machine has no memory for it. What the engine keeps of its own
 * books is not: a key, a lock, a list of a group of commits. For that some memory is taken at the start and left alone.
 * When malloc() fails, a piece of it goes back to the system, and malloc() is asked again. From then on the reserve is
 * broken. Whoever begins something asks reserve_is_whole() and is refused, and what is under way ends at its next
 * op_check() or arena_try_alloc(), so that what is left is enough for those who cannot stop. It ends when all of it
 * could be taken back.
 *
 * Threads. Any thread, at any time. The reserve is the process's, as its memory is.
 *
 * Promises
 * 1. While pieces are left, arena_alloc(), heap_...() and C++'s new do not fail where a piece is enough.
 * 2. A process whose memory comes back works as before.
 */
#pragma once
#include <stdbool.h>

/* Sets it aside, for the first who opens it; the last who closes it gives it back. False: the machine has not so much. */
bool reserve_open(void);
void reserve_close(void);

/* Whether anything may be begun. Takes back what was spent, if that is possible by now. Without a reserve: true. */
bool reserve_is_whole(void);

/* The same, and nothing is tried: for those who are under way. */
bool reserve_is_broken(void);

/* A piece goes back to the system, for an allocation that has failed and is tried again. False: there is none. */
bool reserve_spend(void);
