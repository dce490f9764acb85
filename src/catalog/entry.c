/* src/catalog/entry.c - databases and containers as structs: made from records, counted by reference. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "catalog/definition.h"
#include "catalog/entry.h"
#include "catalog/parts.h"
#include "catalog/ranges.h"
#include "keys/keys.h"
#include "vector/columns.h"
#include "words/lists.h"

void database_release(struct database *database)
{
    if (!database || !crowd_less(&database->references))
        return;
    meter_release(database->meter);
    arena_free(&database->memory);
    free(database);
}

static void container_free(struct container *container)
{
    struct container *successor = atomic_load(&container->life->successor);

    if (successor)
        atomic_fetch_sub(&successor->life->predecessors, 1);
    door_free(&container->life->pins);
    database_release(container->database);
    shape_release(container->shape);
    meter_release(container->meter);
    for (uint32_t i = 0; i < container->part_count; i++) {
        vector_shelf_release(container->part[i]->vectors);
        word_shelf_release(container->part[i]->words);
    }
    arena_free(&container->memory);
    free(container);
}

void container_release(struct container *container)
{
    if (container)
        container = container->whole;
    while (container && crowd_less(&container->life->references)) {
        struct container *successor = atomic_load(&container->life->successor);

        container_free(container);
        container = successor;
    }
}

void database_is_known(struct database *database)
{
    crowd_spread(&database->references);
}

void database_is_unknown(struct database *database)
{
    crowd_gather(&database->references);
}

void container_is_known(struct container *container)
{
    crowd_spread(&container->life->references);
}

void container_is_unknown(struct container *container)
{
    crowd_gather(&container->life->references);
}

/* Only a holder of a reference takes another one, or who has found it in the maps. When there is none, the struct is gone. */
struct database *database_take(struct database *database)
{
    if (database)
        crowd_more(&database->references);
    return database;
}

struct container *container_take(struct container *container)
{
    if (container)
        crowd_more(&container->life->references);
    return container;
}

bool container_pin(const struct container *container)
{
    return door_enter(&container->life->pins);
}

void container_unpin(const struct container *container)
{
    door_leave(&container->life->pins);
}

void container_retire(const struct container *container)
{
    assert(!container_successor(container)); /* it is the version of now */
    door_close(&container->life->pins);
}

void container_go_on(const struct container *container)
{
    assert(!container_successor(container));
    door_open(&container->life->pins);
}

const struct container *container_successor(const struct container *container)
{
    const struct container *next = atomic_load(&container->life->successor);

    return next && container->whole != container ? next->part[container->part_index] : next;
}

const struct container *container_latest(const struct container *container)
{
    const struct container *next;

    while ((next = container_successor(container)))
        container = next;
    return container;
}

bool container_is_renamed(const struct container *container)
{
    return !slice_equal(container_latest(container)->id, container->id);
}

bool container_is_alone(const struct container *container)
{
    return atomic_load(&container->life->predecessors) == 0;
}

struct slice catalog_join(struct arena *arena, struct slice a, const char *middle, struct slice b)
{
    struct buf out;

    buf_init(&out, arena);
    buf_slice(&out, a);
    buf_text(&out, middle);
    buf_slice(&out, b);
    return buf_as_slice(&out);
}

struct database *database_make(const struct rid *rid, const struct record *record)
{
    struct database *database = heap_allocate(sizeof(*database));

    assert(rid->size == RID_DATABASE_BYTES);
    arena_init(&database->memory, SIZE_MAX);
    database->rid = *rid;
    database->id = arena_copy(&database->memory, json_string(json_get(record->document, "id")));
    database->link = catalog_join(&database->memory, slice_of("dbs"), "/", database->id);
    database->etag = record->etag;
    database->ts_ms = record->ts_ms;
    database->meter = meter_new();
    crowd_init(&database->references);
    return database;
}

uint64_t container_number(const struct rid *rid)
{
    return (uint64_t)(rid->bytes[4] & 0x7f) << 24 | (uint64_t)rid->bytes[5] << 16 |
           (uint64_t)rid->bytes[6] << 8 | rid->bytes[7];
}

