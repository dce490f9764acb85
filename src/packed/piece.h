/*
 * src/packed/piece.h - some of a path's entries in the delta, sorted by value, number and age.
 * A path has a few pieces, oldest first. Each has entries that came one after the other, and is larger than the next.
 * A new piece takes in its neighbour while that is less than three times larger, so each entry is sorted about log n
 * times.
 *
 * Ownership. Counted; a piece never changes and outlives its place in the path, but not the delta.
 * Threads. Anybody's.
 */
#pragma once
#include "packed/delta.h"

enum { PIECE_STRIDE = 64 };

struct piece {
    atomic_uint refs;
    uint32_t count;
    uint32_t dead;       /* entries of the path that were when it was made */
    uint64_t newest_lsn; /* among its entries */
    int32_t *sum;        /* entries added less entries removed, of the first 0, 1, 2... times PIECE_STRIDE */
    uint32_t index[];    /* of entries of the path */
};

/* Sorts what is new of the path, and gives all its pieces, oldest first. The caller releases each. */
size_t piece_list(struct delta_path *path, struct piece *list[PIECES_MAX]);

/* The same on a loop thread: ST_WOULD_BLOCK, and no list, where somebody else is sorting or there is too much to sort. */
enum status piece_list_soon(struct op *op, struct delta_path *path, struct piece *list[PIECES_MAX],
                            size_t *count);

/* All of the path as one; NULL when it has no entries. The caller releases it. */
struct piece *piece_whole(struct delta_path *path);

void piece_release(struct piece *piece); /* NULL is welcome */

/* Of all entries, in order, the first that is not before (value, number); `count` when all are. */
uint32_t piece_find(const struct delta_path *path, const struct piece *piece, struct slice value,
                    uint64_t number);

/* Of those from `low` on, quickly where it is near. */
uint32_t piece_find_behind(const struct delta_path *path, const struct piece *piece, uint32_t low,
                           struct slice value, uint64_t number);

/* Order by value, then number. */
int piece_compare(const struct delta_entry *entry, struct slice value, uint64_t number);
