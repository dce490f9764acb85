/* src/catalog/catalog.c - databases and containers: opened, created, replaced, dropped, swept away. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/definition.h"
#include "catalog/entry.h"
#include "catalog/ranges.h"
#include "keys/bytes.h"

/* --- reading the definitions from the store --- */

/*
 * What did not change is not made anew, when the catalog is: those who hold it go on with the newest version. Each is a
 * reference, or NULL.
 */
static struct database *unchanged_database(const struct catalog *catalog, const struct rid *rid,
                                           const struct record *record)
{
    struct database *known =
        catalog->before ? map_find(&catalog->before->known.databases_by_rid, rid_slice(rid)) : NULL;

    return known && known->etag == record->etag ? database_take(known) : NULL;
}

static struct container *unchanged_container(const struct catalog *catalog, const struct rid *rid,
                                             const struct record *record)
{
    struct container *known =
        catalog->before ? map_find(&catalog->before->known.containers_by_rid, rid_slice(rid)) : NULL;

    return known && known->stored.size && slice_equal(known->stored, record->stored) ? container_take(known)
                                                                                     : NULL;
}

static void load_database(struct catalog *catalog, const struct rid *rid, const struct record *record)
{
    struct database *database = unchanged_database(catalog, rid, record);

    catalog_add_database(catalog, database ? database : database_make(rid, record));
}

/* Those that the items of a container lie in, in the op's arena. */
static enum status find_buckets(struct op *op, const struct catalog *catalog, uint64_t container,
                                uint32_t count, struct bucket ***buckets)
{
    enum status st = ST_OK;

    if (count > CONTAINER_RANGES_MAX)
        TRY(op_fail(op, ST_CORRUPT, "the catalog has a container of too many buckets"));
    *buckets = arena_alloc(&op->arena, count * sizeof(struct bucket *));
    for (uint32_t i = 0; i < count; i++)
        TRY(store_bucket(op, catalog->store, bucket_make(container, i), &(*buckets)[i]));
out:
    return st;
}

static enum status make_container(struct op *op, const struct catalog *catalog, struct database *database,
                                  const struct rid *rid, const struct record *record,
                                  struct container **container)
{
    struct bucket **buckets;
    enum status st;

    TRY(find_buckets(op, catalog, container_number(rid), container_record_parts(record), &buckets));
    TRY(container_make(op, catalog->compute, database, rid, record, buckets, container));
    if (store_is_shared(catalog->store))
        (*container)->stored = arena_copy(&(*container)->memory, record->stored);
    if (!(*container)->keeps_unique && definition_has_unique_keys((*container)->definition))
        log_line(LOG_WARN, "%s is from a version that did not enforce unique keys: they are not enforced",
                 log_quote((*container)->link).text);
out:
    return st;
}

static enum status load_container(struct op *op, struct catalog *catalog, const struct rid *rid,
                                  const struct record *record)
{
    struct database *database =
        map_find(&catalog->known.databases_by_rid, slice_make(rid->bytes, RID_DATABASE_BYTES));
    struct container *container;
    enum status st = ST_OK;

    if (!database)
        TRY(op_fail(op, ST_CORRUPT, "the catalog has a container without its database"));
    container = unchanged_container(catalog, rid, record);
    if (!container)
        TRY(make_container(op, catalog, database, rid, record, &container));
    catalog_add_container(catalog, container);
out:
    return st;
}

/* An owner's row comes before the rows of its children, because their rids begin with the owner's rid. */
static enum status load_one(struct op *op, struct catalog *catalog, void *context, const struct row *row)
{
    struct key_parts parts;
    struct record record;
    struct rid rid = { 0 };
    enum status st;

    (void)context;
    if (!key_parse(row->key, &parts) || parts.rest.size > RID_BYTES_MAX)
        TRY(op_fail(op, ST_CORRUPT, "the catalog has a malformed key"));
    rid.size = (uint8_t)parts.rest.size;
    memcpy(rid.bytes, parts.rest.data, parts.rest.size);
    TRY(record_decode(op, row->value, &record));
    if (rid_type(&rid) == RID_TYPE_DATABASE)
        load_database(catalog, &rid, &record);
    else if (rid_type(&rid) == RID_TYPE_CONTAINER)
        TRY(load_container(op, catalog, &rid, &record));
    else
        TRY(child_load(op, catalog, &rid, &record));
out:
    return st;
}

