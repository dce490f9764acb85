/*
 * src/main/place.h - where a store is, for commands that work on one without a server: a data directory, or a database.
 *
 * Ownership. The caller owns it from place_open() to place_close(). Its paths lie in the op's arena.
 */
#pragma once
#include "main/directory.h"
#include "store/store.h"

enum place_use {
    PLACE_READ,  /* changes nothing. A directory must not be in use; a database may be */
    PLACE_LOAD,  /* rows are put into it (store/transfer.h); it is made when it is missing */
    PLACE_INDEX, /* its entries are restored (store/entries.h) */
};

struct place {
    const char *where;
    bool is_database;
    struct directory directory; /* locked, unless it is a database */
    struct store *store;
};

enum status place_open(struct op *op, const char *where, enum place_use use, struct place *place);

/* The same place for another use; it stays locked meanwhile. */
enum status place_reopen(struct op *op, struct place *place, enum place_use use);
void place_close(struct place *place); /* welcome on one that never opened (all zero, and no lock) */
