/*
 * src/keys/record.h - what the store keeps for a document, for a change and for a bucket's head.
 * Every stored value begins with a format byte. The LSN and the time of a write are known only when it is committed:
 * the writer leaves them zero and the committer writes them in.
 *
 *     record  format 1, flags 1, members behind 2, CRC-32C 4, LSN 8, ts 8, etag 8, number 8,
 *             ttl 4, policy version 4, EPK size 2, EPK, document (json.h)
 *     change  format 1, kind 1, flags 1, reserved 1, CRC-32C 4, LSN 8, ts 8, token 8, number 8,
 *             previous LSN 8, then the old record as it was stored (all but create, until it is trimmed)
 *     next    format 1, reserved 3, CRC-32C 4, LSN 8, ts 8, position 4: of the change that ended a version
 *     trimmed format 1, LSN 8, position 4: of the last change that was trimmed
 *     id      format 1, number 8 for each document that has the id and the EPK: more than one where
 *             different partition keys share an EPK
 *     unique  format 1, number 8 for each document whose values have the entry's hash
 *     media   format 1, reserved 3, CRC-32C 4, the bytes; an attachment's record has its own number there
 *     head    format 1, reserved 3, CRC-32C 4, LSN 8, ts 8, document counter 8,
 *             and from format 2 on documents 8, bytes of their records 8
 *
 * Integers are little-endian; times are milliseconds since 1970. A CRC covers all bytes of
 * its value but its own four.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"
#include "keys/epk.h"

enum { RECORD_FORMAT = 1, CHANGE_FORMAT = 1, HEAD_FORMAT = 2 };

struct record {
    uint8_t flags; /* enum record_flag */
    uint64_t lsn;
    int64_t ts_ms;
    uint64_t etag;
    uint64_t number;
    int32_t ttl_seconds;     /* as in the document; RECORD_TTL_NONE when it has none */
    uint32_t policy_version; /* of the indexing policy that its index entries follow */
    struct slice epk;
    struct json document; /* as the user wrote it: no system properties inside */
    uint16_t behind;      /* so many of its last members stood behind the system properties; mostly 0 */
    struct slice stored;  /* the bytes it was decoded from */
};

enum { RECORD_TTL_NONE = 0 };

/* A program that does not know a flag refuses the record. */
enum record_flag {
    RECORD_HAS_ATTACHMENTS = 2, /* of an item: it has attachments, or had some */
    RECORD_UNINDEXED = 4,       /* of an item: it is left out of the index */
    RECORD_BARE = 32, /* of an item: written by a client that wants it without _self and _attachments */
    RECORD_KEEPS_UNIQUE = 1,      /* of a container: its items have entries of their unique keys */
    RECORD_HAS_RANGES = 8,        /* of a container: its definition has a table of its ranges */
    RECORD_HAS_SEED = 16,         /* of a container: its definition has the seed of its hashes */
    RECORD_RIDS_BY_CREATION = 64, /* of a container: the _rids of its items rise with the time of creation */
};

/*
 * The record's bytes, in the op's arena, with LSN and ts zero; NULL past the arena's limit. They are mutable, because
 * the committer stamps them later.
 */
uint8_t *record_encode(struct op *op, const struct record *record, size_t *size);

/* ST_CORRUPT with a reason for the log when the CRC or the shape is wrong, or the format is newer. */
enum status record_decode(struct op *op, struct slice value, struct record *record);

enum change_kind {
    CHANGE_CREATE = 'c',
    CHANGE_REPLACE = 'r',
    CHANGE_DELETE = 'd',
    CHANGE_REINDEX = 'x', /* only the indexing policy of the record: no feed shows it */
};

struct change {
    enum change_kind kind;
    uint64_t lsn;
    int64_t ts_ms;
    uint64_t token; /* of the transaction */
    uint64_t number;
    uint64_t previous_lsn;
    struct slice old_record; /* empty for a create, and for a replace that was trimmed */
    bool expired;            /* a delete that no client asked for: the item's time to live was over */
};

uint8_t *change_encode(struct op *op, const struct change *change, size_t *size);
enum status change_decode(struct op *op, struct slice value, struct change *change);

/* Where a change lies in the log: its LSN and its position in the transaction. */
struct log_place {
    uint64_t lsn;
    uint32_t position;
};

/* Up to where a log was trimmed. */
struct trimmed {
    uint64_t lsn;
    uint32_t position;
    int64_t ts_ms; /* of the change there; 0 where a program of before has written it, and nobody knows */
};

enum { NEXT_FORMAT = 1, NEXT_BYTES = 28, TRIMMED_FORMAT = 2, TRIMMED_1_BYTES = 13, TRIMMED_BYTES = 21 };

/* The committer writes the LSN, as in a record. */
void next_encode(uint32_t position, uint8_t bytes[NEXT_BYTES]);
enum status next_decode(struct op *op, struct slice value, struct log_place *place);

/* An absent value, data NULL, means that nothing was trimmed: LSN 0. */
void trimmed_encode(const struct trimmed *trimmed, uint8_t bytes[TRIMMED_BYTES]);
enum status trimmed_decode(struct op *op, struct slice value, struct trimmed *trimmed);

struct head {
    uint64_t lsn;
    int64_t ts_ms;
    uint64_t counter; /* the last document counter given out */
    bool counts; /* the two fields that follow; false in a bucket begun in format 1, which did not count */
    uint64_t documents, document_bytes;
};

enum { HEAD_BYTES = 48 };

/* Writes format 1 when the head does not count. Gives back the size. */
size_t head_encode(const struct head *head, uint8_t bytes[HEAD_BYTES]);

/* An absent value, data NULL, is the head of a bucket that nothing was written to. */
enum status head_decode(struct op *op, struct slice value, struct head *head);

/*
 * The value under an id and under a unique key's hash: its holders, which is mostly one document's number. Different
 * values that share a hash share the entry, so whoever follows a number compares what the document has.
 */
enum { HOLDERS_FORMAT = 1 };

/*
 * An absent entry, data NULL, passes holders_check() and has no numbers. The other functions take only entries
 * that have passed it.
 */
enum status holders_check(struct op *op, struct slice value);
size_t holders_count(struct slice value);
uint64_t holders_at(struct slice value, size_t index);

/* The entry with the number added, or without it; absent when none is left. */
struct slice holders_with(struct arena *arena, struct slice value, uint64_t number);
struct slice holders_without(struct arena *arena, struct slice value, uint64_t number);

/* An attachment's bytes. NULL past the arena's limit. */
enum { MEDIA_FORMAT = 1 };

uint8_t *media_encode(struct op *op, struct slice bytes, size_t *size);
enum status media_decode(struct op *op, struct slice value, struct slice *bytes);

/* Writes LSN and ts into a record or a change and computes its CRC. */
void value_stamp(uint8_t *value, size_t size, uint64_t lsn, int64_t ts_ms);

/* What it wrote, from a value that has passed value_check(). */
struct value_stamp {
    uint64_t lsn;
    int64_t ts_ms;
};

struct value_stamp value_stamped(struct slice value);

/*
 * For other values that value_stamp() stamps: they begin with a format of 1 byte and 23 bytes that are zero until then,
 * but for the 3 after the format. ST_CORRUPT, naming `what`, when format, size or checksum is wrong.
 */
enum status value_check(struct op *op, const char *what, struct slice value, uint8_t format, size_t size_min);
