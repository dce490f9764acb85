/* test/unit/main/check_test.c - orrery check: what must agree with what, and that it notices when it does not. */
#include "base/buf.h"
#include "catalog/definition.h"
#include "index/term.h"
#include "keys/keys.h"
#include "main/check.h"
#include "main/directory.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "partition/unique.h"
#include "rig.h"
#include "store/entries.h"

#ifdef ORRERY_ROCKSDB

#define DEFINITION                                                                             \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'uniqueKeyPolicy':{'uniqueKeys':[" \
    "{'paths':['/mail']},{'paths':['/phone']}]}}"

/* A data directory with one container, open for writing. */
struct place {
    const char *path;
    struct directory directory;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct database *database;
    struct container *container;
    struct placed_key key; /* "a" */
};

static void place_open_with(struct place *place, const char *name, enum entries_kept entries)
{
    struct op *op = test_op();
    struct json definition;
    struct buf path;

    buf_init(&path, &op->arena);
    buf_printf(&path, "%s/%s", test_directory(), name);
    buf_byte(&path, '\0');
    *place = (struct place){ .path = path.data, .locks = locks_open() };
    REQUIRE(directory_open(op, place->path, false, &place->directory) == ST_OK);
    REQUIRE(store_open(op,
                       &(struct store_options){
                           .kind = STORE_ROCKSDB, .directory = place->directory.store, .entries = entries },
                       &place->store) == ST_OK);
    REQUIRE(catalog_open(op, place->store, &place->catalog) == ST_OK);
    REQUIRE(catalog_create_database(op, place->catalog, slice_of("db"), &place->database) == ST_OK);
    REQUIRE(container_define(op, rig_json(op, DEFINITION), (struct define_options){ 0 }, &definition) ==
            ST_OK);
    REQUIRE(catalog_create_container(op, place->catalog, place->database, definition, 1, &place->container) ==
            ST_OK);
}

/* As a version without an index left it: most of what is damaged here is not about the index. */
static void place_open(struct place *place, const char *name)
{
    place_open_with(place, name, ENTRIES_NONE);
}

static void place_close(struct place *place)
{
    container_release(place->container);
    database_release(place->database);
    catalog_close(place->catalog);
    store_close(place->store);
    directory_close(&place->directory);
    locks_close(place->locks);
}

static struct record add(struct place *place, const char *document)
{
    struct json parsed = rig_json(test_op(), document);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item = { 0 };

    partition_key_extract(place->container, parsed, &place->key.values);
    partition_key_place(place->container, &place->key);
    CHECK(partition_begin(test_op(), place->locks, place->container, &place->key,
                          json_string(json_get(parsed, "id")), &txn) == ST_OK);
    CHECK(partition_create(test_op(), txn, parsed, &item) == ST_OK);
    CHECK(partition_commit(test_op(), &txn, &stamp) == ST_OK);
    return item;
}

static struct slice entry_key(struct place *place, size_t which, const char *document)
{
    return unique_key_of(&test_op()->arena, place->container, epk_slice(&place->key.epk), which,
                         rig_json(test_op(), document));
}

static void put(struct place *place, struct slice key, struct slice value)
{
    struct batch *batch = batch_new(test_op(), bucket_id(place->container->bucket));
    struct commit_stamp stamp;

    if (value.data)
        batch_put(batch, key, value);
    else
        batch_delete(batch, key);
    CHECK(store_commit(test_op(), place->container->bucket, batch, &stamp) == ST_OK);
}

static struct slice entry_of(uint64_t number)
{
    return holders_with(&test_op()->arena, (struct slice){ 0 }, number);
}

/* Each does one thing to a container with two items that agrees with itself. */

static void nothing(struct place *place, const struct record *item)
{
    (void)place, (void)item;
}

static void entry_missing(struct place *place, const struct record *item)
{
    (void)item;
    put(place, entry_key(place, 1, "{'phone':2}"), (struct slice){ 0 });
}

static void entry_of_no_document(struct place *place, const struct record *item)
{
    (void)item;
    put(place, entry_key(place, 0, "{'mail':'gone'}"), entry_of(item->number + 1000));
}

static void entry_too_many(struct place *place, const struct record *item)
{
    put(place, entry_key(place, 0, "{'mail':'other'}"), entry_of(item->number));
}

static void entry_damaged(struct place *place, const struct record *item)
{
    (void)item;
    put(place, entry_key(place, 0, "{'mail':'x'}"), slice_of("x"));
}

static void value_taken_twice(struct place *place, const struct record *item)
{
    struct record twin = *item;
    size_t size;
    uint8_t *value;

    twin.document = rig_json(test_op(), "{'id':'2','pk':'a','mail':'x','phone':2}");
    value = record_encode(test_op(), &twin, &size);
    value_stamp(value, size, CONTAINER_FIRST_LSN + 2, 1); /* as the second item was written */
    put(place, key_document(&test_op()->arena, bucket_id(place->container->bucket), item->number),
        slice_make(value, size));
    put(place, entry_key(place, 0, "{'mail':'x'}"),
        holders_with(&test_op()->arena, entry_of(item->number - 1), item->number));
    put(place, entry_key(place, 0, "{'mail':'y'}"), (struct slice){ 0 });
}