enum { KEY_LAST_MAX = 64 }; /* a bucket, a kind, and a rid or a number */

/* Visits the rows of one kind in the catalog's bucket, a block at a time. */
static enum status for_each(struct op *op, struct catalog *catalog, struct snapshot *snapshot,
                            enum key_kind kind,
                            enum status (*visit)(struct op *, struct catalog *, void *, const struct row *),
                            void *context)
{
    struct range range = { key_kind_first(&op->arena, CATALOG_BUCKET, kind),
                           key_kind_end(&op->arena, CATALOG_BUCKET, kind), false };
    struct scan_limit limit = { .rows = 1000, .bytes = PAGE_BYTES_MAX };
    struct rows rows;
    char last[KEY_LAST_MAX + 1] = { 0 };
    enum status st;

    do {
        struct arena_mark mark = arena_mark(&op->arena);

        TRY(store_scan(op, snapshot, range, limit, &rows));
        assert(rows.count > 0 || !rows.more); /* each block goes on behind the one before it */
        for (size_t i = 0; i < rows.count; i++)
            TRY(visit(op, catalog, context, &rows.row[i]));
        if (rows.count) { /* the least key after the last one */
            struct slice key = rows.row[rows.count - 1].key;

            assert(key.size <= KEY_LAST_MAX);
            memcpy(last, key.data, key.size);
            last[key.size] = '\0';
            range.from = slice_make(last, key.size + 1);
        }
        arena_rewind(&op->arena, mark); /* visit() has copied what it keeps */
    } while (rows.more);
out:
    return st;
}

static enum status load_offer(struct op *op, struct catalog *catalog, void *context, const struct row *row)
{
    struct rid owner = { 0 };
    struct record record;
    struct key_parts parts;
    enum status st;

    (void)context;
    if (!key_parse(row->key, &parts) || parts.rest.size > RID_BYTES_MAX)
        TRY(op_fail(op, ST_CORRUPT, "the catalog has a malformed key"));
    owner.size = (uint8_t)parts.rest.size;
    memcpy(owner.bytes, parts.rest.data, parts.rest.size);
    TRY(record_decode(op, row->value, &record));
    TRY(offer_load(op, catalog, &owner, &record));
out:
    return st;
}

static enum status load_past(struct op *op, struct catalog *catalog, void *context, const struct row *row)
{
    (void)context;
    return past_decode(op, row->value, &catalog->past);
}

static enum status load_holds(struct op *op, struct catalog *catalog, void *context, const struct row *row)
{
    (void)context;
    return holds_decode(op, row->value, &catalog->holds);
}

/* All of it as of one commit. */
enum status catalog_load(struct op *op, struct catalog *catalog)
{
    struct snapshot *snapshot = NULL;
    struct head head;
    enum status st;

    TRY(store_snapshot(op, catalog->bucket, &snapshot));
    TRY(store_snapshot_head(op, snapshot, &head));
    TRY(for_each(op, catalog, snapshot, KEY_CATALOG, load_one, NULL));
    TRY(for_each(op, catalog, snapshot, KEY_OFFER, load_offer, NULL));
    TRY(for_each(op, catalog, snapshot, KEY_PAST, load_past, NULL));
    TRY(for_each(op, catalog, snapshot, KEY_HELD, load_holds, NULL));
    catalog->lsn = head.lsn;
out:
    store_release(snapshot);
    return st;
}

/* --- changes --- */

static struct json id_document(struct op *op, struct slice id)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("id"));
    json_add_string(&out, id);
    json_end(&out);
    return json_built(&out);
}

static enum status create_database(struct op *op, struct catalog *catalog, struct slice id, struct json offer,
                                   struct database **database)
{
    struct batch *batch = change_begin(op, catalog);
    struct record record = { .document = id_document(op, id) }, offered;
    struct database *existing = catalog_find_database(catalog, id);
    uint64_t number;
    struct rid rid;
    enum status st;

