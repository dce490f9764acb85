/* src/packed/piece_stream.h - a piece of the delta as a layer: what a reader of an LSN sees of it, between two values. */
#pragma once
#include "packed/piece.h"
#include "packed/stream.h"

struct piece_stream {
    struct stream stream; /* first, so that one is the other */
    const struct delta_path *path;
    struct piece *piece;
    uint64_t lsn;
    uint32_t at, end; /* in the walk's order */
};

struct value_range {
    struct slice from, to; /* [from, to); `to` without data: the end of the path */
};

/* Takes the piece over. */
void piece_stream_open(struct piece_stream *stream, const struct delta_path *path, struct piece *piece,
                       const struct value_range *range, struct bounds bounds, uint64_t lsn);

/* Adds less removes that the LSN sees in the range. Sums are those of a reader who sees all; others count one by one. */
enum status piece_count(struct op *op, const struct delta_path *path, const struct piece *piece,
                        const struct value_range *range, uint64_t lsn, int64_t *count);
