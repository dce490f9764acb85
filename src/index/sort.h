/*
 * src/index/sort.h - the terms of one document, gathered as they come, then sorted, each once, as keys.
 *     terms_init(&terms, limit);
 *     to = terms_begin(&terms, path, most); terms_end(&terms, bytes written at `to`);
 *     terms_pack(&terms, arena, bucket, number, &keys);
 *     terms_free(&terms);
 *
 * Running out of memory is noted, not told: terms_pack() says so in the end.
 *
 * Ownership. What is gathered lies in memory of its own: a document may say one thing many times, and only what is left is
 *     worth a place in the request's arena, where keys are put.
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
    uint16_t size; /* of the term, its path included; of the key, once packed */
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

/* Keys of entries (key_index), one behind the other, in order. */
struct entry_keys {
    const struct found_bytes *first;
    size_t count;
};

/* By path, then by value; of equal ones one is left. False past a limit, of the arena or of what was gathered. */
bool terms_pack(struct terms *terms, struct arena *arena, uint64_t bucket, uint64_t number,
                struct entry_keys *keys);

const struct found_bytes *entry_next(const struct found_bytes *entry);
struct slice entry_key(const struct found_bytes *entry);
struct slice entry_term(const struct found_bytes *entry);

/* Of two entries of one document. */
int entry_compare(const struct found_bytes *a, const struct found_bytes *b);

/* Where in the key a time is to be filled in. */
bool entry_is_dated(const struct found_bytes *entry, size_t *offset, bool *descending);
