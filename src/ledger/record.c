/* src/ledger/record.c - records and lines of the log as bytes. The header shows the layouts. */
#include <assert.h>

#include "keys/bytes.h"
#include "keys/record.h"
#include "ledger/record.h"

enum { RECORD_FORMAT_1 = 1, LINE_FORMAT_1 = 1 };

enum { AT_COMMITTED = 1, AT_SEED = 24, AT_BODY = 40, AT_CONTAINERS = 56, AT_PARTS = 58, AT_STAMPS = 60 };

enum { RID_BYTES = 8, PART_BYTES = 24 };

enum { AT_TOKEN = 24, AT_RECORD_BYTES = 40, LINE_BYTES = 44 };

static size_t record_bytes(size_t containers, size_t parts)
{
    return AT_STAMPS + containers * (STAMP_BYTES + RID_BYTES) + parts * PART_BYTES;
}

static void put_part(uint8_t *to, const struct ledger_part *part)
{
    put_le(to, part->status, 2);
    put_le(to + 2, part->container, 2);
    put_le(to + 4, part->sub_status, 4);
    put_le(to + 8, part->range, 4);
    put_le(to + 12, (uint64_t)(part->charge * 100 + 0.5), 4);
    put_le(to + 16, part->etag, 8);
}

static struct ledger_part get_part(const uint8_t *from)
{
    return (struct ledger_part){
        .status = (uint16_t)get_le(from, 2),
        .container = (uint16_t)get_le(from + 2, 2),
        .sub_status = (uint32_t)get_le(from + 4, 4),
        .range = (uint32_t)get_le(from + 8, 4),
        .charge = (double)get_le(from + 12, 4) / 100,
        .etag = get_le(from + 16, 8),
    };
}

uint8_t *ledger_record_encode(struct op *op, const struct ledger_record *record, size_t *size,
                              uint8_t **stamps)
{
    uint8_t *value, *rids, *parts;

    assert(record->container_count < LEDGER_NOWHERE);
    assert(record->part_count <= UINT16_MAX);
    *size = record_bytes(record->container_count, record->part_count);
    value = arena_alloc(&op->arena, *size);
    memset(value, 0, AT_STAMPS);
    value[0] = RECORD_FORMAT_1;
    value[AT_COMMITTED] = record->committed;
    put_le(value + AT_SEED, record->seed.k0, 8);
    put_le(value + AT_SEED + 8, record->seed.k1, 8);
    put_le(value + AT_BODY, record->body.h1, 8);
    put_le(value + AT_BODY + 8, record->body.h2, 8);
    put_le(value + AT_CONTAINERS, record->container_count, 2);
    put_le(value + AT_PARTS, record->part_count, 2);
    *stamps = value + AT_STAMPS;
    rids = *stamps + record->container_count * STAMP_BYTES;
    parts = rids + record->container_count * RID_BYTES;
    for (size_t i = 0; i < record->container_count; i++) {
        assert(record->container[i].rid.size == RID_BYTES);
        stamp_encode(&record->container[i].stamp, *stamps + i * STAMP_BYTES);
        memcpy(rids + i * RID_BYTES, record->container[i].rid.bytes, RID_BYTES);
    }
    for (size_t i = 0; i < record->part_count; i++)
        put_part(parts + i * PART_BYTES, &record->part[i]);
    return value;
}

static enum status check_parts(struct op *op, const struct ledger_record *record)
{
    for (size_t i = 0; i < record->part_count; i++)
        if (record->part[i].container != LEDGER_NOWHERE &&
            record->part[i].container >= record->container_count)
            return op_fail(op, ST_CORRUPT, "A record of a transaction names a container that it lacks.");
    return ST_OK;
}

enum status ledger_record_decode(struct op *op, struct slice value, struct ledger_record *record)
{
    const uint8_t *bytes = (const uint8_t *)value.data, *stamps, *rids, *parts;
    enum status st;

    TRY(value_check(op, "record of a transaction", value, RECORD_FORMAT_1, AT_STAMPS));
    record->committed = bytes[AT_COMMITTED];
    record->seed = (struct hash_seed){ get_le(bytes + AT_SEED, 8), get_le(bytes + AT_SEED + 8, 8) };
    record->body = (struct hash128){ get_le(bytes + AT_BODY, 8), get_le(bytes + AT_BODY + 8, 8) };
    record->container_count = get_le(bytes + AT_CONTAINERS, 2);
    record->part_count = get_le(bytes + AT_PARTS, 2);
    if (value.size != record_bytes(record->container_count, record->part_count))
        TRY(op_fail(op, ST_CORRUPT, "A record of a transaction has another size than it says."));
    stamps = bytes + AT_STAMPS;
    rids = stamps + record->container_count * STAMP_BYTES;
    parts = rids + record->container_count * RID_BYTES;
    record->container = arena_alloc(&op->arena, (record->container_count + 1) * sizeof(*record->container));
    record->part = arena_alloc(&op->arena, (record->part_count + 1) * sizeof(*record->part));
    for (size_t i = 0; i < record->container_count; i++) {
        record->container[i] = (struct ledger_container){ .rid.size = RID_BYTES,
                                                          .stamp = stamp_decode(stamps + i * STAMP_BYTES) };
        memcpy(record->container[i].rid.bytes, rids + i * RID_BYTES, RID_BYTES);
    }
    for (size_t i = 0; i < record->part_count; i++)
        record->part[i] = get_part(parts + i * PART_BYTES);
    TRY(check_parts(op, record));
out:
    return st;
}

uint8_t *ledger_line_encode(struct op *op, const struct ledger_token *token, size_t bytes, size_t *size)
{
    uint8_t *value = arena_alloc(&op->arena, LINE_BYTES);

    *size = LINE_BYTES;
    memset(value, 0, LINE_BYTES);
    value[0] = LINE_FORMAT_1;
    memcpy(value + AT_TOKEN, token->bytes, LEDGER_TOKEN_BYTES);
    put_le(value + AT_RECORD_BYTES, bytes, 4);
    return value;
}

enum status ledger_line_decode(struct op *op, struct slice value, struct ledger_line *line)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    enum status st;

    TRY(value_check(op, "line of the ledger", value, LINE_FORMAT_1, LINE_BYTES));
    memcpy(line->token.bytes, bytes + AT_TOKEN, LEDGER_TOKEN_BYTES);
    line->record_bytes = (uint32_t)get_le(bytes + AT_RECORD_BYTES, 4);
    line->ts_ms = value_stamped(value).ts_ms;
out:
    return st;
}
