/* src/catalog/past.c - how far the containers got that were dropped, by name. */
#include <assert.h>

#include "base/hash.h"
#include "catalog/past.h"
#include "keys/bytes.h"

/* format 1, zero 3, CRC-32C 4, floor 8, then name 8 and LSN 8 of each */
enum { PAST_FORMAT = 1, AT_CRC = 4, AT_FLOOR = 8, AT_NAMES = 16, NAME_BYTES = 16 };

uint64_t past_name(struct slice link)
{
    return murmur3_128(link.data, link.size).h1;
}

static void forget_name(struct past *past, size_t at)
{
    assert(at < past->count);
    past->count--;
    memmove(&past->known[at], &past->known[at + 1], (past->count - at) * sizeof(past->known[0]));
}

static void forget_earliest(struct past *past)
{
    if (past->floor_lsn < past->known[0].lsn)
        past->floor_lsn = past->known[0].lsn;
    forget_name(past, 0);
}

void past_note(struct past *past, uint64_t name, uint64_t lsn)
{
    for (size_t i = 0; i < past->count; i++)
        if (past->known[i].name == name) {
            if (lsn < past->known[i].lsn)
                lsn = past->known[i].lsn;
            forget_name(past, i);
            break;
        }
    if (past->count == PAST_NAMES_MAX)
        forget_earliest(past);
    past->known[past->count++] = (struct past_name){ name, lsn };
}

uint64_t past_lsn(const struct past *past, uint64_t name)
{
    for (size_t i = 0; i < past->count; i++)
        if (past->known[i].name == name)
            return past->known[i].lsn;
    return past->floor_lsn;
}

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    return crc32c(crc32c(0, bytes, AT_CRC), bytes + AT_FLOOR, size - AT_FLOOR);
}

struct slice past_encode(struct op *op, const struct past *past)
{
    size_t size = AT_NAMES + past->count * NAME_BYTES;
    uint8_t *bytes = arena_alloc(&op->arena, size), *at = bytes + AT_NAMES;

    memset(bytes, 0, AT_FLOOR);
    bytes[0] = PAST_FORMAT;
    put_le(bytes + AT_FLOOR, past->floor_lsn, 8);
    for (size_t i = 0; i < past->count; i++, at += NAME_BYTES) {
        put_le(at, past->known[i].name, 8);
        put_le(at + 8, past->known[i].lsn, 8);
    }
    put_le(bytes + AT_CRC, crc_of(bytes, size), 4);
    return slice_make(bytes, size);
}

static bool is_whole(struct slice value)
{
    const uint8_t *bytes = (const uint8_t *)value.data;

    return value.size >= AT_NAMES && (value.size - AT_NAMES) % NAME_BYTES == 0 &&
           (value.size - AT_NAMES) / NAME_BYTES <= PAST_NAMES_MAX && bytes[0] == PAST_FORMAT &&
           get_le(bytes + AT_CRC, 4) == crc_of(bytes, value.size);
}

enum status past_decode(struct op *op, struct slice value, struct past *past)
{
    const uint8_t *at = (const uint8_t *)value.data + AT_NAMES;

    *past = (struct past){ 0 };
    if (!value.data)
        return ST_OK;
    if (!is_whole(value))
        return op_fail(op, ST_CORRUPT,
                       "What tells how far dropped containers got is damaged, or newer than this program.");
    past->floor_lsn = get_le(value.data + AT_FLOOR, 8);
    for (size_t i = 0; i < (value.size - AT_NAMES) / NAME_BYTES; i++, at += NAME_BYTES)
        past->known[past->count++] = (struct past_name){ get_le(at, 8), get_le(at + 8, 8) };
    return ST_OK;
}
