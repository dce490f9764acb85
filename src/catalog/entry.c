/* src/catalog/entry.c - databases and containers as structs: made from records, counted by reference. */
#include <stdlib.h>

#include "base/heap.h"
#include "catalog/definition.h"
#include "catalog/entry.h"
#include "catalog/ranges.h"

void database_release(struct database *database)
{
    if (!database || atomic_fetch_sub(&database->references, 1) > 1)
        return;
    meter_release(database->meter);
    arena_free(&database->memory);
    free(database);
}

static void progress_release(struct container_progress *progress)
{
    if (atomic_fetch_sub(&progress->references, 1) == 1)
        free(progress);
}

static void container_free(struct container *container)
{
    struct container *successor = atomic_load(&container->successor);

    if (successor)
        atomic_fetch_sub(&successor->predecessors, 1);
    database_release(container->database);
    shape_release(container->shape);
    progress_release(container->progress);
    meter_release(container->meter);
    arena_free(&container->memory);
    free(container);
}

void container_release(struct container *container)
{
    while (container && atomic_fetch_sub(&container->references, 1) == 1) {
        struct container *successor = atomic_load(&container->successor);

        container_free(container);
        container = successor;
    }
}

struct database *database_take(struct database *database)
{
    if (database)
        atomic_fetch_add(&database->references, 1);
    return database;
}

struct container *container_take(struct container *container)
{
    if (container)
        atomic_fetch_add(&container->references, 1);
    return container;
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

    arena_init(&database->memory, SIZE_MAX);
    database->rid = *rid;
    database->id = arena_copy(&database->memory, json_string(json_get(record->document, "id")));
    database->link = catalog_join(&database->memory, slice_of("dbs"), "/", database->id);
    database->etag = record->etag;
    database->ts_ms = record->ts_ms;
    database->meter = meter_new();
    atomic_init(&database->references, 1);
    return database;
}

uint64_t container_number(const struct rid *rid)
{
    return (uint64_t)(rid->bytes[4] & 0x7f) << 24 | (uint64_t)rid->bytes[5] << 16 |
           (uint64_t)rid->bytes[6] << 8 | rid->bytes[7];
}

struct record container_record(struct op *op, const struct versions *versions,
                               const struct range_table *ranges, bool keeps_unique)
{
    bool listed = ranges->version > RANGES_FIRST_VERSION;

    return (struct record){
        .document = listed ? ranges_store(op, ranges, versions->definition) : versions->definition,
        .policy_version = versions->version,
        .number = ranges->count,
        .flags = (uint8_t)((keeps_unique ? RECORD_KEEPS_UNIQUE : 0) | (listed ? RECORD_HAS_RANGES : 0)),
    };
}

static struct container *make(struct database *database, const struct rid *rid, const struct record *record,
                              struct bucket *bucket)
{
    struct container *container = heap_allocate(sizeof(*container));
    struct arena *memory = &container->memory;

    arena_init(memory, SIZE_MAX);
    container->rid = *rid;
    container->definition = json_from_bytes(arena_copy(memory, json_bytes(record->document)));
    container->id = json_string(json_get(container->definition, "id"));
    container->link = catalog_join(memory, database->link, "/colls/", container->id);
    container->etag = record->etag;
    container->ts_ms = record->ts_ms;
    container->database = database_take(database);
    container->bucket = bucket;
    container->shape = shape_new();
    container->progress = heap_allocate(sizeof(*container->progress));
    atomic_init(&container->progress->references, 1);
    container->meter = meter_new();
    atomic_init(&container->references, 1);
    container_read_key(container);
    container_read_ttl(container);
    container_read_retention(container);
    container->keeps_unique = record->flags & RECORD_KEEPS_UNIQUE;
    if (container->keeps_unique)
        container_read_unique_keys(container);
    return container;
}

enum status container_make(struct op *op, index_compute *compute, struct database *database,
                           const struct rid *rid, const struct record *record, struct bucket *bucket,
                           struct container **container)
{
    struct container *made = make(database, rid, record, bucket);
    enum status st;

    TRY(ranges_read(op, made, record));
    TRY(versions_read(op, compute, made, record->policy_version));
    *container = made;
    made = NULL;
out:
    container_release(made);
    return st;
}

void container_share(const struct container *old, struct container *new)
{
    shape_release(new->shape);
    new->shape = shape_take(old->shape);
    meter_release(new->meter);
    new->meter = meter_take(old->meter);
}

void container_share_progress(const struct container *old, struct container *new)
{
    progress_release(new->progress);
    atomic_fetch_add(&old->progress->references, 1);
    new->progress = old->progress;
}

uint64_t container_lsn(const struct container *container)
{
    return bucket_lsn(container->bucket);
}

bool container_usage(const struct container *container, struct bucket_usage *usage)
{
    return bucket_usage(container->bucket, usage);
}