    if (existing) {
        database_release(existing);
        return op_fail_as(op, ST_EXISTS);
    }
    do {
        number = bucket_next_counter(catalog->bucket);
        rid = rid_database((uint32_t)number);
    } while (map_find(&catalog->known.databases_by_id, change_rid_text(op, &rid))); /* promise 7 */
    assert(!map_find(&catalog->known.databases_by_rid, rid_slice(&rid)));           /* promise 2 */
    batch_uses_counter(batch, number);
    TRY(change_put(op, batch, key_catalog(&op->arena, rid_slice(&rid)), &record));
    TRY(offer_put(op, batch, &rid, number + 1, offer, &offered));
    TRY(change_commit(op, catalog, batch, &record));
    *database = database_take(database_make(&rid, &record));
    catalog_add_database(catalog, *database);
    offer_add(catalog, &rid, &offered, record.ts_ms);
out:
    return st;
}

enum status catalog_create_database_with_offer(struct op *op, struct catalog *catalog, struct slice id,
                                               struct json offer, struct database **database)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = create_database(op, catalog, id, offer, database);
    change_unlock(catalog);
    return st;
}

enum status catalog_create_database(struct op *op, struct catalog *catalog, struct slice id,
                                    struct database **database)
{
    return catalog_create_database_with_offer(op, catalog, id, json_undefined, database);
}

enum status catalog_check_owner(struct op *op, struct catalog *catalog, const struct rid *owner)
{
    const struct known *known = &catalog->known;
    enum rid_type type = rid_type(owner);
    bool found;

    readers_enter(&catalog->lock);
    if (type == RID_TYPE_DATABASE)
        found = map_find(&known->databases_by_rid, rid_slice(owner)) != NULL;
    else if (type == RID_TYPE_CONTAINER)
        found = map_find(&known->containers_by_rid, rid_slice(owner)) != NULL;
    else
        found = child_at(catalog, owner) != NULL;
    readers_leave(&catalog->lock);
    return found ? ST_OK : op_fail_as(op, ST_OWNER_NOT_FOUND);
}

/*
 * The value under key_dropped(): what past.h calls the container's name, and how many buckets it had beyond the first, if any.
 * Programs of format 1 wrote neither.
 */
enum { DROPPED_FORMAT = 2, DROPPED_BYTES = 9, DROPPED_PARTS_BYTES = 13 };

struct dropped {
    uint64_t number, name; /* of the container; the name is 0 when an old program wrote it */
    uint32_t part_count;
};

static void note_dropped(struct op *op, struct batch *batch, const struct container *container)
{
    uint8_t *value = arena_alloc(&op->arena, DROPPED_PARTS_BYTES);
    size_t size = container->part_count > 1 ? DROPPED_PARTS_BYTES : DROPPED_BYTES;

    value[0] = DROPPED_FORMAT;
    put_le(value + 1, past_name(container->link), 8);
    put_le(value + DROPPED_BYTES, container->part_count - 1, 4);
    batch_put(batch, key_dropped(&op->arena, container_number(&container->rid)), slice_make(value, size));
}

/* Whose data the row says is still to be removed. */
static enum status read_dropped(struct op *op, const struct row *row, struct dropped *dropped)
{
    struct key_parts parts;

    *dropped = (struct dropped){ .part_count = 1 };
    if (!key_parse(row->key, &parts) || !key_parse_dropped(&parts, &dropped->number))
        return op_fail(op, ST_CORRUPT, "the catalog has a malformed key");
    if (row->value.size >= DROPPED_BYTES && row->value.data[0] == DROPPED_FORMAT)
        dropped->name = get_le(row->value.data + 1, 8);
    if (row->value.size == DROPPED_PARTS_BYTES)
        dropped->part_count += (uint32_t)get_le(row->value.data + DROPPED_BYTES, 4);
    return ST_OK;
}

/* How far its buckets got. */
static enum status dropped_lsn(struct op *op, const struct catalog *catalog, const struct dropped *dropped,
                               uint64_t *lsn)
{
    struct bucket **buckets;
    enum status st;

    *lsn = 0;
    TRY(find_buckets(op, catalog, dropped->number, dropped->part_count, &buckets));
    for (uint32_t i = 0; i < dropped->part_count; i++) {
        uint64_t reached;

        TRY(store_newest_lsn(op, buckets[i], &reached));
        *lsn = *lsn > reached ? *lsn : reached;
    }
out:
    return st;
}

/* Looks for the last LSN of a container of that name that was dropped, whoever dropped it. */
struct search_dropped {
    uint64_t name, lsn;
};