/* Two partition keys with one EPK (test/security/twins.py) may have the same id and the same unique values. */
static void keys_of_one_epk(struct place *place, const struct record *item)
{
    (void)item;
    add(place, "{'id':'3','pk':'alice@example.com','mail':'x','phone':1}");
    add(place, "{'id':'3','pk':'bslfdzn521slz8puq7ECt<awf5XY8*K','mail':'x','phone':1}");
}

static void id_taken_twice(struct place *place, const struct record *item)
{
    uint64_t bucket = bucket_id(place->container->bucket);
    struct arena *arena = &test_op()->arena;
    struct record twin = *item;
    size_t size;
    uint8_t *value;

    twin.document = rig_json(test_op(), "{'id':'1','pk':'a','mail':'y','phone':2}");
    value = record_encode(test_op(), &twin, &size);
    value_stamp(value, size, CONTAINER_FIRST_LSN + 2, 1); /* as the second item was written */
    put(place, key_document(arena, bucket, item->number), slice_make(value, size));
    put(place, key_id(arena, bucket, item->epk, slice_of("1")),
        holders_with(arena, entry_of(item->number - 1), item->number));
    put(place, key_id(arena, bucket, item->epk, slice_of("2")), (struct slice){ 0 });
}

/* The second item with an attachment, and what is taken from it. */
enum taken { NO_FLAG = 1, NO_RECORD = 2, NO_MEDIA_BYTES = 4 };

static void attach(struct place *place, const struct record *item, enum taken taken)
{
    uint64_t bucket = bucket_id(place->container->bucket);
    struct record flagged = *item, attachment = { .number = 7,
                                                  .epk = item->epk,
                                                  .document = rig_json(test_op(), "{'id':'f'}") };
    size_t size;
    uint8_t *value;

    flagged.flags = taken & NO_FLAG ? 0 : RECORD_HAS_ATTACHMENTS;
    value = record_encode(test_op(), &flagged, &size);
    value_stamp(value, size, CONTAINER_FIRST_LSN + 2, 1); /* as the second item was written */
    put(place, key_document(&test_op()->arena, bucket, item->number), slice_make(value, size));
    value = record_encode(test_op(), &attachment, &size);
    if (!(taken & NO_RECORD))
        put(place, key_attachment(&test_op()->arena, bucket, item->number, 7), slice_make(value, size));
    value = media_encode(test_op(), slice_of("bytes"), &size);
    put(place, key_media(&test_op()->arena, bucket, item->number, 7),
        slice_make(value, taken & NO_MEDIA_BYTES ? size - 1 : size));
}

static void attachment_sound(struct place *place, const struct record *item)
{
    attach(place, item, 0);
}

static void attachment_unknown(struct place *place, const struct record *item)
{
    attach(place, item, NO_FLAG);
}

static void media_alone(struct place *place, const struct record *item)
{
    attach(place, item, NO_RECORD);
}

static void media_damaged(struct place *place, const struct record *item)
{
    attach(place, item, NO_MEDIA_BYTES);
}

static void attachment_alone(struct place *place, const struct record *item)
{
    struct record other = *item;

    other.number += 1000;
    attach(place, &other, 0);
    put(place, key_document(&test_op()->arena, bucket_id(place->container->bucket), other.number),
        (struct slice){ 0 });
}

static void counted_wrong(struct place *place, const struct record *item)
{
    struct batch *batch = batch_new(test_op(), bucket_id(place->container->bucket));
    struct commit_stamp stamp;

    (void)item;
    batch_counts(batch, 0, 1);
    CHECK(store_commit(test_op(), place->container->bucket, batch, &stamp) == ST_OK);
}

static void change_missing(struct place *place, const struct record *item)
{
    (void)item;
    put(place, key_log(&test_op()->arena, bucket_id(place->container->bucket), CONTAINER_FIRST_LSN + 2, 0),
        (struct slice){ 0 });
}

static void change_without_its_version(struct place *place, const struct record *item)
{
    struct change change = { .kind = CHANGE_REPLACE,
                             .number = item->number,
                             .previous_lsn = CONTAINER_FIRST_LSN + 1 };
    size_t size;
    uint8_t *value = change_encode(test_op(), &change, &size);

    value_stamp(value, size, CONTAINER_FIRST_LSN + 2, 1);
    put(place, key_log(&test_op()->arena, bucket_id(place->container->bucket), CONTAINER_FIRST_LSN + 2, 0),
        slice_make(value, size));
}

