/* src/catalog/hold.c - containers whose writes are told to come back: in meters, and in the store where others write, too. */
#include "catalog/change.h"
#include "catalog/entry.h"
#include "keys/bytes.h"

/* format 1, then container 8 and time 8 of each */
enum { HOLDS_FORMAT = 1, HOLD_BYTES = 16 };

struct slice holds_encode(struct op *op, const struct holds *holds)
{
    size_t size = 1 + holds->count * HOLD_BYTES;
    uint8_t *bytes = arena_alloc(&op->arena, size), *at = bytes + 1;

    bytes[0] = HOLDS_FORMAT;
    for (size_t i = 0; i < holds->count; i++, at += HOLD_BYTES) {
        put_le(at, holds->hold[i].container, 8);
        put_le(at + 8, (uint64_t)holds->hold[i].until_ms, 8);
    }
    return slice_make(bytes, size);
}

enum status holds_decode(struct op *op, struct slice value, struct holds *holds)
{
    size_t count = value.size / HOLD_BYTES;

    if (value.size != 1 + count * HOLD_BYTES || count > HOLDS_MAX || value.data[0] != HOLDS_FORMAT)
        return op_fail(op, ST_CORRUPT,
                       "What tells which containers are held is damaged, or newer than this program.");
    holds->count = count;
    for (size_t i = 0; i < count; i++) {
        const char *at = value.data + 1 + i * HOLD_BYTES;

        holds->hold[i] = (struct hold){ get_le(at, 8), (int64_t)get_le(at + 8, 8) };
    }
    return ST_OK;
}

/* ---- meters ---- */

static void tell(struct env *env, const struct container *container, int64_t until_ms)
{
    int64_t left_ms = until_ms - env_now_ms(env);

    atomic_store(&container->meter->held_until_us, left_ms > 0 ? env_monotonic_us(env) + left_ms * 1000 : 0);
}

static bool knows_number(const struct container *container, const void *number)
{
    return container_number(&container->rid) == *(const uint64_t *)number;
}

static void tell_by_number(struct env *env, struct catalog *catalog, uint64_t number, int64_t until_ms)
{
    struct container *container;

    if (catalog_list_where(catalog, knows_number, &number, &container, 1) == 0)
        return; /* it was dropped */
    tell(env, container, until_ms);
    container_release(container);
}

void holds_tell(struct env *env, struct catalog *catalog, const struct holds *before)
{
    for (size_t i = 0; i < before->count; i++)
        tell_by_number(env, catalog, before->hold[i].container, 0);
    for (size_t i = 0; i < catalog->holds.count; i++)
        tell_by_number(env, catalog, catalog->holds.hold[i].container, catalog->holds.hold[i].until_ms);
}

/* ---- where others write, too ---- */

void holds_forget(struct holds *holds, uint64_t container, int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < holds->count; i++)
        if (holds->hold[i].container != container && holds->hold[i].until_ms > now_ms)
            holds->hold[kept++] = holds->hold[i];
    holds->count = kept;
}

static enum status share(struct op *op, struct catalog *catalog, const struct container *container,
                         int64_t until_ms)
{
    struct batch *batch = change_begin(op, catalog);
    struct holds holds = catalog->holds;
    enum status st;

    holds_forget(&holds, container_number(&container->rid), env_now_ms(op->env));
    if (holds.count == HOLDS_MAX)
        TRY(op_fail(op, ST_TOO_MANY_REQUESTS, "%d containers are held already.", HOLDS_MAX));
    if (until_ms)
        holds.hold[holds.count++] = (struct hold){ container_number(&container->rid), until_ms };
    batch_put(batch, key_held(&op->arena), holds_encode(op, &holds));
    change_redefines(batch, &container->rid, container->part_count, false);
    TRY(change_commit(op, catalog, batch, NULL));
    catalog->holds = holds;
out:
    return st;
}

enum status catalog_hold_container(struct op *op, struct catalog *catalog, const struct container *container,
                                   int64_t ms)
{
    int64_t until_ms = ms ? env_now_ms(op->env) + ms : 0;
    enum status st = ST_OK;

    if (catalog_is_shared(catalog)) {
        st = change_lock(op, catalog);
        if (st == ST_OK)
            st = share(op, catalog, container, until_ms);
        change_unlock(catalog);
    }
    if (st == ST_OK)
        tell(op->env, container, until_ms);
    return st;
}
