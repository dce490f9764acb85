/*
 * src/query/eval/groups.h - rows gathered by a key: GROUP BY, aggregates over all rows, DISTINCT.
 * A group is named by the hash of its key. A page needs only the groups with the least hashes above the last page's,
 * so no more are kept, and the page bounds the memory, whatever the data.
 */
#pragma once
#include "query/eval/aggregate.h"

struct group {
    _Alignas(struct aggregate) struct hash128 hash; /* its states lie behind it */
    uint64_t counter; /* when its first item was made: what small answers are sorted by */
    uint32_t index;   /* which of that item's rows */
    struct value *key;
    struct aggregate *state;
    struct slice row;    /* DISTINCT: the row as it will be sent */
    struct value *order; /* what it is sorted by, where groups come by value */
};

struct groups {
    struct arena *memory;
    size_t key_count, state_count;
    size_t keep; /* how many are wanted at most; 0: all */
    bool has_after, has_bound, failed;
    struct hash128 after; /* wanted are those above this */
    struct hash128 bound; /* and not above this, once there were too many */
    struct group **list;  /* in order of appearance, until groups_sort() */
    size_t count, capacity;
    uint32_t *table; /* 1 + the place in the list; 0 is empty */
    size_t table_size;
};

/* For the select's GROUP BY and aggregates: without GROUP BY there is one group, even over no rows. */
void groups_init(struct eval *eval, struct groups *groups, const struct select *select, struct arena *memory);

/* The group of that hash. NULL when it is not wanted, or past the memory's limit (`failed`). */
struct group *groups_at(struct groups *groups, struct hash128 hash, bool *is_new);

void groups_sort(struct groups *groups); /* by hash, and cut to what is wanted */
int hash_compare(struct hash128 a, struct hash128 b);

/* Adds the row in the slots, so many times, to its group, by the select's GROUP BY and aggregates. */
void groups_add(struct eval *eval, struct groups *groups, const struct select *select, uint64_t counter,
                uint32_t index, uint64_t times);

/* Puts the group's key and results where its select list finds them. */
void groups_show(struct eval *eval, const struct group *group, const struct select *select);