static enum status note_lsn_of_dropped(struct op *op, struct catalog *catalog, void *context,
                                       const struct row *row)
{
    struct search_dropped *search = context;
    struct dropped dropped;
    uint64_t lsn = 0;
    enum status st;

    TRY(read_dropped(op, row, &dropped));
    if (dropped.name != search->name)
        goto out;
    TRY(dropped_lsn(op, catalog, &dropped, &lsn));
    if (search->lsn < lsn)
        search->lsn = lsn;
out:
    return st;
}

/*
 * The LSN that the last container of that link had reached, be its data removed by now or not. One that got no further than
 * its creation does not count: another one of its name has come as far when it is made.
 */
static enum status lsn_before(struct op *op, struct catalog *catalog, struct slice link, uint64_t *lsn)
{
    struct search_dropped search = { .name = past_name(link) };
    struct snapshot *snapshot = NULL;
    enum status st;

    thread_assert_locked(&catalog->changing);
    search.lsn = past_lsn(&catalog->past, search.name);
    TRY(store_snapshot(op, catalog->bucket, &snapshot));
    TRY(for_each(op, catalog, snapshot, KEY_DROPPED, note_lsn_of_dropped, &search));
    *lsn = search.lsn > CONTAINER_FIRST_LSN ? search.lsn : 0;
out:
    store_release(snapshot);
    return st;
}

/*
 * Its creation takes the first LSN of each bucket, which follows the last one of the old container of its name: see past.h.
 * There is room for the commit of the catalog.
 */
static struct commit *begin_items(struct op *op, struct bucket *const *buckets, uint32_t count,
                                  uint64_t above)
{
    struct commit *first = arena_alloc(&op->arena, (count + 1) * sizeof(*first));

    for (uint32_t i = 0; i < count; i++) {
        first[i] = (struct commit){ .batch = batch_new(op, bucket_id(buckets[i])), .bucket = buckets[i] };
        batch_begins_above(first[i].batch, above);
    }
    return first;
}

void catalog_divide(struct catalog *catalog, uint32_t buckets)
{
    assert(buckets <= CONTAINER_RANGES_MAX);
    catalog->buckets = buckets;
}

/* How many ranges and buckets a new container has. */
static void decide_parts(const struct catalog *catalog, struct json definition, uint32_t *ranges,
                         uint32_t *buckets)
{
    *buckets = 1;
    if (!catalog->buckets || definition_has_system_key(definition))
        return;
    if (*ranges < catalog->buckets)
        *ranges = catalog->buckets;
    *buckets = *ranges;
}

/* No container has its number yet, and none below the database is called like it: promises 2 and 7. */
static struct rid new_container_rid(struct op *op, struct catalog *catalog, const struct database *database,
                                    uint64_t *number)
{
    struct rid rid;

    do {
        *number = bucket_next_counter(catalog->bucket);
        rid = rid_container(&database->rid, (uint32_t)*number);
    } while (catalog_with_id(catalog, database, change_rid_text(op, &rid)));
    assert(container_number(&rid) == *number); /* the number has room in the rid */
    assert(!map_find(&catalog->known.containers_by_rid, rid_slice(&rid)));
    return rid;
}

static enum status put_container(struct op *op, struct catalog *catalog, struct database *database,
                                 struct json definition, uint32_t range_count, struct json offer,
                                 struct container **container)
{
    struct slice link =
        catalog_join(&op->arena, database->link, "/colls/", json_string(json_get(definition, "id")));
    uint64_t above, number;
    struct rid rid = new_container_rid(op, catalog, database, &number);
    struct record record, offered;
    struct versions versions;
    struct bucket **buckets;
    struct batch *batch;
    uint32_t parts;
    enum status st;

    decide_parts(catalog, definition, &range_count, &parts);
    TRY(lsn_before(op, catalog, link, &above));
    TRY(find_buckets(op, catalog, number, parts, &buckets));
    batch = change_begin(op, catalog);
    batch_uses_counter(batch, number);
    versions_first(op, buckets[0], definition, &versions);
    record = container_record(
        op, &versions, &(struct range_table){ .count = range_count, .version = RANGES_FIRST_VERSION }, parts,
        RECORD_RIDS_BY_CREATION | (definition_has_unique_keys(definition) ? RECORD_KEEPS_UNIQUE : 0));
    TRY(change_put(op, batch, key_catalog(&op->arena, rid_slice(&rid)), &record));
    TRY(offer_put(op, batch, &rid, number + 1, offer, &offered));
    change_redefines(batch, &rid, parts, false);
    TRY(change_commit_with(op, catalog, batch, begin_items(op, buckets, parts, above), parts, &record));
    TRY(container_make(op, catalog->compute, database, &rid, &record, buckets, container));
    catalog_add_container(catalog, container_take(*container));
    offer_add(catalog, &rid, &offered, record.ts_ms);
out:
    return st;
}

