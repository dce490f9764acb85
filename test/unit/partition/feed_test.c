/* test/unit/partition/feed_test.c - the change feed and its trimming, against a model that remembers everything. */
#include "items.h"
#include "keys/keys.h"
#include "partition/feed.h"
#include "partition/verify.h"

#define EXPIRING "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':-1}"
#define ONLY_N                                                                                           \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'indexingPolicy':{'includedPaths':[{'path':" \
    "'/n/?'}],'excludedPaths':[{'path':'/*'}]}}"

enum { EVENTS_MAX = 6000, IDS = 24, KEYS = 3, NO_TTL = -1, SHORT_TTL = 50 };
enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

/* A change of the item with that id, which left `n` behind and found `old_n`. */
struct event {
    enum change_kind kind;
    uint64_t lsn;
    unsigned id;
    int n, old_n;
    bool expired, met;
};

struct item {
    bool live;
    int n;
    uint64_t lsn;
    int64_t expires_ms;
};

struct world {
    struct rig rig;
    struct container *container;
    struct event event[EVENTS_MAX];
    size_t events;
    struct item item[IDS];
    int next_n;
};

/* --- the model --- */

static void note(struct world *world, enum change_kind kind, unsigned id, int n, bool expired)
{
    struct item *item = &world->item[id];

    REQUIRE(world->events < EVENTS_MAX);
    item->lsn = bucket_lsn(world->container->bucket);
    world->event[world->events++] = (struct event){ kind, item->lsn, id, n, item->n, expired, false };
    item->live = kind != CHANGE_DELETE;
    item->n = n;
}

static const char *document_of(struct world *world, unsigned id, int n, int ttl)
{
    char text[200];

    snprintf(text, sizeof(text), "{'id':'%u','pk':'%u','n':%d,'ttl':%d,'text':'%0*d'}", id, id % KEYS, n, ttl,
             (int)(test_random() % 60), 7);
    return arena_text(&world->rig.op->arena, slice_of(text));
}

static struct placed_key *placed_key_of(struct world *world, unsigned key)
{
    char text[16];

    snprintf(text, sizeof(text), "['%u']", key);
    return key_of_header(world->rig.op, world->container, text);
}

/* Into the transaction; what became of it is for the model. */
static enum change_kind write_item(struct world *world, struct partition_txn *txn, unsigned id, int ttl)
{
    struct op *op = world->rig.op;
    struct json document = rig_json(op, document_of(world, id, world->next_n, ttl));
    struct record old, new;
    bool there;

    CHECK(partition_find(op, txn, json_string(json_get(document, "id")), &old, &there) == ST_OK);
    CHECK(there == world->item[id].live);
    if (!there) {
        CHECK(partition_create(op, txn, document, &new) == ST_OK);
        return CHANGE_CREATE;
    }
    if (test_random() % 3 == 0) {
        CHECK(partition_delete(op, txn, &old) == ST_OK);
        return CHANGE_DELETE;
    }
    CHECK(partition_replace(op, txn, &old, document, &new) == ST_OK);
    return CHANGE_REPLACE;
}

/* One item, or about half of a logical partition's, in one transaction. */
static void write_some(struct world *world, bool many)
{
    unsigned key = (unsigned)(test_random() % KEYS),
             one = key + KEYS * (unsigned)(test_random() % (IDS / KEYS));
    enum change_kind kind[IDS] = { 0 };
    struct partition_txn *txn = NULL;
    int ttl = test_random() % 4 ? NO_TTL : SHORT_TTL;
    struct commit_stamp stamp;

    REQUIRE(partition_begin_many(world->rig.op, world->container, placed_key_of(world, key), &txn) == ST_OK);
    for (unsigned id = key; id < IDS; id += KEYS)
        if (many ? test_random() % 2 : id == one)
            kind[id] = write_item(world, txn, id, ttl);
    REQUIRE(partition_commit(world->rig.op, &txn, &stamp) == ST_OK);
    for (unsigned id = 0; id < IDS; id++) {
        if (!kind[id])
            continue;
        note(world, kind[id], id, kind[id] == CHANGE_DELETE ? 0 : world->next_n, false);
        world->item[id].expires_ms = ttl == NO_TTL ? INT64_MAX : world->rig.op->now_ms + 1000 * ttl;
    }
    world->next_n++;
}

