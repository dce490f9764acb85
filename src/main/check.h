/* src/main/check.h - verifying a data directory or a database: every value, and what must agree with what. */
#pragma once
#include "store/store.h"

/* Prints what it finds; 0 when all is well, 1 when not. Changes nothing. A path, or how to connect (main/place.h). */
int check(const char *where);

/* The same of a store that is open for reading only, and belongs to the caller. */
enum status check_store(struct op *op, struct store *store, uint64_t *items, uint64_t *problems);