static enum status create_container(struct op *op, struct catalog *catalog, struct database *database,
                                    struct json definition, uint32_t range_count, struct json offer,
                                    struct container **container)
{
    struct container *existing =
        catalog_find_container(catalog, database, json_string(json_get(definition, "id")));
    enum status st;

    if (existing) {
        container_release(existing);
        return op_fail_as(op, ST_EXISTS);
    }
    TRY(catalog_check_owner(op, catalog, &database->rid));
    TRY(put_container(op, catalog, database, definition, range_count, offer, container));
out:
    return st;
}

enum status catalog_create_container_with_offer(struct op *op, struct catalog *catalog,
                                                struct database *database, struct json definition,
                                                uint32_t range_count, struct json offer,
                                                struct container **container)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = create_container(op, catalog, database, definition, range_count, offer, container);
    change_unlock(catalog);
    return st;
}

enum status catalog_create_container(struct op *op, struct catalog *catalog, struct database *database,
                                     struct json definition, uint32_t range_count,
                                     struct container **container)
{
    return catalog_create_container_with_offer(op, catalog, database, definition, range_count, json_undefined,
                                               container);
}

/* Finds the container as it is now; the caller's may have been replaced or dropped since. */
static enum status current_container(struct op *op, struct catalog *catalog, const struct container *old,
                                     struct container **now)
{
    readers_enter(&catalog->lock);
    *now = container_take(map_find(&catalog->known.containers_by_rid, rid_slice(&old->rid)));
    readers_leave(&catalog->lock);
    if (!*now)
        return op_fail_as(op, ST_NOT_FOUND);
    return ST_OK;
}

/*
 * Makes the container of a record that was just committed and puts it in the place of the version before it. Gives a
 * reference. `same` says that the definition did not change.
 */
static enum status take_over(struct op *op, struct catalog *catalog, struct container *now,
                             const struct record *record, bool same, struct container **container)
{
    struct bucket **buckets = arena_alloc(&op->arena, now->part_count * sizeof(struct bucket *));
    enum status st;

    thread_assert_locked(&catalog->changing);
    assert(map_find(&catalog->known.containers_by_rid, rid_slice(&now->rid)) == now);
    for (uint32_t i = 0; i < now->part_count; i++)
        buckets[i] = now->part[i]->bucket;
    TRY(container_make(op, catalog->compute, now->database, &now->rid, record, buckets, container));
    assert((*container)->policy_version >= now->policy_version); /* versions only rise */
    assert((*container)->ranges.version >= now->ranges.version);
    assert(slice_equal((*container)->id, now->id)); /* container_check_replace() refuses another */
    container_share(now, *container, same);
    change_version(now, *container);
    catalog_add_container(catalog, container_take(*container));
    container_is_unknown(now);
    container_release(now); /* the maps' own reference */
out:
    return st;
}

static enum status replace_container(struct op *op, struct catalog *catalog, struct container *old,
                                     struct json definition, struct container **container)
{
    struct batch *batch = change_begin(op, catalog);
    struct versions versions;
    struct record record;
    struct container *now = NULL;
    enum status st;

    TRY(current_container(op, catalog, old, &now));
    if (now->etag != old->etag)
        TRY(op_fail(op, ST_RETRY_WITH, "The container was changed by another request."));
    container_retire(now);
    TRY(versions_replace(op, now, definition, &versions));
    record = container_record(op, &versions, &now->ranges, now->part_count, container_kept_flags(now));
    TRY(change_put(op, batch, key_catalog(&op->arena, rid_slice(&now->rid)), &record));
    change_redefines(batch, &now->rid, now->part_count, false);
    TRY(change_commit(op, catalog, batch, &record));
    TRY(take_over(op, catalog, now, &record, false, container));
out:
    if (now && st != ST_OK && st != ST_AMBIGUOUS) /* the old definition stays */
        container_go_on(now);
    container_release(now);
    return st;
}