unsigned container_kept_flags(const struct container *container)
{
    return (container->keeps_unique ? RECORD_KEEPS_UNIQUE : 0) |
           (container->rids_by_creation ? RECORD_RIDS_BY_CREATION : 0);
}

struct record container_record(struct op *op, const struct versions *versions,
                               const struct range_table *ranges, uint32_t part_count, unsigned kept)
{
    bool listed = ranges->version > RANGES_FIRST_VERSION;

    assert(ranges->version >= RANGES_FIRST_VERSION);
    assert((kept & ~(unsigned)CONTAINER_KEPT_FLAGS) == 0);
    return (struct record){
        .document = listed ? ranges_store(op, ranges, versions->definition) : versions->definition,
        .policy_version = versions->version,
        .number = (uint64_t)(part_count - 1) << RECORD_RANGE_BITS | ranges->count,
        .flags =
            (uint8_t)(kept | (listed ? RECORD_HAS_RANGES : 0) | (versions->has_seed ? RECORD_HAS_SEED : 0)),
    };
}

uint32_t container_record_parts(const struct record *record)
{
    return (uint32_t)(record->number >> RECORD_RANGE_BITS) + 1;
}

/* Without its parts. */
static struct container *make(struct database *database, const struct rid *rid, const struct record *record)
{
    struct container *container = heap_allocate(sizeof(*container));
    struct arena *memory = &container->memory;

    assert(rid->size == RID_CONTAINER_BYTES);
    assert(memcmp(rid->bytes, database->rid.bytes, RID_DATABASE_BYTES) == 0); /* it begins with its owner's */
    arena_init(memory, SIZE_MAX);
    container->rid = *rid;
    container->definition = json_from_bytes(arena_copy(memory, json_bytes(record->document)));
    container->id = json_string(json_get(container->definition, "id"));
    container->link = catalog_join(memory, database->link, "/colls/", container->id);
    container->name = catalog_join(memory, rid_slice(&database->rid), "", container->id);
    container->etag = record->etag;
    container->ts_ms = record->ts_ms;
    container->database = database_take(database);
    container->whole = container;
    container->shape = shape_new();
    container->edition = 1;
    container->meter = meter_new();
    container->life = arena_alloc(memory, sizeof(*container->life));
    *container->life = (struct container_life){ 0 };
    crowd_init(&container->life->references);
    door_init(&container->life->pins);
    container_read_key(container);
    container_read_ttl(container);
    container_read_retention(container);
    container->keeps_unique = record->flags & RECORD_KEEPS_UNIQUE;
    container->rids_by_creation = record->flags & RECORD_RIDS_BY_CREATION;
    if (container->keeps_unique)
        container_read_unique_keys(container);
    return container;
}

struct rid container_item_rid(const struct container *container, uint64_t number)
{
    return rid_child(&container->rid, RID_DOCUMENT,
                     container->rids_by_creation ? number_by_creation(number) : number);
}

bool container_item_number(const struct container *container, const struct rid *rid, uint64_t *number)
{
    if (!rid_child_number(rid, RID_DOCUMENT, number) ||
        memcmp(rid->bytes, container->rid.bytes, container->rid.size) != 0)
        return false;
    if (container->rids_by_creation)
        *number = number_from_creation(*number);
    return true;
}

enum status container_make(struct op *op, index_compute *compute, struct database *database,
                           const struct rid *rid, const struct record *record, struct bucket *const *buckets,
                           struct container **container)
{
    struct container *made = make(database, rid, record);
    enum status st;

    TRY(ranges_read(op, made, record));
    TRY(versions_read(op, compute, made, bucket_keeps_entries(buckets[0]), record->policy_version));
    parts_make(made, buckets, container_record_parts(record));
    *container = made;
    made = NULL;
out:
    container_release(made);
    return st;
}

void container_share(const struct container *old, struct container *new, bool same)
{
    assert(rid_equal(&old->rid, &new->rid));
    assert(!container_successor(new)); /* it is the newest */
    shape_release(new->shape);
    new->shape = shape_take(old->shape);
    meter_release(new->meter);
    new->meter = meter_take(old->meter);
    new->edition = same ? old->edition : old->edition + 1;
    parts_share(old, new);
    if (same)
        container_note_indexed(new, atomic_load_explicit(&old->life->indexed, memory_order_relaxed));
}