/* Long enough that a sweep is due for what no pass knew of. */
static void expire(struct world *world)
{
    uint64_t removed = 0;

    rig_advance_ms(&world->rig, 11 * MINUTE_MS);
    CHECK(rig_sweep(&world->rig, &removed) == ST_OK);
    for (unsigned id = 0; id < IDS; id++)
        if (world->item[id].live && world->item[id].expires_ms <= world->rig.op->now_ms)
            note(world, CHANGE_DELETE, id, 0, true);
}

static bool has_expired(const struct world *world)
{
    for (unsigned id = 0; id < IDS; id++)
        if (world->item[id].live && world->item[id].expires_ms <= world->rig.op->now_ms)
            return true;
    return false;
}

static void trim(struct world *world, int64_t retention_ms)
{
    for (int i = 0; i < 3; i++) { /* the second time the index is settled, and the pass has rested */
        CHECK(rig_trim(&world->rig, retention_ms) == ST_OK);
        rig_advance_ms(&world->rig, 61 * 1000);
    }
}

static void find_container(struct world *world)
{
    struct database *database = catalog_find_database(world->rig.catalog, slice_of("db"));

    world->container = catalog_find_container(world->rig.catalog, database, slice_of("c"));
    database_release(database);
    container_release(world->container); /* the catalog has it for as long as it is open */
}

static void open_world(struct world *world, enum entries_kept index, const char *definition)
{
    *world = (struct world){ .next_n = 1 };
    rig_open_with(&world->rig, false, index);
    world->container = rig_container(&world->rig, definition);
}

static void restart(struct world *world, bool crash)
{
    if (crash)
        rig_crash(&world->rig);
    else
        rig_reopen(&world->rig);
    find_container(world);
}

/* --- what the feed says --- */

static unsigned id_of(const struct record *item)
{
    struct slice id = json_string(json_get(item->document, "id"));
    uint64_t number = 0;

    CHECK(slice_to_u64(id, &number) && number < IDS);
    return (unsigned)number;
}

static int n_of(const struct record *item)
{
    return (int)json_int(json_get(item->document, "n"));
}

/* key KEYS: all of them. */
static enum status open_feed(struct world *world, enum feed_mode mode, unsigned key,
                             struct partition_feed *feed)
{
    struct partition_scope scope = { 0 };

    if (key < KEYS)
        scope.key = *placed_key_of(world, key);
    return partition_feed_open(world->rig.op, world->container, &scope, mode, feed);
}

static bool is_of(unsigned id, unsigned key)
{
    return key == KEYS || id % KEYS == key;
}

/* Every live item of the key that was changed after `after`, once, in the order of changes. */
static void check_latest(struct world *world, uint64_t after, unsigned key)
{
    struct partition_feed feed = { 0 };
    struct feed_entry entry;
    uint64_t last = after;
    size_t count = 0;
    bool found;

    REQUIRE(open_feed(world, FEED_LATEST, key, &feed) == ST_OK);
    partition_feed_after(&feed, after);
    partition_feed_expect(&feed, test_random() % 20);
    while (partition_feed_next(world->rig.op, &feed, &entry, &found) == ST_OK && found) {
        struct item *item = &world->item[id_of(&entry.item)];

        CHECK(item->live && item->n == n_of(&entry.item) && item->lsn == entry.item.lsn);
        CHECK(entry.item.lsn >= last && entry.item.lsn > after && feed.lsn == entry.item.lsn - 1);
        CHECK(is_of(id_of(&entry.item), key));
        last = entry.item.lsn;
        count++;
    }
    CHECK(!found && !feed.paused && feed.lsn == bucket_lsn(world->container->bucket));
    for (unsigned id = 0; id < IDS; id++)
        count -= world->item[id].live && world->item[id].lsn > after && is_of(id, key);
    CHECK(count == 0);
    partition_feed_close(&feed);
}

/* An event of a transaction that this entry tells of and no other did. */
static bool meet(struct world *world, const struct feed_entry *entry)
{
    bool deleted = entry->change.kind == CHANGE_DELETE;
    unsigned id = id_of(deleted ? &entry->previous : &entry->item);

    for (size_t i = 0; i < world->events; i++) {
        struct event *event = &world->event[i];

        if (event->lsn != entry->change.lsn || event->id != id || event->met)
            continue;
        event->met = true;
        return event->kind == entry->change.kind && event->expired == entry->change.expired &&
               (deleted || event->n == n_of(&entry->item)) &&
               (event->kind == CHANGE_CREATE || event->old_n == n_of(&entry->previous));
    }
    return false;
}