enum status catalog_replace_container(struct op *op, struct catalog *catalog, struct container *old,
                                      struct json definition, struct container **container)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = replace_container(op, catalog, old, definition, container);
    change_unlock(catalog);
    return st;
}

/* Puts a container that no client has changed: it keeps its etag and its time. */
static enum status put_unchanged(struct op *op, struct batch *batch, const struct container *container,
                                 const struct versions *versions, const struct range_table *ranges,
                                 struct record *record)
{
    uint8_t *value;
    size_t size;

    *record = container_record(op, versions, ranges, container->part_count, container_kept_flags(container));
    record->etag = container->etag;
    record->ts_ms = container->ts_ms;
    value = record_encode(op, record, &size);
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    value_stamp(value, size, 0, record->ts_ms);
    batch_put(batch, key_catalog(&op->arena, rid_slice(&container->rid)), slice_make(value, size));
    change_redefines(batch, &container->rid, container->part_count, false);
    return ST_OK;
}

/* Puts a container that no client has changed in its own place, with other versions of its policy. */
static enum status change_versions(struct op *op, struct catalog *catalog, struct container *container,
                                   enum status (*change)(struct op *op, const struct container *now,
                                                         struct versions *after))
{
    struct batch *batch = change_begin(op, catalog);
    struct container *now = NULL, *finished = NULL;
    struct versions versions;
    struct record record;
    enum status st;

    TRY(current_container(op, catalog, container, &now));
    if (now != container)
        goto out;
    container_retire(now);
    TRY(change(op, now, &versions));
    TRY(put_unchanged(op, batch, now, &versions, &now->ranges, &record));
    TRY(change_commit(op, catalog, batch, NULL));
    TRY(take_over(op, catalog, now, &record, false, &finished));
out:
    if (now == container && st != ST_OK && st != ST_AMBIGUOUS)
        container_go_on(now);
    container_release(now);
    container_release(finished);
    return st;
}

enum status catalog_finish_reindex(struct op *op, struct catalog *catalog, struct container *container)
{
    enum status st = change_lock(op, catalog);

    assert(container->index); /* there is a policy that all items are indexed by */
    if (st == ST_OK)
        st = change_versions(op, catalog, container, versions_without_older);
    change_unlock(catalog);
    return st;
}

enum status catalog_give_seed(struct op *op, struct catalog *catalog, struct container *container)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = change_versions(op, catalog, container, versions_give_seed);
    change_unlock(catalog);
    return st;
}

enum status ranges_change_put(struct op *op, struct catalog *catalog, struct batch *batch,
                              struct ranges_change *part)
{
    struct versions versions;
    struct range_table table;
    enum status st;

    thread_assert_locked(&catalog->changing);
    assert(!part->now); /* it is put once */
    TRY(current_container(op, catalog, part->of, &part->now));
    TRY(part->change(op, part->now, part->wanted, &table));
    assert(table.count > 0);
    assert(table.version > part->now->ranges.version);
    assert(table.next_id >= part->now->ranges.next_id); /* ids are never used twice */
    container_retire(part->now);
    TRY(versions_replace(op, part->now, part->now->definition, &versions));
    TRY(put_unchanged(op, batch, part->now, &versions, &table, &part->record));
out:
    return st;
}

enum status ranges_change_end(struct op *op, struct catalog *catalog, struct ranges_change *part,
                              enum status st, struct container **container)
{
    thread_assert_locked(&catalog->changing);
    if (part->now && st == ST_OK)
        st = take_over(op, catalog, part->now, &part->record, true, container);
    if (part->now && st != ST_OK && st != ST_AMBIGUOUS)
        container_go_on(part->now);
    container_release(part->now);
    return st;
}

static enum status change_ranges(struct op *op, struct catalog *catalog, struct ranges_change *part,
                                 struct container **container)
{
    struct batch *batch = change_begin(op, catalog);
    enum status st;

    TRY(ranges_change_put(op, catalog, batch, part));
    TRY(change_commit(op, catalog, batch, NULL));
out:
    return ranges_change_end(op, catalog, part, st, container);
}

