/*
 * src/index/sort.h - the terms of one document, gathered as they come, then sorted, each once.
 *     terms_init(&terms, limit);
 *     to = terms_begin(&terms, path, most); terms_end(&terms, bytes written at `to`);
 *     terms_sort(&terms); ... terms.found[0 .. terms.count - 1] ...
 *     terms_free(&terms);
 *
 * No call reports that memory ran out: the caller looks at `failed` in the end.
 *
 * Ownership. The terms lie in memory of their own. A document may hold the same value many times, and two versions of
 *     it mostly hold the same values; only the difference is worth a place in the request's arena.
 */
#pragma once
#include "base/arena.h"
#include "index/term.h"

/* A term. Its path is kept beside the pointer to the bytes, because most comparisons end at the path. */
struct found {
    path_id path;
    const struct found_bytes *bytes;
};

struct found_bytes {
    uint16_t size; /* of the term, its path included */
    uint16_t date; /* where in the value the committer fills in a time, plus one; 0: nowhere */
    uint8_t at[];
};

enum { TERMS_LOCAL = 64, TERMS_LOCAL_BYTES = 4 * 1024 }; /* enough for most documents */

struct terms {
    struct arena memory;
    struct found *found;
    size_t count, capacity;
    uint8_t *next; /* where the next term's bytes go */
    size_t left;   /* bytes left there */
    bool failed;
    struct found local[TERMS_LOCAL];
    _Alignas(struct found_bytes) uint8_t local_bytes[TERMS_LOCAL_BYTES];
};

void terms_init(struct op *op, struct terms *terms, size_t limit_bytes);
void terms_free(struct terms *terms);

/* Makes room for so many more terms, which are likely to come. */
void terms_expect(struct terms *terms, size_t more);

/* Gives room for a value of up to so many bytes; NULL when memory ran out. */
uint8_t *terms_begin(struct terms *terms, path_id path, size_t bytes_max);
/* Called between terms_begin() and terms_end(): the committer fills a time in at this offset of the value. */
void terms_date(struct terms *terms, size_t offset, bool descending);
void terms_end(struct terms *terms, size_t bytes);

/* Sorts by path, then by value. Of equal terms one is left. */
void terms_sort(struct terms *terms);

/* The order of terms: of one document, or of two versions of it. */
int found_compare(const struct found *a, const struct found *b);
struct slice found_term(const struct found *found);

/* Whether the committer fills a time into the term, and at which offset. */
bool found_is_dated(const struct found *found, size_t *offset, bool *descending);
