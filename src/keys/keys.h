/*
 * src/keys/keys.h - the one place that spells a key of the store.
 * docs/keys.md shows the whole layout. Every key begins with its bucket:
 *
 *     bucket  6 bytes, big-endian: container number (36 bits), bucket within it (12 bits)
 *     kind    1 byte, a letter
 *     rest    depends on the kind
 *
 * Container 0 is the catalog, its bucket 1 the ledger of transactions, its bucket 2 that of copies. Container numbers and document numbers are never reused.
 * Integers in keys are big-endian, so that byte order is number order.
 */
#pragma once
#include <assert.h>

#include "base/hash.h"
#include "base/op.h"
#include "keys/bytes.h"

enum { BUCKET_BITS = 12, BUCKET_KEY_BYTES = 6, COPYING_BUCKET = 2 };

#define BUCKET_ID_END 0xffffffffffffu /* above all buckets that there may be */

enum key_kind {
    KEY_HEAD = 'H',     /* nothing: the bucket's last LSN, its time, the document counter */
    KEY_DOCUMENT = 'D', /* number: the record */
    KEY_ID = 'I',       /* EPK, id: the document's number */
    KEY_LOG = 'L',      /* LSN, position: the change */
    KEY_NEXT = 'N',     /* LSN of a version, document's number: where the log has the change that ended it */
    KEY_TRIMMED = 'T',  /* nothing: up to which entry the log was trimmed */
    KEY_CATALOG = 'C',  /* rid: a database, a container, a user, ... (bucket 0) */
    KEY_OFFER = 'O',    /* rid of a database or a container: its throughput (bucket 0) */
    KEY_DROPPED = 'G',  /* container number: a dropped one, with data still to be removed (bucket 0) */
    KEY_PAST = 'P',     /* nothing: how far dropped containers got, by name (bucket 0) */
    KEY_HELD = 'Z',     /* nothing: containers whose writes are told to come back (bucket 0) */
    KEY_ATTACHMENT = 'A', /* document's number, attachment's number: its record */
    KEY_MEDIA = 'M',      /* the same: the bytes of an attachment that has them here */
    KEY_UNIQUE = 'U',     /* EPK, which unique key, hash of its values: the documents' numbers */
    KEY_TOKEN = 'K',      /* a transaction's token: what became of it (bucket 1; ledger/) */
    KEY_RUNS = 'R',       /* nothing: which runs the index has (packed/manifest.h; bucket 0) */
    KEY_SETTLED = 'W',    /* nothing: up to which LSN the bucket's entries are in runs */
    KEY_COPYING = 'Y',    /* nothing: how far a copy into this store has come (bucket 2; main/copy_store.h) */
    KEY_INDEX = 'X',      /* term (index/term.h), document's number: an entry of the index; no value */
};

static inline uint64_t bucket_make(uint64_t container, uint32_t bucket)
{
    return container << BUCKET_BITS | bucket;
}

static inline uint64_t bucket_container(uint64_t bucket)
{
    return bucket >> BUCKET_BITS;
}

/* The bucket that a key begins with. The key is one of ours, or the beginning of one. */
static inline uint64_t key_bucket(struct slice key)
{
    assert(key.size >= BUCKET_KEY_BYTES);
    return get_be(key.data, BUCKET_KEY_BYTES);
}

/* What batches of a bucket may write: a key of another one would be written without that one's LSN. */
static inline bool key_is_of_bucket(struct slice key, uint64_t bucket)
{
    return key.size > BUCKET_KEY_BYTES && key_bucket(key) == bucket;
}

static inline bool key_is_kind(struct slice key, enum key_kind kind)
{
    return key.size > BUCKET_KEY_BYTES && key.data[BUCKET_KEY_BYTES] == (char)kind;
}

/* A record: what point reads ask for. */
static inline bool key_is_document(struct slice key)
{
    return key_is_kind(key, KEY_DOCUMENT);
}

/* An entry of the index, or the beginning of one's key. */
static inline bool key_is_index(struct slice key)
{
    return key_is_kind(key, KEY_INDEX);
}

