/*
 * src/packed/join.h - layers of entries, laid over one another: the newest one that speaks of a number is right.
 * Readers get the numbers that are there. A merge of runs gets what the layers say together: when one layer adds a
 * number and a later one removes it, or the other way round, the two cancel (entries are exact, see packed/packed.h).
 *
 * Ownership. The streams are the caller's, who closes them.
 * Threads. Used by one thread.
 */
#pragma once
#include "packed/stream.h"

struct join_block {
    struct slice value; /* of the term: lives until the next call */
    const uint64_t *number;
    const bool *gone; /* NULL: none is */
    size_t count;     /* 0: the end */
};

struct join {
    struct stream **stream; /* oldest first */
    size_t count;
    bool reverse;
    bool nets; /* for a merge: marks, and not just what is there */

    bool in_term;
    struct stream **member; /* those that stand at the term, oldest first */
    size_t member_count, member_capacity;
    char *value; /* the term's, which the streams may leave behind */
    size_t value_bytes, value_capacity;
    struct marks out;
};

void join_init(struct join *join, bool reverse, bool nets);
void join_free(struct join *join);

/* The layers, oldest first, in place of those from before. `join` keeps the array. */
void join_lay(struct join *join, struct stream **stream, size_t count);

enum status join_next(struct op *op, struct join *join, struct join_block *block);
enum status join_seek(struct op *op, struct join *join, struct slice value, uint64_t number);