/* Every event of the key after `after`, in the order of changes. */
static void check_all(struct world *world, uint64_t after, unsigned key)
{
    struct partition_feed feed = { 0 };
    struct feed_entry entry;
    uint64_t last = after;
    bool found;

    for (size_t i = 0; i < world->events; i++)
        world->event[i].met = world->event[i].lsn <= after || !is_of(world->event[i].id, key);
    REQUIRE(open_feed(world, FEED_ALL, key, &feed) == ST_OK);
    partition_feed_after(&feed, after > feed.trimmed_lsn ? after : feed.trimmed_lsn);
    for (size_t i = 0; i < world->events; i++)
        world->event[i].met |= world->event[i].lsn <= feed.trimmed_lsn;
    partition_feed_expect(&feed, test_random() % 20);
    while (partition_feed_next(world->rig.op, &feed, &entry, &found) == ST_OK && found) {
        CHECK(entry.change.lsn >= last && meet(world, &entry));
        last = entry.change.lsn;
    }
    CHECK(!found && feed.lsn == bucket_lsn(world->container->bucket));
    for (size_t i = 0; i < world->events; i++)
        CHECK(world->event[i].met);
    partition_feed_close(&feed);
}

static void check_feeds(struct world *world)
{
    uint64_t after = test_random() % (bucket_lsn(world->container->bucket) + 1);
    unsigned key = (unsigned)(test_random() % (KEYS + 1));

    check_latest(world, 0, KEYS);
    check_latest(world, after, key);
    check_all(world, 0, KEYS);
    check_all(world, after, key);
}

static size_t live_count(const struct world *world)
{
    size_t count = 0;

    for (unsigned id = 0; id < IDS; id++)
        count += world->item[id].live;
    return count;
}

static bool index_is_right(struct world *world)
{
    struct verify_result result = { .missing = 1 };
    struct view view = { 0 };

    CHECK(view_open(world->rig.op, world->container->bucket, NULL, &view) == ST_OK);
    CHECK(verify_index(world->rig.op, world->container, &view, &result) == ST_OK);
    view_close(&view);
    return result.missing == 0 && result.extra == 0 && result.expected == result.found;
}

/* --- */

static void live_through(enum entries_kept index, int rounds)
{
    static struct world world;

    open_world(&world, index, EXPIRING);
    for (int i = 0; i < rounds; i++) {
        uint64_t what = test_random() % 40;

        write_some(&world, what % 4 == 0);
        rig_advance_ms(&world.rig, (int64_t)(test_random() % 2000));
        if (what == 1)
            expire(&world);
        if (what == 2 || what == 3)
            trim(&world, (int64_t)(test_random() % 20) * MINUTE_MS);
        if (has_expired(&world)) /* the model knows of no item that nobody has removed yet */
            expire(&world);
        if (what == 5 || what == 6)
            restart(&world, what == 5 && index == ENTRIES_PACKED);
        if (what % 8 == 7)
            check_feeds(&world);
    }
    expire(&world);
    check_feeds(&world);
    CHECK(index == ENTRIES_NONE || index_is_right(&world));
    rig_advance_ms(&world.rig, HOUR_MS);
    trim(&world, 0);
    check_feeds(&world);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == live_count(&world));
    CHECK(rows_of_kind(&world.rig, world.container, KEY_NEXT).count == 0);
    rig_close(&world.rig);
}

TEST(both_feeds_are_what_happened_whatever_is_trimmed_expired_or_restarted)
{
    for (int i = 0; i < 4; i++)
        live_through(ENTRIES_PLAIN, 200);
}

TEST(they_are_so_after_crashes_that_take_index_entries_too)
{
    for (int i = 0; i < 4; i++)
        live_through(ENTRIES_PACKED, 200);
}

static void create(struct world *world, const char *document)
{
    struct record item;

    CHECK(item_create(&world->rig, world->container, document, &item) == ST_OK);
}

static size_t count_entries(struct world *world, enum feed_mode mode, uint64_t after)
{
    struct partition_feed feed = { 0 };
    struct feed_entry entry;
    size_t count = 0;
    bool found;

    CHECK(open_feed(world, mode, KEYS, &feed) == ST_OK);
    partition_feed_after(&feed, after);
    while (partition_feed_next(world->rig.op, &feed, &entry, &found) == ST_OK && found)
        count++;
    partition_feed_close(&feed);
    return count;
}

