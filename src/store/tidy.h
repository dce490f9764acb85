/*
 * src/store/tidy.h - a thread that goes over ranges of keys whose content was removed, one after another.
 * The backend brings the work that gives a range's space back. It may take seconds, and nobody waits for it.
 *
 * Threads. tidy_add() from any. The work runs in a thread of its own, which ends when nothing is left.
 */
#pragma once
#include "base/slice.h"

struct tidy;

typedef void tidy_work(void *context, struct slice from, struct slice to);

struct tidy *tidy_open(tidy_work *work, void *context);

/* Copies the keys. */
void tidy_add(struct tidy *tidy, struct slice from, struct slice to);

/* Waits for the range at hand and forgets the others. The caller makes sure beforehand that the work ends soon. */
void tidy_close(struct tidy *tidy);
