/* src/vector/column_private.h - what a column is made of, for column.c, search.c and graph.c only. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "vector/column.h"

enum { CHUNK_VECTORS = 4096, EDGES_MAX = 32 };

#define NOWHERE UINT32_MAX /* no place */

/* Vectors that never move. */
struct vector_chunk {
    int8_t *code;
    struct vector_measure measure[CHUNK_VECTORS];
    uint64_t number[CHUNK_VECTORS];
    bool gone[CHUNK_VECTORS];
    _Atomic uint32_t *edge; /* EDGES_MAX of each, the last ones NOWHERE; NULL: the column has no graph */
};

/* Places of numbers that do not lie in order. */
struct vector_places {
    struct {
        uint64_t number; /* 0: free */
        uint32_t at;
    } * slot;
    size_t count, capacity; /* a power of two */
};

struct vector_column {
    struct vector_key key;
    size_t code_bytes;
    const struct vector_form *form;
    pthread_rwlock_t lock; /* guards what follows, but for what is atomic */
    struct claim claim;
    uint64_t lsn, known_from;
    struct vector_chunk **chunk;
    size_t chunk_capacity;
    size_t count, sorted_count,
        gone_count;              /* places; those whose numbers rise from the first; that are empty */
    struct vector_places places; /* of those behind */
    uint64_t *odd;               /* rising */
    size_t odd_count, odd_capacity;
    bool too_odd;
    struct vector_change *change;
    size_t change_count, change_capacity;

    /* Of the one who builds graphs; others read. */
    atomic_size_t built;      /* places up to here are in the graph */
    atomic_size_t measured;   /* how much had changed when recall was found to be good; 0: it was not */
    atomic_uint recall;       /* percent */
    atomic_uint list_percent; /* how long the walk's list is, of what is asked for */
    atomic_bool is_lost;      /* the walk does not find what it should */
    atomic_size_t placed, live,
        bytes; /* as `count`, less what is gone, and what it takes: for those without a lock */
    size_t samples, samples_asked, samples_found; /* the builder's own */

    /* columns.c's own, guarded by its lock. */
    int state;
    bool wants_building;
    unsigned users;
    uint64_t used_at;
    struct vector_column *next, *next_of_all;
    struct vector_shelf *shelf;
};

static inline struct vector_chunk *chunk_of(const struct vector_column *column, size_t at)
{
    return column->chunk[at / CHUNK_VECTORS];
}

static inline const int8_t *code_at(const struct vector_column *column, size_t at)
{
    return chunk_of(column, at)->code + at % CHUNK_VECTORS * column->code_bytes;
}

static inline const struct vector_measure *measure_at(const struct vector_column *column, size_t at)
{
    return &chunk_of(column, at)->measure[at % CHUNK_VECTORS];
}

static inline uint64_t number_at(const struct vector_column *column, size_t at)
{
    return chunk_of(column, at)->number[at % CHUNK_VECTORS];
}

static inline bool is_gone(const struct vector_column *column, size_t at)
{
    return chunk_of(column, at)->gone[at % CHUNK_VECTORS];
}

/* The place of a number; SIZE_MAX: it has none. */
size_t column_find(const struct vector_column *column, uint64_t number);

/* The first place among those in order whose number is not less. */
size_t column_lower(const struct vector_column *column, uint64_t number);

/* Whether its graph can be built further, or is to be measured. Any thread. */
bool column_wants_building(const struct vector_column *column);

/* Whether it may be a candidate. */
bool search_wants(const struct vector_column *column, const struct vector_search *search, size_t at);

/* Puts a candidate among the best, which lie as a heap with the worst on top. */
void search_offer(struct vector_search *search, struct vector_candidate candidate);
void search_sort(struct vector_search *search);

/* Places [from, to), added to what the search has so far. */
void search_range(const struct vector_column *column, struct vector_search *search, size_t from, size_t to);

static inline bool is_better(struct vector_candidate a, struct vector_candidate b)
{
    return a.score != b.score ? a.score > b.score : a.number < b.number;
}
