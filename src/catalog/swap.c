/* src/catalog/swap.c - two containers change names, in one commit; their items stay where they are. */
#include <assert.h>

#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/entry.h"

enum { SIDES = 2 };

/* One of the two, while they change names. */
struct side {
    struct container *now, *made;
    struct record record;
};

/* The same members in the same order, with another id. */
static struct json with_id(struct op *op, struct json definition, struct slice id)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    for (struct json_iter i = json_iter(definition); json_next(&i);) {
        json_add_name(&out, i.name);
        if (slice_is(i.name, "id"))
            json_add_string(&out, id);
        else
            json_add(&out, i.value);
    }
    json_end(&out);
    return json_built(&out);
}

static enum status find_side(struct op *op, struct catalog *catalog, const struct container *wanted,
                             struct side *side)
{
    side->now = catalog_find_by_rid(catalog, &wanted->rid);
    return side->now ? ST_OK : op_fail_as(op, ST_NOT_FOUND);
}

/* Puts the container with the other one's id into the batch. */
static enum status put_side(struct op *op, struct batch *batch, struct side *side,
                            const struct container *other)
{
    struct versions versions;
    enum status st;

    TRY(versions_replace(op, side->now, with_id(op, side->now->definition, other->id), &versions));
    side->record = container_record(op, &versions, &side->now->ranges, side->now->part_count,
                                    container_kept_flags(side->now));
    TRY(change_put(op, batch, key_catalog(&op->arena, rid_slice(&side->now->rid)), &side->record));
    change_redefines(batch, &side->now->rid, side->now->part_count, false);
out:
    return st;
}

/* Session tokens go by names: whoever has one of the old container of a name can read the new one. See past.h. */
static struct commit above_all(struct op *op, struct bucket *bucket, uint64_t lsn)
{
    struct batch *batch = batch_new(op, bucket_id(bucket));

    batch_begins_above(batch, lsn);
    return (struct commit){ .batch = batch, .bucket = bucket };
}

static enum status commit_sides(struct op *op, struct catalog *catalog, struct batch *batch,
                                struct side side[SIDES])
{
    uint64_t of[SIDES] = { container_lsn(side[0].now), container_lsn(side[1].now) };
    uint32_t parts = side[0].now->part_count + side[1].now->part_count;
    struct commit *commits = arena_alloc(&op->arena, (parts + 1) * sizeof(*commits)), *next = commits;

    for (int i = 0; i < SIDES; i++)
        for (uint32_t part = 0; part < side[i].now->part_count; part++)
            *next++ = above_all(op, side[i].now->part[part]->bucket, of[0] > of[1] ? of[0] : of[1]);
    return change_commit_with(op, catalog, batch, commits, parts, &side[0].record);
}

static enum status make_side(struct op *op, struct catalog *catalog, struct side *side)
{
    const struct container *now = side->now;
    struct bucket **buckets = arena_alloc(&op->arena, now->part_count * sizeof(struct bucket *));

    for (uint32_t i = 0; i < now->part_count; i++)
        buckets[i] = now->part[i]->bucket;
    return container_make(op, catalog->compute, now->database, &now->rid, &side->record, buckets,
                          &side->made);
}

static enum status make_sides(struct op *op, struct catalog *catalog, struct side side[SIDES])
{
    enum status st = ST_OK;

    side[1].record.ts_ms = side[0].record.ts_ms; /* of the one commit */
    for (int i = 0; i < SIDES; i++)
        TRY(make_side(op, catalog, &side[i]));
    for (int i = 0; i < SIDES; i++) {
        container_share(side[i].now, side[i].made, false);
        change_version(side[i].now, side[i].made);
    }
    catalog_add_swapped(catalog, side[0].made, side[1].made);
    for (int i = 0; i < SIDES; i++)
        container_release(side[i].now); /* the maps' own reference */
out:
    return st;
}

static enum status swap(struct op *op, struct catalog *catalog, struct side side[SIDES])
{
    struct batch *batch = change_begin(op, catalog);
    enum status st;

    for (int i = 0; i < SIDES; i++)
        container_retire(side[i].now);
    for (int i = 0; i < SIDES; i++)
        TRY(put_side(op, batch, &side[i], side[1 - i].now));
    TRY(commit_sides(op, catalog, batch, side));
    TRY(make_sides(op, catalog, side));
out:
    for (int i = 0; st != ST_OK && st != ST_AMBIGUOUS && i < SIDES; i++)
        container_go_on(side[i].now); /* under its name of before */
    return st;
}

static enum status check_sides(struct op *op, const struct side side[SIDES], const uint64_t *const lsn[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        if (!container_is_at(side[i].now, lsn[i]))
            return op_fail(op, ST_PRECONDITION_FAILED,
                           "The container '%.*s' is not at the LSN that is named: it was written to.",
                           SLICE_ARGS(side[i].now->link));
    return ST_OK;
}

static enum status find_and_swap(struct op *op, struct catalog *catalog, struct container *const pair[SIDES],
                                 const uint64_t *const lsn[SIDES], uint64_t *after)
{
    struct side side[SIDES] = { 0 };
    enum status st = ST_OK;

    for (int i = 0; i < SIDES; i++)
        TRY(find_side(op, catalog, pair[i], &side[i]));
    TRY(check_sides(op, side, lsn));
    TRY(swap(op, catalog, side));
    *after = container_lsn(side[0].now);
out:
    for (int i = 0; i < SIDES; i++)
        container_release(side[i].now);
    return st;
}

enum status catalog_swap_containers(struct op *op, struct catalog *catalog,
                                    struct container *const pair[SIDES], const uint64_t *const lsn[SIDES],
                                    uint64_t *after)
{
    enum status st = change_lock(op, catalog);

    assert(!rid_equal(&pair[0]->rid, &pair[1]->rid));
    assert(pair[0]->database == pair[1]->database);
    if (st == ST_OK)
        st = find_and_swap(op, catalog, pair, lsn, after);
    change_unlock(catalog);
    return st;
}