TEST(a_time_begins_behind_the_last_change_that_is_not_after_it)
{
    static struct world world;
    struct partition_feed feed = { 0 };
    int64_t began_ms;
    struct record item;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    began_ms = world.rig.op->now_ms;
    for (int i = 0; i < 9; i++) {
        char document[40];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'a'}", i);
        create(&world, document);
        rig_advance_ms(&world.rig, 1000);
    }
    CHECK(item_replace(&world.rig, world.container, "4", "{'id':'4','pk':'a'}", &item) == ST_OK);
    trim(&world, 0); /* the log has gaps, and LSNs that are in no log */
    REQUIRE(open_feed(&world, FEED_LATEST, KEYS, &feed) == ST_OK);
    for (int i = -1; i < 9; i++) {
        uint64_t last = FIRST_WRITE + (uint64_t)(i == 4 ? 3 : i);

        CHECK(partition_feed_since(world.rig.op, &feed, began_ms + 1000 * i) == ST_OK);
        CHECK(feed.lsn == (i < 0 ? 0 : last));
    }
    CHECK(partition_feed_since(world.rig.op, &feed, INT64_MAX) == ST_OK && feed.lsn >= FIRST_WRITE + 9);
    partition_feed_close(&feed);
    rig_close(&world.rig);
}

TEST(whoever_waits_behind_changes_of_others_is_told_how_far_they_were_looked_at)
{
    static struct world world;
    struct partition_feed feed = { 0 };
    struct feed_entry entry;
    uint64_t lsn = 0;
    bool found;
    int pages = 0;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    for (int i = 0; i < 100; i++) {
        char document[40];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d'}", i, i == 99 ? 1 : 0);
        create(&world, document);
    }
    do {
        REQUIRE(open_feed(&world, FEED_LATEST, 1, &feed) == ST_OK);
        partition_feed_after(&feed, lsn);
        partition_feed_expect(&feed, 1);
        rig_advance_ms(&world.rig, 5000);
        CHECK(partition_feed_next(world.rig.op, &feed, &entry, &found) == ST_OK && found != feed.paused);
        CHECK(feed.lsn > lsn);
        lsn = feed.lsn;
        partition_feed_close(&feed);
    } while (!found && ++pages < 100);
    CHECK(found && pages > 3 && entry.item.lsn == FIRST_WRITE + 99 && lsn == FIRST_WRITE + 98);
    rig_close(&world.rig);
}

TEST(an_item_that_has_expired_and_is_not_swept_does_not_show)
{
    static struct world world;

    open_world(&world, ENTRIES_PLAIN, EXPIRING);
    create(&world, "{'id':'1','pk':'a','ttl':10}");
    create(&world, "{'id':'2','pk':'a'}");
    CHECK(count_entries(&world, FEED_LATEST, 0) == 2);
    rig_advance_ms(&world.rig, 10 * 1000);
    CHECK(count_entries(&world, FEED_LATEST, 0) == 1);
    CHECK(count_entries(&world, FEED_ALL, 0) == 2); /* its expiry is a change that is yet to come */
    rig_close(&world.rig);
}

