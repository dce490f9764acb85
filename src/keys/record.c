/* src/keys/record.c - the bytes of records, changes and heads. The header shows the layouts. */
#include <assert.h>

#include "base/hash.h"
#include "keys/bytes.h"
#include "keys/record.h"

/* What the three have in common. */
enum { AT_FORMAT = 0, AT_CRC = 4, AT_LSN = 8, AT_TS = 16, COMMON_BYTES = 24 };

enum {
    AT_FLAGS = 1,
    AT_BEHIND = 2,
    AT_ETAG = 24,
    AT_NUMBER = 32,
    AT_TTL = 40,
    AT_POLICY = 44,
    AT_EPK_SIZE = 48,
    AT_EPK = 50,
};

enum {
    FLAGS_KNOWN = RECORD_KEEPS_UNIQUE | RECORD_HAS_ATTACHMENTS | RECORD_UNINDEXED | RECORD_HAS_RANGES |
                  RECORD_HAS_SEED | RECORD_BARE | RECORD_RIDS_BY_CREATION
};

enum {
    AT_KIND = 1,
    AT_CHANGE_FLAGS = 2,
    AT_TOKEN = 24,
    AT_CHANGE_NUMBER = 32,
    AT_PREVIOUS = 40,
    AT_OLD_RECORD = 48,
};

enum { CHANGE_EXPIRED = 1 }; /* in a change's flags */

enum { AT_MEDIA = 8 };

enum { AT_COUNTER = 24, AT_DOCUMENTS = 32, AT_DOCUMENT_BYTES = 40, HEAD_1_BYTES = 32 };

static uint32_t value_crc(const uint8_t *value, size_t size)
{
    return crc32c(crc32c(0, value, AT_CRC), value + AT_LSN, size - AT_LSN);
}

enum status holders_check(struct op *op, struct slice value)
{
    if (value.data && (value.size < 9 || value.size % 8 != 1 || value.data[0] != HOLDERS_FORMAT))
        return op_fail(op, ST_CORRUPT,
                       "An entry that leads to documents is damaged, or newer than this program.");
    return ST_OK;
}

size_t holders_count(struct slice value)
{
    return value.size / 8;
}

uint64_t holders_at(struct slice value, size_t index)
{
    return get_be(value.data + 1 + 8 * index, 8);
}

struct slice holders_with(struct arena *arena, struct slice value, uint64_t number)
{
    size_t size = value.data ? value.size : 1;
    uint8_t *longer = arena_alloc(arena, size + 8);

    longer[0] = HOLDERS_FORMAT;
    if (value.data)
        memcpy(longer, value.data, size);
    put_be(longer + size, number, 8);
    return slice_make(longer, size + 8);
}

struct slice holders_without(struct arena *arena, struct slice value, uint64_t number)
{
    uint8_t *left = arena_alloc(arena, value.size + 1);
    size_t size = 1;

    left[0] = HOLDERS_FORMAT;
    for (size_t i = 0; i < holders_count(value); i++) {
        if (holders_at(value, i) == number)
            continue;
        put_be(left + size, holders_at(value, i), 8);
        size += 8;
    }
    return size > 1 ? slice_make(left, size) : (struct slice){ 0 };
}

void value_stamp(uint8_t *value, size_t size, uint64_t lsn, int64_t ts_ms)
{
    assert(size >= COMMON_BYTES);
    put_le(value + AT_LSN, lsn, 8);
    put_le(value + AT_TS, (uint64_t)ts_ms, 8);
    put_le(value + AT_CRC, value_crc(value, size), 4);
}

struct value_stamp value_stamped(struct slice value)
{
    const uint8_t *bytes = (const uint8_t *)value.data;

    assert(value.size >= COMMON_BYTES);
    return (struct value_stamp){ get_le(bytes + AT_LSN, 8), (int64_t)get_le(bytes + AT_TS, 8) };
}

/* The format is looked at first: a newer one may keep its checksum elsewhere. */
enum status value_check(struct op *op, const char *what, struct slice value, uint8_t format, size_t size_min)
{
    const uint8_t *bytes = (const uint8_t *)value.data;

    if (value.size == 0)
        return op_fail(op, ST_CORRUPT, "A stored %s is empty.", what);
    if (bytes[AT_FORMAT] > format)
        return op_fail(op, ST_CORRUPT, "A stored %s has format %d, which is newer than this program.", what,
                       bytes[AT_FORMAT]);
    if (bytes[AT_FORMAT] < format)
        return op_fail(op, ST_CORRUPT, "A stored %s has the unknown format %d.", what, bytes[AT_FORMAT]);
    if (value.size < size_min)
        return op_fail(op, ST_CORRUPT, "A stored %s is cut short: %zu bytes.", what, value.size);
    if (get_le(bytes + AT_CRC, 4) != value_crc(bytes, value.size))
        return op_fail(op, ST_CORRUPT, "A stored %s does not match its checksum.", what);
    return ST_OK;
}

