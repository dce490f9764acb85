/*
 * src/query/run/position.h - where a query goes on: what a continuation holds.
 *     order 1, number 8, index 4, skip 8, take 8, hash 16, then the sort keys
 * A key is a kind byte and, of a number, an int64 or a double; of a string its bytes, cut when they are
 * too many; of an array or object its json_order_hash(). Little-endian.
 */
#pragma once
#include "base/limits.h"
#include "query/query.h"

enum row_order {
    ORDER_NUMBER = 1, /* as the items lie */
    ORDER_CREATION,   /* as they were made: what fits in little memory */
    ORDER_SORTED,     /* ORDER BY */
    ORDER_HASH,       /* groups and distinct rows */
    ORDER_RANKED,     /* ORDER BY RANK: `number` says how many were given */
};

enum { POSITION_KEYS_MAX = QUERY_ORDER_MAX };

struct position {
    enum row_order order;
    uint64_t number;     /* of the last row's item; ORDER_CREATION: its counter */
    uint32_t index;      /* which row of that item, from 1; 0: all of them */
    uint64_t skip;       /* OFFSET: rows still to be passed over */
    uint64_t take;       /* TOP, LIMIT: rows still to be given; UINT64_MAX without */
    struct hash128 hash; /* ORDER_HASH: of the group; ORDER_SORTED: of the keys, whole */
    size_t key_count;
    struct value key[POSITION_KEYS_MAX]; /* parsed ones: an array or object is the bytes of its hash */
    bool cut
        [POSITION_KEYS_MAX]; /* the key's string is not whole: the item itself tells, if it is still there */
    bool any_cut;
};

/* Into at most QUERY_POSITION_BYTES_MAX bytes, in the arena. */
struct slice position_print(struct arena *arena, const struct position *position);

/* Strings point into the bytes. False when they are no position. */
bool position_parse(struct slice bytes, struct position *position);

/* A row's key against the position's. */
int position_compare_key(const struct position *position, size_t i, struct value key);

/* The same of two positions that were parsed, or made by resume.h. */
int position_compare_keys(const struct position *a, const struct position *b, size_t i);

/* Bytes that stand for an array or object in a parsed position. */
enum { POSITION_HASH_BYTES = 16 };

void position_put_hash(struct buf *out, struct hash128 hash);