enum status catalog_change_ranges(struct op *op, struct catalog *catalog, const struct container *old,
                                  range_change *change, const void *wanted, struct container **container)
{
    struct ranges_change part = { .of = old, .change = change, .wanted = wanted };
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = change_ranges(op, catalog, &part, container);
    change_unlock(catalog);
    return st;
}

/* Deletes the container's definition and, in the same batch, notes that its data is still to be removed. */
static void drop_in_batch(struct op *op, struct batch *batch, const struct container *container)
{
    batch_delete(batch, key_catalog(&op->arena, rid_slice(&container->rid)));
    change_redefines(batch, &container->rid, container->part_count, true);
    note_dropped(op, batch, container);
}

static enum status drop_container(struct op *op, struct catalog *catalog, struct container *container,
                                  bool same)
{
    struct batch *batch = change_begin(op, catalog);
    struct container *now = NULL;
    enum status st;

    TRY(current_container(op, catalog, container, &now));
    if (same && now->etag != container->etag)
        TRY(op_fail_as(op, ST_PRECONDITION_FAILED));
    drop_in_batch(op, batch, now);
    children_drop(op, catalog, batch, &now->rid);
    TRY(change_commit(op, catalog, batch, NULL));
    children_retire(catalog, &now->rid);
    catalog_retire_container(catalog, now);
out:
    container_release(now);
    return st;
}

enum status catalog_drop_container(struct op *op, struct catalog *catalog, struct container *container,
                                   bool same)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = drop_container(op, catalog, container, same);
    change_unlock(catalog);
    return st;
}

static enum status drop_database(struct op *op, struct catalog *catalog, struct database *database)
{
    struct batch *batch = change_begin(op, catalog);
    size_t databases, most, count = 0;
    struct container **list;
    enum status st;

    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    if (catalog_check_owner(op, catalog, &database->rid) != ST_OK)
        TRY(op_fail_as(op, ST_NOT_FOUND));
    count = catalog_list_containers(catalog, database, slice_of(""), list, most);
    batch_delete(batch, key_catalog(&op->arena, rid_slice(&database->rid)));
    for (size_t i = 0; i < count; i++)
        drop_in_batch(op, batch, list[i]);
    children_drop(op, catalog, batch, &database->rid);
    TRY(change_commit(op, catalog, batch, NULL));
    children_retire(catalog, &database->rid);
    for (size_t i = 0; i < count; i++)
        catalog_retire_container(catalog, list[i]);
    catalog_retire_database(catalog, &database->rid);
out:
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
    return st;
}

enum status catalog_drop_database(struct op *op, struct catalog *catalog, struct database *database)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = drop_database(op, catalog, database);
    change_unlock(catalog);
    return st;
}

/* --- sweeping --- */

/* Takes one dropped container that only the list still refers to off the list. */
static struct container *take_unreferenced(struct catalog *catalog)
{
    struct container **link, *found = NULL;

    readers_exclude(&catalog->lock);
    for (link = &catalog->dropped; *link && !found;) {
        if (crowd_count(&(*link)->life->references) == 1) { /* the list's own */
            found = *link;
            assert(container_is_alone(found)); /* an earlier version would have a reference to it */
            assert(!container_successor(found));
            *link = found->life->next_dropped;
        } else {
            link = &(*link)->life->next_dropped;
        }
    }
    readers_admit(&catalog->lock);
    return found;
}

/* Written before the data is removed: until then a server that dies finds the LSN in the data. */
static enum status keep_past(struct op *op, struct catalog *catalog, uint64_t name, uint64_t lsn)
{
    struct batch *batch = change_begin(op, catalog);

    if (lsn <= CONTAINER_FIRST_LSN) /* nothing to be above of */
        return ST_OK;
    past_note(&catalog->past, name, lsn);
    batch_put(batch, key_past(&op->arena), past_encode(op, &catalog->past));
    return change_commit(op, catalog, batch, NULL);
}

/* Gives a container that was dropped and that nobody refers to any more, NULL when there is none. */
static enum status take_dropped(struct op *op, struct catalog *catalog, struct container **container)
{
    enum status st = change_lock(op, catalog);
    uint64_t lsn = 0;

    *container = st == ST_OK ? take_unreferenced(catalog) : NULL;
    if (*container)
        st = container_newest_lsn(op, *container, &lsn);
    if (*container && st == ST_OK)
        st = keep_past(op, catalog, past_name((*container)->link), lsn);
    change_unlock(catalog);
    return st;
}

