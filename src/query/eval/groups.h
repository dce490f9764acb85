/*
 * src/query/eval/groups.h - rows gathered by a key: GROUP BY, aggregates over all rows, DISTINCT.
 * A group is named by the hash of its key. A page needs only the least groups behind the last page's, by their hashes
 * or by values of their keys. So no more are kept, and the page bounds the memory, whatever the data.
 */
#pragma once
#include "query/eval/aggregate.h"
#include "query/eval/known.h"

struct group {
    _Alignas(struct aggregate) struct hash128 hash; /* its states lie behind it */
    uint64_t counter; /* when its first item was made: what small answers are sorted by */
    uint32_t index;   /* which of that item's rows */
    struct value *key;
    char *room; /* which the key's values lie in */
    size_t room_bytes;
    struct aggregate *state;
    struct slice row;    /* DISTINCT: the row as it will be sent */
    struct value *order; /* what it is sorted by, where groups come by value */
};

/* One of a group's keys, by which groups are ordered. */
struct group_order {
    size_t key;
    bool descending;
};

struct groups {
    struct arena *memory;
    size_t key_count, state_count;
    size_t keep;                /* how many are wanted at most; 0: all */
    struct known_hashes *known; /* of parts of keys: set before the first of many rows; NULL: each is made */
    bool has_after, has_bound, failed;
    struct hash128 after; /* wanted are those above this */

    /* By values rather than by hashes, which then decide among equal ones: set before the first row. */
    const struct group_order *order;
    size_t order_count;
    bool (*was_given)(void *context, const struct value *key, struct hash128 hash); /* NULL: none was */
    void *context;

    struct group *
        *list; /* in order of appearance, until groups_sort(); the last that is wanted, once has_bound */
    size_t count, capacity;
    size_t spare;        /* behind those: groups that are no longer wanted, whose memory others take */
    struct group *bound; /* nothing behind it is wanted, once there were too many */
    uint32_t *table;     /* 1 + the place in the list; 0 is empty */
    size_t table_size;
};

/* For the select's GROUP BY and aggregates: without GROUP BY there is one group, even over no rows. */
void groups_init(struct eval *eval, struct groups *groups, const struct select *select, struct arena *memory);

/* The group of that hash. NULL when it is not wanted, or past the memory's limit (`failed`). */
struct group *groups_at(struct groups *groups, struct hash128 hash, bool *is_new);

void groups_sort(struct groups *groups); /* by hash or by `order`, and cut to what is wanted */
int hash_compare(struct hash128 a, struct hash128 b);

/* Adds the row in the slots, so many times, to its group, by the select's GROUP BY and aggregates. */
void groups_add(struct eval *eval, struct groups *groups, const struct select *select, uint64_t counter,
                uint32_t index, uint64_t times);

/* Puts the group's key and results where its select list finds them. */
void groups_show(struct eval *eval, const struct group *group, const struct select *select);