/* Stamps the record with zeros, so that its transaction can read it before the commit. */
uint8_t *record_encode(struct op *op, const struct record *record, size_t *size)
{
    struct slice document = json_bytes(record->document);
    uint8_t *value;

    assert(record->epk.size <= EPK_BYTES_MAX);
    *size = AT_EPK + record->epk.size + document.size;
    value = arena_try_alloc(&op->arena, *size);
    if (!value)
        return NULL;
    memset(value, 0, AT_EPK);
    value[AT_FORMAT] = RECORD_FORMAT;
    value[AT_FLAGS] = record->flags;
    put_le(value + AT_BEHIND, record->behind, 2);
    put_le(value + AT_ETAG, record->etag, 8);
    put_le(value + AT_NUMBER, record->number, 8);
    put_le(value + AT_TTL, (uint32_t)record->ttl_seconds, 4);
    put_le(value + AT_POLICY, record->policy_version, 4);
    put_le(value + AT_EPK_SIZE, record->epk.size, 2);
    if (record->epk.size)
        memcpy(value + AT_EPK, record->epk.data, record->epk.size);
    memcpy(value + AT_EPK + record->epk.size, document.data, document.size);
    value_stamp(value, *size, 0, 0);
    return value;
}

enum status record_decode(struct op *op, struct slice value, struct record *record)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    size_t epk_size;
    enum status st;

    TRY(value_check(op, "record", value, RECORD_FORMAT, AT_EPK));
    epk_size = get_le(bytes + AT_EPK_SIZE, 2);
    if (epk_size >= value.size - AT_EPK || !json_fills(slice_after(value, AT_EPK + epk_size)))
        TRY(op_fail(op, ST_CORRUPT, "A stored record has no document."));
    if (bytes[AT_FLAGS] & ~FLAGS_KNOWN) /* a newer program set it, and it must not be ignored */
        TRY(op_fail(op, ST_CORRUPT, "A stored record has a flag that is newer than this program."));
    *record = (struct record){
        .flags = bytes[AT_FLAGS],
        .lsn = get_le(bytes + AT_LSN, 8),
        .ts_ms = (int64_t)get_le(bytes + AT_TS, 8),
        .etag = get_le(bytes + AT_ETAG, 8),
        .number = get_le(bytes + AT_NUMBER, 8),
        .ttl_seconds = (int32_t)get_le(bytes + AT_TTL, 4),
        .policy_version = (uint32_t)get_le(bytes + AT_POLICY, 4),
        .epk = slice_make(bytes + AT_EPK, epk_size),
        .document = json_from_bytes(slice_after(value, AT_EPK + epk_size)),
        .behind = (uint16_t)get_le(bytes + AT_BEHIND, 2),
        .stored = value,
    };
out:
    return st;
}

uint8_t *change_encode(struct op *op, const struct change *change, size_t *size)
{
    uint8_t *value;

    *size = AT_OLD_RECORD + change->old_record.size;
    value = arena_try_alloc(&op->arena, *size);
    if (!value)
        return NULL;
    memset(value, 0, AT_OLD_RECORD);
    value[AT_FORMAT] = CHANGE_FORMAT;
    value[AT_KIND] = (uint8_t)change->kind;
    value[AT_CHANGE_FLAGS] = change->expired ? CHANGE_EXPIRED : 0;
    put_le(value + AT_TOKEN, change->token, 8);
    put_le(value + AT_CHANGE_NUMBER, change->number, 8);
    put_le(value + AT_PREVIOUS, change->previous_lsn, 8);
    if (change->old_record.size)
        memcpy(value + AT_OLD_RECORD, change->old_record.data, change->old_record.size);
    value_stamp(value, *size, 0, 0);
    return value;
}

static bool is_change_kind(uint8_t kind)
{
    return kind == CHANGE_CREATE || kind == CHANGE_REPLACE || kind == CHANGE_DELETE || kind == CHANGE_REINDEX;
}

enum status change_decode(struct op *op, struct slice value, struct change *change)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    enum status st;

    TRY(value_check(op, "change", value, CHANGE_FORMAT, AT_OLD_RECORD));
    if (!is_change_kind(bytes[AT_KIND]))
        TRY(op_fail(op, ST_CORRUPT, "A stored change is of the unknown kind %d.", bytes[AT_KIND]));
    *change = (struct change){
        .kind = (enum change_kind)bytes[AT_KIND],
        .expired = bytes[AT_CHANGE_FLAGS] & CHANGE_EXPIRED,
        .lsn = get_le(bytes + AT_LSN, 8),
        .ts_ms = (int64_t)get_le(bytes + AT_TS, 8),
        .token = get_le(bytes + AT_TOKEN, 8),
        .number = get_le(bytes + AT_CHANGE_NUMBER, 8),
        .previous_lsn = get_le(bytes + AT_PREVIOUS, 8),
        .old_record = slice_after(value, AT_OLD_RECORD),
    };