/* Under the lock, as every change: a commit beside another one that fails would make that one look as if somebody met it. */
static enum status forget_dropped(struct op *op, struct catalog *catalog, uint64_t number)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK) {
        struct batch *batch = change_begin(op, catalog);

        batch_delete(batch, key_dropped(&op->arena, number));
        st = change_commit(op, catalog, batch, NULL);
    }
    change_unlock(catalog);
    return st;
}

static enum status remove_data(struct op *op, struct catalog *catalog, uint64_t number, uint32_t part_count)
{
    enum status st = ST_OK;

    for (uint32_t i = 0; i < part_count; i++)
        TRY(store_drop(op, catalog->store, bucket_make(number, i)));
    TRY(forget_dropped(op, catalog, number));
    log_line(LOG_DEBUG, "removed the data of container %llu", (unsigned long long)number);
out:
    return st;
}

enum status catalog_sweep(struct op *op, struct catalog *catalog)
{
    struct container *container;
    enum status st;

    do {
        st = take_dropped(op, catalog, &container);
        if (container && st == ST_OK)
            st = remove_data(op, catalog, container_number(&container->rid), container->part_count);
        container_release(container);
    } while (container && st == ST_OK);
    return st; /* data that could not be removed now is removed at the next start */
}

/* --- opening --- */

static enum status keep_past_of(struct op *op, struct catalog *catalog, uint64_t name, uint64_t lsn)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = keep_past(op, catalog, name, lsn);
    change_unlock(catalog);
    return st;
}

/* Finishes a drop that the last run of the program did not finish. */
static enum status finish_drop(struct op *op, struct catalog *catalog, void *context, const struct row *row)
{
    struct dropped dropped;
    uint64_t lsn;
    enum status st;

    (void)context;
    TRY(read_dropped(op, row, &dropped));
    TRY(dropped_lsn(op, catalog, &dropped, &lsn));
    if (dropped.name)
        TRY(keep_past_of(op, catalog, dropped.name, lsn));
    TRY(remove_data(op, catalog, dropped.number, dropped.part_count));
out:
    return st;
}

/* Another process may be about to make or to drop a container: then it is left to that one, or to the next start. */
static enum status finish_drops(struct op *op, struct catalog *catalog)
{
    struct snapshot *snapshot = NULL;
    enum status st = ST_OK;

    if (store_is_read_only(catalog->store) || store_peers(catalog->store).count > 1)
        return ST_OK;
    TRY(store_snapshot(op, catalog->bucket, &snapshot));
    TRY(for_each(op, catalog, snapshot, KEY_DROPPED, finish_drop, NULL));
out:
    store_release(snapshot);
    return st;
}

enum status catalog_open(struct op *op, struct store *store, struct catalog **catalog)
{
    return catalog_open_with(op, store, NULL, catalog);
}

enum status catalog_open_with(struct op *op, struct store *store, index_compute *compute,
                              struct catalog **catalog)
{
    struct catalog *made = heap_allocate(sizeof(*made));
    enum status st;

    made->store = store;
    made->compute = compute;
    pthread_mutex_init(&made->changing, NULL);
    readers_init(&made->lock);
    TRY(store_bucket(op, store, CATALOG_BUCKET, &made->bucket));
    TRY(catalog_load(op, made));
    change_note_lsn(made, made->lsn); /* nobody else knows it yet */
    holds_tell(op->env, made, &(struct holds){ 0 });
    TRY(finish_drops(op, made));
    store_follow(store, change_follow, made);
    *catalog = made;
    made = NULL;
out:
    catalog_close(made);
    return st;
}

struct store *catalog_store(const struct catalog *catalog)
{
    return catalog->store;
}

bool catalog_is_writable(const struct catalog *catalog)
{
    return store_is_writable(catalog->store);
}

void catalog_close(struct catalog *catalog)
{
    if (!catalog)
        return;
    store_follow(catalog->store, NULL, NULL);
    catalog_forget(catalog);
    claim_less(&catalog->claim, catalog->claim.bytes); /* the account may outlive it */
    while (catalog->dropped) {
        struct container *container = catalog->dropped;

        catalog->dropped = container->life->next_dropped;
        container_release(container);
    }
    readers_free(&catalog->lock);
    pthread_mutex_destroy(&catalog->changing);
    free(catalog);
}