struct slice key_head(struct arena *arena, uint64_t bucket);
struct slice key_document(struct arena *arena, uint64_t bucket, uint64_t number);
struct slice key_id(struct arena *arena, uint64_t bucket, struct slice epk, struct slice id);
struct slice key_unique(struct arena *arena, uint64_t bucket, struct slice epk, uint8_t which,
                        struct hash128 values);
struct slice key_attachment(struct arena *arena, uint64_t bucket, uint64_t document, uint32_t attachment);
struct slice key_media(struct arena *arena, uint64_t bucket, uint64_t document, uint32_t attachment);
struct slice key_index(struct arena *arena, uint64_t bucket, struct slice term, uint64_t number);

/*
 * Writes the same key into `to`, which has room for the term and KEY_INDEX_BYTES more. The term begins at
 * KEY_INDEX_TERM.
 */
enum { KEY_INDEX_TERM = BUCKET_KEY_BYTES + 1, KEY_INDEX_BYTES = KEY_INDEX_TERM + 8 };

struct slice key_index_put(uint8_t *to, uint64_t bucket, struct slice term, uint64_t number);
struct slice key_log(struct arena *arena, uint64_t bucket, uint64_t lsn, uint32_t position);
struct slice key_next(struct arena *arena, uint64_t bucket, uint64_t lsn, uint64_t number);
struct slice key_trimmed(struct arena *arena, uint64_t bucket);
struct slice key_catalog(struct arena *arena, struct slice rid);
struct slice key_offer(struct arena *arena, struct slice owner_rid);
struct slice key_dropped(struct arena *arena, uint64_t container);
struct slice key_past(struct arena *arena);
struct slice key_held(struct arena *arena);
struct slice key_token(struct arena *arena, uint64_t bucket, struct slice token);
struct slice key_runs(struct arena *arena);
struct slice key_copying(struct arena *arena); /* in COPYING_BUCKET, where nothing else is */
struct slice key_settled(struct arena *arena, uint64_t bucket);

/* The least key of a kind, and the least key after all of that kind. */
struct slice key_kind_first(struct arena *arena, uint64_t bucket, enum key_kind kind);
struct slice key_kind_end(struct arena *arena, uint64_t bucket, enum key_kind kind);

/* The least key of a term's entries. They end where those of the next greater term begin. */
struct slice key_index_term(struct arena *arena, uint64_t bucket, struct slice term);

/* Writes the same key into `to`, which has room for KEY_INDEX_TERM bytes and the term. */
struct slice key_index_term_put(uint8_t *to, uint64_t bucket, struct slice term);

/* The least key of a document's attachments. They end where those of the next document begin. */
struct slice key_attachments_first(struct arena *arena, uint64_t bucket, uint64_t document);

/* The least key of a bucket, and the least key after the whole bucket. */
struct slice key_bucket_first(struct arena *arena, uint64_t bucket);
struct slice key_bucket_end(struct arena *arena, uint64_t bucket);

/* Makes `from` the least key above `key`, so that a scan which was read in blocks goes on behind its last row. */
void key_step_behind(struct buf *from, struct slice key);

/* Takes a key apart; false when it is none of ours. `rest` is what follows the kind. */
struct key_parts {
    uint64_t bucket;
    enum key_kind kind;
    struct slice rest;
};

bool key_parse(struct slice key, struct key_parts *parts);
bool key_parse_document(const struct key_parts *parts, uint64_t *number);
bool key_parse_attachment(const struct key_parts *parts, uint64_t *document,
                          uint32_t *attachment); /* media too */
bool key_parse_index(const struct key_parts *parts, struct slice *term, uint64_t *number);
bool key_parse_log(const struct key_parts *parts, uint64_t *lsn, uint32_t *position);
bool key_parse_next(const struct key_parts *parts, uint64_t *lsn, uint64_t *number);
bool key_parse_dropped(const struct key_parts *parts, uint64_t *container);
