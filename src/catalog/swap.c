/* src/catalog/swap.c - two containers change names, in one commit; their items stay where they are. */
#include <assert.h>

#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/entry.h"

enum { SIDES = 2 };

/* One of the two, while they change names. */
struct side {
    struct container *now, *made;
    const uint64_t *lsn; /* that its parts are expected to be at */
    struct record record;
};

struct swap {
    struct side side[SIDES];
    const struct container_at *unchanged; /* others that nobody may have written to */
    size_t unchanged_count;
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

static enum status find_side(struct op *op, struct catalog *catalog, const struct container_at *wanted,
                             struct side *side)
{
    side->now = catalog_find_by_rid(catalog, &wanted->container->rid);
    side->lsn = wanted->lsn;
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

/* An empty commit of a part, which expects that nobody has written to it. */
static struct commit nothing_since(struct op *op, const struct container *part, uint64_t lsn)
{
    struct batch *batch = batch_new(op, part->bucket_id);

    batch_expect_last(batch, lsn);
    return (struct commit){ .batch = batch, .bucket = part->bucket };
}

static bool is_side(const struct swap *swap, const struct container *container)
{
    return rid_equal(&container->rid, &swap->side[0].now->rid) ||
           rid_equal(&container->rid, &swap->side[1].now->rid);
}

static size_t count_parts(const struct swap *swap)
{
    size_t count = swap->side[0].now->part_count + swap->side[1].now->part_count;

    for (size_t i = 0; i < swap->unchanged_count; i++)
        count += swap->unchanged[i].container->part_count;
    return count;
}

/*
 * Session tokens go by names: whoever has one of the old container of a name can read the new one, which begins above it. See past.h.
 */
static enum status commit_sides(struct op *op, struct catalog *catalog, struct batch *batch,
                                struct swap *swap)
{
    struct side *side = swap->side;
    uint64_t of[SIDES] = { container_lsn(side[0].now), container_lsn(side[1].now) };
    struct commit *commits = arena_alloc(&op->arena, (count_parts(swap) + 1) * sizeof(*commits)),
                  *next = commits;

    for (int i = 0; i < SIDES; i++)
        for (uint32_t part = 0; part < side[i].now->part_count; part++) {
            *next = nothing_since(op, side[i].now->part[part], side[i].lsn[part]);
            batch_begins_above(next++->batch, of[0] > of[1] ? of[0] : of[1]);
        }
    for (size_t i = 0; i < swap->unchanged_count; i++) {
        const struct container_at *other = &swap->unchanged[i];

        for (uint32_t part = 0; !is_side(swap, other->container) && part < other->container->part_count;
             part++)
            *next++ = nothing_since(op, other->container->part[part], other->lsn[part]);
    }
    return change_commit_with(op, catalog, batch, commits, (size_t)(next - commits), &side[0].record);
}

/* What was held until now is done. */
static void put_holds(struct op *op, struct catalog *catalog, struct batch *batch, const struct swap *swap,
                      struct holds *holds)
{
    *holds = catalog->holds;
    for (int i = 0; i < SIDES; i++)
        holds_forget(holds, container_number(&swap->side[i].now->rid), env_now_ms(op->env));
    if (catalog_is_shared(catalog))
        batch_put(batch, key_held(&op->arena), holds_encode(op, holds));
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
    for (int i = 0; i < SIDES; i++) {
        container_is_unknown(side[i].now);
        container_release(side[i].now); /* the maps' own reference */
    }
out:
    return st;
}

static enum status change_names(struct op *op, struct catalog *catalog, struct swap *swap)
{
    struct batch *batch = change_begin(op, catalog);
    struct side *side = swap->side;
    struct holds before = catalog->holds, holds;
    enum status st;

    for (int i = 0; i < SIDES; i++)
        container_retire(side[i].now);
    for (int i = 0; i < SIDES; i++)
        TRY(put_side(op, batch, &side[i], side[1 - i].now));
    put_holds(op, catalog, batch, swap, &holds);
    TRY(commit_sides(op, catalog, batch, swap));
    TRY(make_sides(op, catalog, side));
    catalog->holds = holds;
    holds_tell(op->env, catalog, &before);
out:
    for (int i = 0; st != ST_OK && st != ST_AMBIGUOUS && i < SIDES; i++)
        container_go_on(side[i].now); /* under its name of before */
    return st;
}

static enum status was_written_to(struct op *op, struct slice link)
{
    return op_fail(op, ST_PRECONDITION_FAILED,
                   "The container '%.*s' is not at the LSN that is named: it was written to.",
                   SLICE_ARGS(link));
}

/* As far as is known: the commit finds out the rest. */
static enum status check_at(struct op *op, const struct container *container, const uint64_t *lsn)
{
    uint64_t newest;
    enum status st;

    TRY(container_newest_lsn(op, container, &newest));
    if (!container_is_at(container, lsn))
        TRY(was_written_to(op, container->link));
out:
    return st;
}

static enum status find_and_swap(struct op *op, struct catalog *catalog,
                                 const struct container_at pair[SIDES], struct swap *swap)
{
    enum status st = ST_OK;

    for (int i = 0; i < SIDES; i++)
        TRY(find_side(op, catalog, &pair[i], &swap->side[i]));
    for (int i = 0; i < SIDES; i++)
        TRY(check_at(op, swap->side[i].now, swap->side[i].lsn));
    for (size_t i = 0; i < swap->unchanged_count; i++)
        TRY(check_at(op, swap->unchanged[i].container, swap->unchanged[i].lsn));
    st = change_names(op, catalog, swap);
    if (st == ST_WRITE_CONFLICT)
        st = was_written_to(op, swap->side[0].now->link);
out:
    return st;
}

enum status catalog_swap_containers(struct op *op, struct catalog *catalog,
                                    const struct container_at pair[SIDES],
                                    const struct container_at *unchanged, size_t unchanged_count,
                                    uint64_t *after)
{
    struct swap swap = { .unchanged = unchanged, .unchanged_count = unchanged_count };
    enum status st = change_lock(op, catalog);

    assert(!rid_equal(&pair[0].container->rid, &pair[1].container->rid));
    assert(pair[0].container->database == pair[1].container->database);
    if (st == ST_OK)
        st = find_and_swap(op, catalog, pair, &swap);
    if (st == ST_OK)
        *after = container_lsn(swap.side[0].now);
    change_unlock(catalog);
    for (int i = 0; i < SIDES; i++)
        container_release(swap.side[i].now);
    return st;
}