static void version_leads_nowhere(struct place *place, const struct record *item)
{
    uint8_t *value = arena_alloc(&test_op()->arena, NEXT_BYTES);

    next_encode(0, value);
    value_stamp(value, NEXT_BYTES, 1, 1);
    put(place,
        key_next(&test_op()->arena, bucket_id(place->container->bucket), CONTAINER_FIRST_LSN + 2,
                 item->number),
        slice_make(value, NEXT_BYTES));
}

static const struct {
    const char *name;
    void (*damage)(struct place *place, const struct record *item);
    int answer;
} cases[] = {
    { "sound", nothing, 0 },
    { "missing", entry_missing, 1 },
    { "leads-nowhere", entry_of_no_document, 1 },
    { "too-many", entry_too_many, 1 },
    { "damaged", entry_damaged, 1 },
    { "twice", value_taken_twice, 1 },
    { "keys-of-one-epk", keys_of_one_epk, 0 },
    { "id-twice", id_taken_twice, 1 },
    { "attachment", attachment_sound, 0 },
    { "attachment-unknown", attachment_unknown, 1 },
    { "attachment-alone", attachment_alone, 1 },
    { "media-alone", media_alone, 1 },
    { "media-damaged", media_damaged, 1 },
    { "counted", counted_wrong, 1 },
    { "change-missing", change_missing, 1 },
    { "change-halved", change_without_its_version, 1 },
    { "version-alone", version_leads_nowhere, 1 },
};

TEST(items_and_what_belongs_to_them_must_agree)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct record second;
        struct place place;

        place_open(&place, cases[i].name);
        add(&place, "{'id':'1','pk':'a','mail':'x','phone':1}");
        second = add(&place, "{'id':'2','pk':'a','mail':'y','phone':2}");
        cases[i].damage(&place, &second);
        place_close(&place);
        if (check(place.path) != cases[i].answer)
            test_failed(__FILE__, __LINE__, cases[i].name);
    }
}

static void change_entry(struct place *place, uint64_t number, bool add)
{
    uint8_t term[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    struct batch *batch = batch_new(test_op(), bucket_id(place->container->bucket));
    struct commit_stamp stamp;
    struct slice key;
    size_t size;

    term_put_path(term, path_member(place->container->seed, path_root(TERM_RANGE), slice_of("id")));
    size = TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES, rig_json(test_op(), "'1'"), false);
    key = key_index(&test_op()->arena, bucket_id(place->container->bucket), slice_make(term, size), number);
    if (add)
        batch_index_add(batch, key);
    else
        batch_index_remove(batch, key);
    CHECK(store_commit(test_op(), place->container->bucket, batch, &stamp) == ST_OK);
}

static uint64_t settled_lsn(struct place *place)
{
    uint64_t lsn = 0;

    CHECK(store_entries_settled(test_op(), place->container->bucket, &lsn) == ST_OK);
    return lsn;
}

/* Opened again by this program, with its container. */
static void place_open_again(struct place *place)
{
    struct op *op = test_op();
    struct store_options options = { .kind = STORE_ROCKSDB, .entries = ENTRIES_PACKED };

    place->locks = locks_open();
    REQUIRE(directory_open(op, place->path, false, &place->directory) == ST_OK);
    options.directory = place->directory.store;
    REQUIRE(store_open(op, &options, &place->store) == ST_OK);
    REQUIRE(catalog_open(op, place->store, &place->catalog) == ST_OK);
    place->database = catalog_find_database(place->catalog, slice_of("db"));
    place->container = catalog_find_container(place->catalog, place->database, slice_of("c"));
    REQUIRE(place->container);
}

TEST(a_directory_from_before_the_index_has_nothing_to_make_again)
{
    struct place place;

    place_open(&place, "older");
    add(&place, "{'id':'1','pk':'a','mail':'x','phone':1}");
    add(&place, "{'id':'2','pk':'a','mail':'y','phone':2}");
    add(&place, "{'id':'3','pk':'a','mail':'z','phone':3}");
    place_close(&place);
    CHECK(directory_write_format(test_op(), place.path, 1) == ST_OK);
    CHECK(check(place.path) != 0); /* refused until it was served once */
    place_open_again(&place);
    CHECK(settled_lsn(&place) == CONTAINER_FIRST_LSN + 3 &&
          bucket_lsn(place.container->bucket) == CONTAINER_FIRST_LSN + 3);
    add(&place, "{'id':'4','pk':'a','mail':'w','phone':4}");
    place_close(&place);
    CHECK(check(place.path) == 0);
}

TEST(an_entry_that_the_index_lacks_or_has_too_many_is_a_problem)
{
    for (int damage = 0; damage < 3; damage++) {
        struct place place;
        struct record item;
        char name[16];

        snprintf(name, sizeof(name), "index-%d", damage);
        place_open_with(&place, name, ENTRIES_PACKED);
        item = add(&place, "{'id':'1','pk':'a','mail':'x','phone':1}");
        if (damage)
            change_entry(&place, item.number + (damage == 2), damage == 2);
        place_close(&place);
        CHECK(check(place.path) == (damage != 0));
    }
}

#endif
