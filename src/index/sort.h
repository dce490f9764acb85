/*
 * src/index/sort.h - the terms of one document, gathered as they come, then sorted, each once.
 *     terms_init(&terms, limit);
 *     to = terms_begin(&terms, path, most); terms_end(&terms, bytes written at `to`);
 *     terms_sort(&terms); ... terms.found[0 .. terms.count - 1] ...
 *     terms_free(&terms);
 *
 * Running out of memory is noted, not told: look at `failed` in the end.
 *
 * Ownership. What is gathered lies in memory of its own: a document may say one thing many times, two versions of it mostly
 *     say the same, and only what differs is worth a place in the request's arena.
 */
#pragma once
#include "base/arena.h"
#include "index/term.h"

/* A term. Most comparisons end at the path, which is why it stands here. */
struct found {
    path_id path;
    const struct found_bytes *bytes;
};

struct found_bytes {
    uint16_t size; /* of the term, its path included */
    uint16_t date; /* where in the value a time is to be filled in, plus one; 0: nowhere */
    uint8_t at[];
};

enum { TERMS_LOCAL = 64, TERMS_LOCAL_BYTES = 4 * 1024 }; /* enough for most documents */

struct terms {
    struct arena memory;
    struct found *found;
    size_t count, capacity;
    uint8_t *next; /* where the next term's bytes go */
    size_t left;   /* there */
    bool failed;
    struct found local[TERMS_LOCAL];
    _Alignas(struct found_bytes) uint8_t local_bytes[TERMS_LOCAL_BYTES];
};

void terms_init(struct terms *terms, size_t limit_bytes);
void terms_free(struct terms *terms);

/* So many more are likely. */
void terms_expect(struct terms *terms, size_t more);

/* Room for a value of up to so many bytes; NULL when it has failed. */
uint8_t *terms_begin(struct terms *terms, path_id path, size_t bytes_max);
void terms_date(struct terms *terms, size_t offset, bool descending); /* between the two */
void terms_end(struct terms *terms, size_t bytes);

/* By path, then by value; of equal ones one is left. */
void terms_sort(struct terms *terms);

/* Of one document's terms, or of two versions of it. */
int found_compare(const struct found *a, const struct found *b);
struct slice found_term(const struct found *found);

/* Where in the term a time is to be filled in. */
bool found_is_dated(const struct found *found, size_t *offset, bool *descending);
