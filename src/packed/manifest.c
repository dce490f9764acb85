/* src/packed/manifest.c - the manifest as bytes and back. */
#include "base/hash.h"
#include "keys/bytes.h"
#include "packed/manifest.h"

enum { FORMAT = 1, FRONT_BYTES = 1 + 8 + 4, RUN_FIELDS = 8, RUN_BYTES = RUN_FIELDS * 8, CRC_BYTES = 4 };

static void put_run(uint8_t *at, const struct run_facts *run)
{
    const uint64_t field[RUN_FIELDS] = { run->id,    run->level, run->bytes,         run->pages,
                                         run->terms, run->marks, (uint64_t)run->net, run->filter_bytes };

    for (size_t i = 0; i < RUN_FIELDS; i++)
        put_le(at + 8 * i, field[i], 8);
}

static void get_run(const char *at, struct run_facts *run)
{
    uint64_t field[RUN_FIELDS];

    for (size_t i = 0; i < RUN_FIELDS; i++)
        field[i] = get_le(at + 8 * i, 8);
    *run = (struct run_facts){ .id = field[0],
                               .level = field[1],
                               .bytes = field[2],
                               .pages = field[3],
                               .terms = field[4],
                               .marks = field[5],
                               .net = (int64_t)field[6],
                               .filter_bytes = field[7] };
}

struct slice manifest_encode(struct op *op, const struct manifest *manifest)
{
    size_t size = FRONT_BYTES + manifest->count * RUN_BYTES;
    uint8_t *bytes = arena_alloc(&op->arena, size + CRC_BYTES);

    bytes[0] = FORMAT;
    put_le(bytes + 1, manifest->next_run, 8);
    put_le(bytes + 9, manifest->count, 4);
    for (size_t i = 0; i < manifest->count; i++)
        put_run(bytes + FRONT_BYTES + i * RUN_BYTES, &manifest->run[i]);
    put_le(bytes + size, crc32c(0, bytes, size), CRC_BYTES);
    return slice_make(bytes, size + CRC_BYTES);
}

static bool is_manifest(struct slice value)
{
    size_t size;

    if (value.size < FRONT_BYTES + CRC_BYTES || value.data[0] != FORMAT)
        return false;
    size = value.size - CRC_BYTES;
    return size == FRONT_BYTES + get_le(value.data + 9, 4) * RUN_BYTES &&
           get_le(value.data + size, CRC_BYTES) == crc32c(0, value.data, size);
}

enum status manifest_decode(struct op *op, struct slice value, struct manifest *manifest)
{
    *manifest = (struct manifest){ .next_run = 1 };
    if (!value.data)
        return ST_OK;
    if (!is_manifest(value))
        return op_fail(op, ST_CORRUPT, "The list of the index's runs is damaged.");
    manifest->next_run = get_le(value.data + 1, 8);
    manifest->count = (size_t)get_le(value.data + 9, 4);
    manifest->run = arena_alloc(&op->arena, (manifest->count + 1) * sizeof(*manifest->run));
    for (size_t i = 0; i < manifest->count; i++)
        get_run(value.data + FRONT_BYTES + i * RUN_BYTES, &manifest->run[i]);
    return ST_OK;
}

struct slice settled_encode(struct op *op, uint64_t lsn)
{
    uint8_t *bytes = arena_alloc(&op->arena, SETTLED_BYTES);

    bytes[0] = FORMAT;
    put_le(bytes + 1, lsn, 8);
    return slice_make(bytes, SETTLED_BYTES);
}

enum status settled_decode(struct op *op, struct slice value, uint64_t *lsn)
{
    *lsn = 0;
    if (!value.data)
        return ST_OK;
    if (value.size != SETTLED_BYTES || value.data[0] != FORMAT)
        return op_fail(op, ST_CORRUPT, "How far a bucket's index is written out is damaged.");
    *lsn = get_le(value.data + 1, 8);
    return ST_OK;
}
