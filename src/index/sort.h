/*
 * src/index/sort.h - the terms of one document, gathered as they come, then sorted, each once.
 *     to = terms_begin(&terms, path, most); terms_end(&terms, bytes written at `to`);
 *
 * Running out of the arena's limit is noted, not told: look at `failed` after terms_sort().
 *
 * Ownership. Everything lies in the arena.
 */
#pragma once
#include "base/arena.h"
#include "index/term.h"

/* Memory given out in small pieces, without the arena's price for each. */
struct area {
    struct arena *arena;
    uint8_t *at;
    size_t left;
};

void area_init(struct area *area, struct arena *arena);
uint8_t *area_room(struct area *area, size_t bytes); /* NULL past the arena's limit */

static inline void area_use(struct area *area, size_t bytes)
{
    area->at += bytes;
    area->left -= bytes;
}

/* A term. Most comparisons end at the path, which is why it stands here. */
struct found {
    path_id path;
    const struct found_bytes *bytes;
};

struct found_bytes {
    uint16_t size; /* of the term, its path included */
    uint16_t date; /* where in its value a time is to be filled in, plus one; 0: nowhere */
    uint8_t term[];
};

struct terms {
    struct arena *arena;
    struct found *found;
    size_t count, capacity;
    struct area area;
    bool failed;
};

void terms_init(struct terms *terms, struct arena *arena);

/* So many more are likely. */
void terms_expect(struct terms *terms, size_t more);

/* Room for a value of up to so many bytes; NULL when it has failed. */
uint8_t *terms_begin(struct terms *terms, path_id path, size_t bytes_max);
void terms_date(struct terms *terms, size_t offset, bool descending); /* between the two */
void terms_end(struct terms *terms, size_t bytes);

/* By path, then by value; of equal ones the first is left. */
void terms_sort(struct terms *terms);

int found_compare(const struct found *a, const struct found *b);
struct slice found_term(const struct found *found);
bool found_is_dated(const struct found *found, size_t *offset, bool *descending);