TEST(indexing_again_is_no_change_and_leaves_no_trace_once_it_is_old)
{
    static struct world world;
    struct record item;
    uint64_t lsn;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    create(&world, "{'id':'1','pk':'a','n':1}");
    rig_redefine(&world.rig, world.container, ONLY_N);
    restart(&world, false); /* nobody works by the old definition any more */
    CHECK(rig_reindex(&world.rig) == ST_OK);
    find_container(&world);
    lsn = bucket_lsn(world.container->bucket);
    CHECK(lsn == FIRST_WRITE + 1 && rows_of_kind(&world.rig, world.container, KEY_LOG).count == 2);
    CHECK(count_entries(&world, FEED_LATEST, 0) == 1 && count_entries(&world, FEED_LATEST, FIRST_WRITE) == 0);
    CHECK(item_replace(&world.rig, world.container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    CHECK(count_entries(&world, FEED_ALL, 0) == 2);
    rig_advance_ms(&world.rig, HOUR_MS);
    trim(&world, 0);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 1);
    CHECK(count_entries(&world, FEED_LATEST, 0) == 1);
    rig_close(&world.rig);
}

TEST(what_is_not_old_is_not_trimmed)
{
    static struct world world;
    struct record item;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    create(&world, "{'id':'1','pk':'a','n':1}");
    rig_advance_ms(&world.rig, HOUR_MS);
    CHECK(item_replace(&world.rig, world.container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    rig_advance_ms(&world.rig, HOUR_MS / 2);
    trim(&world, HOUR_MS); /* the create is old, but not the change that ended it */
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 2);
    CHECK(count_entries(&world, FEED_ALL, 0) == 2);
    rig_advance_ms(&world.rig, HOUR_MS / 2);
    trim(&world, HOUR_MS);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 1);
    rig_close(&world.rig);
}

TEST(what_the_index_may_be_made_again_from_is_not_trimmed_before_it_is_settled)
{
    static struct world world;
    struct record item;

    open_world(&world, ENTRIES_PACKED, BY_PK);
    create(&world, "{'id':'1','pk':'a','n':1}");
    CHECK(item_replace(&world.rig, world.container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    rig_advance_ms(&world.rig, HOUR_MS);
    CHECK(rig_trim(&world.rig, 0) == ST_OK); /* asks for it to be settled */
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 2);
    restart(&world, true);
    CHECK(index_is_right(&world));
    trim(&world, 0);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 1);
    restart(&world, true);
    CHECK(index_is_right(&world));
    rig_close(&world.rig);
}

TEST(a_version_whose_end_was_not_noted_is_told_to_be_missing_and_not_left_out)
{
    static struct world world;
    struct partition_feed feed = { 0 };
    struct commit_stamp stamp;
    struct feed_entry entry;
    struct record item;
    struct batch *batch;
    bool found;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    create(&world, "{'id':'1','pk':'a','n':1}");
    for (int i = 0; i < 20; i++) /* more than the block that has the create */
        CHECK(item_replace(&world.rig, world.container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    batch = batch_new(world.rig.op, bucket_id(world.container->bucket));
    for (uint64_t lsn = 1; lsn < 20; lsn++)
        batch_delete(batch,
                     key_next(&world.rig.op->arena, bucket_id(world.container->bucket), lsn, item.number));
    CHECK(store_commit(world.rig.op, world.container->bucket, batch, &stamp) == ST_OK);
    REQUIRE(open_feed(&world, FEED_ALL, KEYS, &feed) == ST_OK);
    partition_feed_expect(&feed, 1);
    for (int i = 0; i < 7; i++)
        CHECK(partition_feed_next(world.rig.op, &feed, &entry, &found) == ST_OK && found);
    CHECK(partition_feed_next(world.rig.op, &feed, &entry, &found) == ST_BAD_REQUEST);
    partition_feed_close(&feed);
    rig_close(&world.rig);
}

TEST(a_policy_of_its_own_says_how_long_a_container_keeps_changes)
{
    static struct world world;
    struct record item;

    open_world(&world, ENTRIES_PLAIN,
               "{'id':'c','partitionKey':{'paths':['/"
               "pk'],'version':2},'changeFeedPolicy':{'retentionDuration':30}}");
    create(&world, "{'id':'1','pk':'a','n':1}");
    CHECK(item_replace(&world.rig, world.container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    rig_advance_ms(&world.rig, 29 * MINUTE_MS);
    CHECK(rig_trim(&world.rig, 0) == ST_OK);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 2);
    rig_advance_ms(&world.rig, 2 * MINUTE_MS);
    CHECK(rig_trim(&world.rig, 0) == ST_OK);
    CHECK(rows_of_kind(&world.rig, world.container, KEY_LOG).count == 1);
    rig_close(&world.rig);
}

TEST(a_log_of_creates_is_passed_over_without_a_write)
{
    static struct world world;

    open_world(&world, ENTRIES_PLAIN, BY_PK);
    for (int i = 0; i < 50; i++) {
        char document[40];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'a'}", i);
        create(&world, document);
    }
    rig_advance_ms(&world.rig, HOUR_MS);
    trim(&world, 0);
    CHECK(bucket_lsn(world.container->bucket) == CONTAINER_FIRST_LSN + 50);
    CHECK(count_entries(&world, FEED_LATEST, 0) == 50);
    rig_close(&world.rig);
}