out:
    return st;
}

void next_encode(uint32_t position, uint8_t bytes[NEXT_BYTES])
{
    memset(bytes, 0, NEXT_BYTES);
    bytes[AT_FORMAT] = NEXT_FORMAT;
    put_le(bytes + COMMON_BYTES, position, 4);
}

enum status next_decode(struct op *op, struct slice value, struct log_place *place)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    enum status st;

    TRY(value_check(op, "place of a change", value, NEXT_FORMAT, NEXT_BYTES));
    *place = (struct log_place){ get_le(bytes + AT_LSN, 8), (uint32_t)get_le(bytes + COMMON_BYTES, 4) };
out:
    return st;
}

void trimmed_encode(const struct trimmed *trimmed, uint8_t bytes[TRIMMED_BYTES])
{
    bytes[AT_FORMAT] = TRIMMED_FORMAT;
    put_le(bytes + 1, trimmed->lsn, 8);
    put_le(bytes + 9, trimmed->position, 4);
    put_le(bytes + TRIMMED_1_BYTES, (uint64_t)trimmed->ts_ms, 8);
}

enum status trimmed_decode(struct op *op, struct slice value, struct trimmed *trimmed)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    bool old = value.size == TRIMMED_1_BYTES;

    *trimmed = (struct trimmed){ 0 };
    if (!value.data)
        return ST_OK;
    if (value.size != (old ? TRIMMED_1_BYTES : TRIMMED_BYTES) ||
        bytes[AT_FORMAT] != (old ? 1 : TRIMMED_FORMAT))
        return op_fail(op, ST_CORRUPT,
                       "What tells how far a log was trimmed is damaged, or newer than this program.");
    trimmed->lsn = get_le(bytes + 1, 8);
    trimmed->position = (uint32_t)get_le(bytes + 9, 4);
    trimmed->ts_ms = old ? 0 : (int64_t)get_le(bytes + TRIMMED_1_BYTES, 8);
    return ST_OK;
}

size_t head_encode(const struct head *head, uint8_t bytes[HEAD_BYTES])
{
    size_t size = head->counts ? HEAD_BYTES : HEAD_1_BYTES;

    memset(bytes, 0, HEAD_BYTES);
    bytes[AT_FORMAT] = head->counts ? HEAD_FORMAT : 1;
    put_le(bytes + AT_COUNTER, head->counter, 8);
    if (head->counts) {
        put_le(bytes + AT_DOCUMENTS, head->documents, 8);
        put_le(bytes + AT_DOCUMENT_BYTES, head->document_bytes, 8);
    }
    value_stamp(bytes, size, head->lsn, head->ts_ms);
    return size;
}

enum status head_decode(struct op *op, struct slice value, struct head *head)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    bool old = value.size > 0 && bytes[AT_FORMAT] == 1;
    size_t size = old ? HEAD_1_BYTES : HEAD_BYTES;
    enum status st = ST_OK;

    *head = (struct head){ .counts = true };
    if (!value.data)
        goto out;
    TRY(value_check(op, "head", value, old ? 1 : HEAD_FORMAT, size));
    if (value.size != size)
        TRY(op_fail(op, ST_CORRUPT, "A stored head has %zu bytes.", value.size));
    *head = (struct head){
        .lsn = get_le(bytes + AT_LSN, 8),
        .ts_ms = (int64_t)get_le(bytes + AT_TS, 8),
        .counter = get_le(bytes + AT_COUNTER, 8),
        .counts = !old,
        .documents = old ? 0 : get_le(bytes + AT_DOCUMENTS, 8),
        .document_bytes = old ? 0 : get_le(bytes + AT_DOCUMENT_BYTES, 8),
    };
out:
    return st;
}

uint8_t *media_encode(struct op *op, struct slice bytes, size_t *size)
{
    uint8_t *value = arena_try_alloc(&op->arena, AT_MEDIA + bytes.size);

    if (!value)
        return NULL;
    *size = AT_MEDIA + bytes.size;
    memset(value, 0, AT_MEDIA);
    value[AT_FORMAT] = MEDIA_FORMAT;
    if (bytes.size)
        memcpy(value + AT_MEDIA, bytes.data, bytes.size);
    put_le(value + AT_CRC, value_crc(value, *size), 4);
    return value;
}

enum status media_decode(struct op *op, struct slice value, struct slice *bytes)
{
    enum status st;

    TRY(value_check(op, "medium", value, MEDIA_FORMAT, AT_MEDIA));
    *bytes = slice_after(value, AT_MEDIA);
out:
    return st;
}
