/* test/unit/catalog/catalog_test.c - databases and containers: found, listed, made, changed, dropped, and after a restart. */
#include "catalog/definition.h"
#include "catalog/hold.h"
#include "keys/keys.h"
#include "rig.h"

#define CONTAINER_C "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"

static struct slice rid_text(struct rig *rig, const struct rid *rid)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    rid_print(&text, rid);
    return buf_as_slice(&text);
}

static struct database *create_database(struct rig *rig, const char *id)
{
    struct database *database = NULL;

    CHECK(catalog_create_database(rig->op, rig->catalog, slice_of(id), &database) == ST_OK);
    return database;
}

/* Made and let go: the caller wants it to be there and no more. */
static struct rid make_database(struct rig *rig, const char *id)
{
    struct database *database = create_database(rig, id);
    struct rid rid = database ? database->rid : (struct rid){ 0 };

    database_release(database);
    return rid;
}

static struct json defined(struct rig *rig, const char *text)
{
    struct json definition = json_undefined;

    CHECK(container_define(rig->op, rig_json(rig->op, text), (struct define_options){ 0 }, &definition) ==
          ST_OK);
    return definition;
}

static enum status try_container(struct rig *rig, struct database *database, const char *text)
{
    struct container *container = NULL;
    enum status st =
        catalog_create_container(rig->op, rig->catalog, database, defined(rig, text), 1, &container);

    container_release(container);
    return st;
}

static bool has_database(struct rig *rig, struct slice name)
{
    struct database *database = catalog_find_database(rig->catalog, name);

    database_release(database);
    return database != NULL;
}

static bool has_container(struct rig *rig, const struct database *database, struct slice name)
{
    struct container *container = catalog_find_container(rig->catalog, database, name);

    container_release(container);
    return container != NULL;
}

/* Anything at all under the container's bucket. */
static void put_data(struct rig *rig, const struct container *container)
{
    struct batch *batch = batch_new(rig->op, bucket_id(container->bucket));
    struct commit_stamp stamp;

    batch_put(batch, key_document(&rig->op->arena, bucket_id(container->bucket), 1), slice_of("data"));
    CHECK(store_commit(rig->op, container->bucket, batch, &stamp) == ST_OK);
}

/* --- names that change places --- */

TEST(containers_that_were_written_to_since_do_not_change_names)
{
    static const char *const definitions[] = { CONTAINER_C,
                                               "{'id':'d','partitionKey':{'paths':['/a'],'version':2}}",
                                               "{'id':'e','partitionKey':{'paths':['/a'],'version':2}}" };
    struct container_at at[3]; /* two that change names, and one that is to stay as it is */
    struct container *found;
    uint64_t lsn[3], after;
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < 3; i++) {
        at[i] = (struct container_at){ rig_container(&rig, definitions[i]), &lsn[i] };
        lsn[i] = container_lsn(at[i].container);
    }
    for (int i = 0; i < 3; i += 2) { /* one of the two, and then the third */
        put_data(&rig, at[i].container);
        CHECK(catalog_swap_containers(rig.op, rig.catalog, at, &at[2], 1, &after) == ST_PRECONDITION_FAILED);
        lsn[i] = container_lsn(at[i].container);
    }
    CHECK(catalog_swap_containers(rig.op, rig.catalog, at, &at[2], 1, &after) == ST_OK);
    found = catalog_find_container(rig.catalog, rig.database, slice_of("d"));
    CHECK(rid_equal(&found->rid, &at[0].container->rid) && slice_is(found->link, "dbs/db/colls/d"));
    CHECK(container_latest(at[0].container) == found);
    CHECK(container_is_renamed(at[0].container) && container_is_renamed(at[1].container));
    CHECK(!container_is_renamed(found) && !container_is_renamed(at[2].container));
    container_release(found);
    rig_close(&rig);
}

TEST(holds_are_read_as_they_were_written_and_not_when_they_are_damaged)
{
    struct holds holds = { 2, { { 7, 1700000000500 }, { UINT64_MAX, 1 } } }, read = { 0 };
    struct slice value;
    struct rig rig;

    rig_open(&rig, false);
    value = holds_encode(rig.op, &holds);
    CHECK(holds_decode(rig.op, value, &read) == ST_OK && memcmp(&holds, &read, sizeof(holds)) == 0);
    for (size_t size = 0; size < value.size; size++)
        CHECK(holds_decode(rig.op, slice_make(value.data, size), &read) ==
              (size % 16 == 1 ? ST_OK : ST_CORRUPT));
    holds_forget(&holds, 7, 0);
    CHECK(holds.count == 1 && holds.hold[0].container == UINT64_MAX);
    holds_forget(&holds, 7, 1);
    CHECK(holds.count == 0);
    rig_close(&rig);
}

/* --- finding and listing --- */

TEST(a_database_is_found_by_its_id_and_by_its_rid)
{
    struct database *made, *found;
    struct rig rig;

    rig_open(&rig, false);
    made = create_database(&rig, "first");
    CHECK(slice_is(made->id, "first") && slice_is(made->link, "dbs/first") && made->ts_ms == 1700000000000);
    found = catalog_find_database(rig.catalog, slice_of("first"));
    CHECK(found == made);
    database_release(found);
    found = catalog_find_database(rig.catalog, rid_text(&rig, &made->rid));
    CHECK(found == made);
    database_release(found);
    CHECK(!has_database(&rig, slice_of("First")) && !has_database(&rig, slice_of("")));
    database_release(made);
    rig_close(&rig);
}

TEST(a_container_is_found_in_its_own_database_only)
{
    struct database *other;
    struct container *made;
    struct rig rig;

    rig_open(&rig, false);
    made = rig_container(&rig, CONTAINER_C);
    other = create_database(&rig, "other");
    CHECK(slice_is(made->link, "dbs/db/colls/c") && made->database == rig.database);
    CHECK(made->epk_version == EPK_V2 && made->key_path_count == 1 && !made->system_key);
    CHECK(slice_is(made->key_path[0].segment[0], "pk"));
    CHECK(has_container(&rig, rig.database, slice_of("c")));
    CHECK(has_container(&rig, rig.database, rid_text(&rig, &made->rid)));
    CHECK(!has_container(&rig, other, slice_of("c")));
    CHECK(!has_container(&rig, other, rid_text(&rig, &made->rid)));
    CHECK(!has_container(&rig, rig.database, slice_of("C")));
    database_release(other);
    rig_close(&rig);
}

TEST(a_name_longer_than_any_id_is_not_found)
{
    char name[5000];
    struct rig rig;

    memset(name, 'x', sizeof(name));
    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    CHECK(!has_database(&rig, slice_make(name, sizeof(name))));
    CHECK(!has_container(&rig, rig.database, slice_make(name, sizeof(name))));
    rig_close(&rig);
}

TEST(databases_are_listed_in_order_of_creation_whatever_the_page_size)
{
    enum { COUNT = 300 };
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < COUNT; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%c%d", 'a' + (i * 7) % 26, i);
        make_database(&rig, id);
    }
    for (int round = 0; round < 20; round++) {
        struct rid after = { 0 };
        int seen = 0;

        for (size_t count = 1; count > 0;) {
            struct database *page[64];

            count = catalog_list_databases(rig.catalog, rid_slice(&after), page, 1 + test_random() % 64);
            for (size_t i = 0; i < count; i++, seen++) {
                int number = -1;

                CHECK(sscanf(page[i]->id.data + 1, "%d", &number) == 1 && number == seen);
                after = page[i]->rid;
                database_release(page[i]);
            }
        }
        CHECK(seen == COUNT);
    }
    rig_close(&rig);
}

TEST(containers_are_listed_in_order_of_creation_and_those_of_one_database_only)
{
    static const char *const order[] = { "z", "a", "m" };
    struct database *other;
    struct container *list[8];
    size_t count, databases, containers;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'z'}");
    other = create_database(&rig, "other");
    CHECK(try_container(&rig, other, CONTAINER_C) == ST_OK);
    rig_container(&rig, "{'id':'a'}");
    rig_container(&rig, "{'id':'m'}");
    count = catalog_list_containers(rig.catalog, rig.database, slice_of(""), list, 8);
    CHECK(count == 3);
    for (size_t i = 0; i < count; i++) {
        CHECK(slice_is(list[i]->id, order[i]));
        container_release(list[i]);
    }
    count = catalog_list_containers(rig.catalog, rig.database, rid_slice(&rig.made[0]->rid), list, 1);
    CHECK(count == 1 && slice_is(list[0]->id, "a"));
    container_release(list[0]);
    catalog_count(rig.catalog, &databases, &containers);
    CHECK(databases == 2 && containers == 4);
    database_release(other);
    rig_close(&rig);
}

/* --- making and changing --- */

TEST(an_id_is_taken_once_among_its_kind_and_owner)
{
    struct database *database, *again = NULL;
    struct rig rig;

    rig_open(&rig, false);
    database = create_database(&rig, "one");
    CHECK(catalog_create_database(rig.op, rig.catalog, slice_of("one"), &again) == ST_EXISTS);
    CHECK(try_container(&rig, database, CONTAINER_C) == ST_OK);
    CHECK(try_container(&rig, database, CONTAINER_C) == ST_EXISTS);
    database_release(database);
    database = create_database(&rig, "two");
    CHECK(try_container(&rig, database, CONTAINER_C) == ST_OK);
    database_release(database);
    rig_close(&rig);
}

TEST(a_replaced_container_is_a_new_struct_and_holders_of_the_old_one_see_no_change)
{
    struct container *old, *new = NULL, *found;
    struct rig rig;

    rig_open(&rig, false);
    old = rig_container(&rig, CONTAINER_C);
    CHECK(catalog_replace_container(
              rig.op, rig.catalog, old,
              defined(&rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':60}"),
              &new) == ST_OK);
    CHECK(new != old &&new->etag != old->etag &&new->bucket == old->bucket &&rid_equal(&new->rid, &old->rid));
    CHECK(json_kind(json_get(old->definition, "defaultTtl")) == JSON_UNDEFINED);
    CHECK(json_int(json_get(new->definition, "defaultTtl")) == 60);
    found = catalog_find_container(rig.catalog, rig.database, slice_of("c"));
    CHECK(found == new);
    container_release(found);
    container_release(new);
    rig_close(&rig);
}

#define WITH(more) "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}," more "}"

TEST(a_container_knows_its_time_to_live_and_its_unique_keys_after_a_restart_too)
{
    struct container *container;
    struct database *database;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, WITH("'defaultTtl':-1"));
    CHECK(container->default_ttl == TTL_NEVER && !container->keeps_unique);
    container =
        rig_container(&rig, "{'id':'u','partitionKey':{'paths':['/pk']},'uniqueKeyPolicy':{'uniqueKeys':"
                            "[{'paths':['/a','/b/c']},{'paths':['/d']}]}}");
    rig_reopen(&rig);
    database = catalog_find_database(rig.catalog, slice_of("db"));
    container = catalog_find_container(rig.catalog, database, slice_of("u"));
    REQUIRE(container);
    CHECK(container->default_ttl == TTL_OFF && container->keeps_unique && container->unique_key_count == 2);
    CHECK(container->unique_key[0].path_count == 2 && container->unique_key[1].path_count == 1 &&
          slice_is(container->unique_key[0].path[1].segment[1], "c"));
    container_release(container);
    database_release(database);
    rig_close(&rig);
}

static bool has_default_ttl(const struct container *container, const void *other_than)
{
    return container->default_ttl != *(const int32_t *)other_than;
}

TEST(only_containers_that_pass_the_filter_are_listed)
{
    struct container *list[4], *container;
    const int32_t off = TTL_OFF;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, WITH("'x':1"));
    CHECK(catalog_list_where(rig.catalog, has_default_ttl, &off, list, 4) == 0);
    container = rig_redefine(&rig, container, WITH("'defaultTtl':-1"));
    rig_container(&rig, "{'id':'d','partitionKey':{'paths':['/pk']},'defaultTtl':5}");
    CHECK(catalog_list_where(rig.catalog, has_default_ttl, &off, list, 4) == 2);
    CHECK((list[0] == container) != (list[1] == container));
    container_release(list[0]);
    container_release(list[1]);
    CHECK(catalog_list_where(rig.catalog, has_default_ttl, &off, list, 1) == 1);
    container_release(list[0]);
    CHECK(catalog_list_where(rig.catalog, NULL, NULL, list, 4) == 2);
    container_release(list[0]);
    container_release(list[1]);
    rig_close(&rig);
}

TEST(a_change_of_a_container_that_has_changed_since_is_refused)
{
    struct container *old, *new = NULL, *newest = NULL;
    struct rig rig;

    rig_open(&rig, false);
    old = rig_container(&rig, CONTAINER_C);
    CHECK(catalog_replace_container(rig.op, rig.catalog, old, old->definition, &new) == ST_OK);
    CHECK(catalog_replace_container(rig.op, rig.catalog, old, old->definition, &newest) == ST_RETRY_WITH);
    CHECK(catalog_drop_container(rig.op, rig.catalog, old, true) == ST_PRECONDITION_FAILED);
    CHECK(catalog_drop_container(rig.op, rig.catalog, old, false) == ST_OK);
    CHECK(catalog_replace_container(rig.op, rig.catalog, new, new->definition, &newest) == ST_NOT_FOUND);
    CHECK(catalog_drop_container(rig.op, rig.catalog, new, false) == ST_NOT_FOUND);
    container_release(new);
    rig_close(&rig);
}

TEST(nothing_is_made_in_a_database_that_was_dropped_meanwhile)
{
    struct database *database;
    struct rig rig;

    rig_open(&rig, false);
    database = create_database(&rig, "d");
    CHECK(catalog_drop_database(rig.op, rig.catalog, database) == ST_OK);
    CHECK(try_container(&rig, database, CONTAINER_C) == ST_OWNER_NOT_FOUND);
    make_database(&rig, "d"); /* another of the same name is not the same */
    CHECK(try_container(&rig, database, CONTAINER_C) == ST_OWNER_NOT_FOUND);
    CHECK(catalog_drop_database(rig.op, rig.catalog, database) == ST_NOT_FOUND);
    database_release(database);
    CHECK(has_database(&rig, slice_of("d")));
    rig_close(&rig);
}

/* --- restarts --- */

TEST(everything_is_as_it_was_after_a_restart)
{
    struct container *container, *found;
    uint64_t etag, database_etag;
    struct rid rid;
    struct slice before;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, CONTAINER_C);
    etag = container->etag;
    database_etag = container->database->etag;
    rid = container->rid;
    before = arena_copy(&rig.op->arena, json_bytes(container->definition));
    env_advance_ms(rig.op->env, 5000);
    rig_reopen(&rig);
    rig.database = catalog_find_database(rig.catalog, slice_of("db"));
    REQUIRE(rig.database);
    CHECK(rig.database->etag == database_etag && rig.database->ts_ms == 1700000000000);
    found = catalog_find_container(rig.catalog, rig.database, slice_of("c"));
    CHECK(found && rid_equal(&found->rid, &rid) && found->etag == etag && found->ts_ms == 1700000000000);
    CHECK(found && slice_equal(json_bytes(found->definition), before) &&
          slice_is(found->link, "dbs/db/colls/c"));
    container_release(found);
    rig_close(&rig);
}

TEST(more_definitions_than_one_block_holds_are_all_read_at_the_start)
{
    enum { COUNT = 2100 };
    size_t databases, containers;
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < COUNT; i++) {
        char id[16];

        snprintf(id, sizeof(id), "d%d", i);
        make_database(&rig, id);
    }
    rig_reopen(&rig);
    catalog_count(rig.catalog, &databases, &containers);
    CHECK(databases == COUNT && containers == 0);
    rig_close(&rig);
}

/* Promise 2. */
TEST(numbers_are_not_given_again_after_drops_and_restarts)
{
    struct rid seen[12];
    size_t count = 0;
    struct rig rig;

    rig_open(&rig, false);
    for (int round = 0; round < 6; round++) {
        struct container *container = rig_container(&rig, CONTAINER_C);

        seen[count++] = rig.database->rid;
        seen[count++] = container->rid;
        CHECK(catalog_drop_database(rig.op, rig.catalog, rig.database) == ST_OK);
        rig_reopen(&rig);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) /* containers apart from databases: rids of a container hold both */
            CHECK(seen[i].size != seen[k].size ||
                  memcmp(seen[i].bytes + seen[i].size - 4, seen[k].bytes + seen[i].size - 4, 4) != 0);
    rig_close(&rig);
}

TEST(the_number_of_a_dropped_database_without_containers_is_not_given_again_either)
{
    struct rid first, second;
    struct rig rig;

    rig_open(&rig, false);
    rig.database = create_database(&rig, "d");
    first = rig.database->rid;
    CHECK(catalog_drop_database(rig.op, rig.catalog, rig.database) == ST_OK);
    rig_reopen(&rig);
    second = make_database(&rig, "d");
    CHECK(!rid_equal(&first, &second));
    rig_close(&rig);
}

/* --- dropping --- */

TEST(a_dropped_container_is_not_found_and_keeps_its_data_until_the_last_reference_is_back)
{
    struct container *container;
    uint64_t bucket;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, CONTAINER_C);
    bucket = bucket_id(container->bucket);
    put_data(&rig, container);
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    CHECK(!has_container(&rig, rig.database, slice_of("c")));
    CHECK(!has_container(&rig, rig.database, rid_text(&rig, &container->rid)));
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK && rig_rows(&rig, bucket) > 0);
    rig.made_count = 0;
    container_release(container);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK && rig_rows(&rig, bucket) == 0);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK);
    rig_close(&rig);
}

TEST(a_reference_to_an_earlier_version_keeps_the_data_of_a_dropped_container_too)
{
    struct container *old, *new = NULL, *newest = NULL;
    uint64_t bucket;
    struct rig rig;

    rig_open(&rig, false);
    old = rig_container(&rig, CONTAINER_C);
    bucket = bucket_id(old->bucket);
    put_data(&rig, old);
    CHECK(catalog_replace_container(rig.op, rig.catalog, old, old->definition, &new) == ST_OK);
    CHECK(catalog_replace_container(rig.op, rig.catalog, new, new->definition, &newest) == ST_OK);
    CHECK(catalog_drop_container(rig.op, rig.catalog, newest, false) == ST_OK);
    container_release(newest);
    container_release(new);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK && rig_rows(&rig, bucket) > 0);
    rig.made_count = 0;
    container_release(old);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK && rig_rows(&rig, bucket) == 0);
    rig_close(&rig);
}

TEST(a_dropped_database_takes_its_containers_and_their_data_along)
{
    uint64_t buckets[2];
    size_t databases, containers;
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < 2; i++) {
        struct container *container = rig_container(&rig, i ? "{'id':'a'}" : "{'id':'b'}");

        buckets[i] = bucket_id(container->bucket);
        put_data(&rig, container);
    }
    CHECK(catalog_drop_database(rig.op, rig.catalog, rig.database) == ST_OK);
    catalog_count(rig.catalog, &databases, &containers);
    CHECK(databases == 0 && containers == 0 && !has_container(&rig, rig.database, slice_of("a")));
    while (rig.made_count)
        container_release(rig.made[--rig.made_count]);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK);
    CHECK(rig_rows(&rig, buckets[0]) == 0 && rig_rows(&rig, buckets[1]) == 0);
    CHECK(rig_rows(&rig, 0) == 2); /* the head and the past: no definition and no note is left */
    rig_close(&rig);
}

static uint64_t lsn_of_new_container(struct rig *rig)
{
    struct container *container = rig_container(rig, CONTAINER_C);
    uint64_t lsn;

    put_data(rig, container);
    lsn = container_lsn(container);
    CHECK(catalog_drop_container(rig->op, rig->catalog, container, false) == ST_OK);
    rig->made_count = 0;
    container_release(container);
    return lsn;
}

/* As on the service: the first write of a container has LSN 2. */
TEST(the_creation_of_a_container_takes_its_first_lsn)
{
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < 3; i++) { /* one that was never written leaves nothing to be above of */
        struct container *container = rig_container(&rig, CONTAINER_C);

        CHECK(container_lsn(container) == CONTAINER_FIRST_LSN);
        CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
        rig.made_count = 0;
        container_release(container);
        if (i == 1)
            rig_reopen(&rig);
    }
    CHECK(lsn_of_new_container(&rig) == CONTAINER_FIRST_LSN + 1);
    rig_close(&rig);
}

/* Promise 8. */
TEST(a_container_made_anew_begins_above_the_lsn_of_the_old_one)
{
    struct rig rig;
    uint64_t lsn[4];

    rig_open(&rig, false);
    lsn[0] = lsn_of_new_container(&rig);
    lsn[1] = lsn_of_new_container(&rig); /* the old one's data is still there */
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK);
    lsn[2] = lsn_of_new_container(&rig); /* it is not */
    rig_reopen(&rig);
    lsn[3] = lsn_of_new_container(&rig);
    for (int i = 1; i < 4; i++)
        CHECK(lsn[i] > lsn[i - 1] + 1);
    rig_close(&rig);
}

/* Promise 3. */
TEST(a_drop_that_nobody_swept_is_finished_at_the_next_start)
{
    struct container *container;
    uint64_t bucket;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, CONTAINER_C);
    bucket = bucket_id(container->bucket);
    put_data(&rig, container);
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    CHECK(rig_rows(&rig, bucket) > 0);
    rig_reopen(&rig);
    CHECK(rig_rows(&rig, bucket) == 0);
    CHECK(rig_rows(&rig, 0) == 3); /* the head, the database and the past */
    rig_close(&rig);
}

TEST(data_that_could_not_be_removed_is_removed_after_the_next_start)
{
    struct container *container;
    uint64_t bucket;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, CONTAINER_C);
    bucket = bucket_id(container->bucket);
    put_data(&rig, container);
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    rig.made_count = 0;
    container_release(container);
    faulty_fail(&rig.controls, FAULTY_REMOVE, 1);
    CHECK(catalog_sweep(rig.op, rig.catalog) != ST_OK && rig_rows(&rig, bucket) > 0);
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK);
    rig_reopen(&rig);
    CHECK(rig_rows(&rig, bucket) == 0 && rig_rows(&rig, 0) == 3);
    rig_close(&rig);
}

/* --- names that look like rids: by either, a resource is found and no other --- */

TEST(a_database_gets_no_rid_that_is_anothers_id)
{
    struct database *found;
    struct slice squatted;
    struct rid first, next;
    struct rig rig;

    rig_open(&rig, false);
    first = make_database(&rig, "a");
    next = rid_database((uint32_t)rid_number(&first) + 2); /* the next but one: the squatter gets one too */
    squatted = rid_text(&rig, &next);
    make_database(&rig, arena_text(&rig.op->arena, squatted));
    for (int i = 0; i < 3; i++)
        make_database(&rig, (const char *[]){ "b", "c", "d" }[i]);
    found = catalog_find_database(rig.catalog, squatted);
    CHECK(found && slice_equal(found->id, squatted) && !rid_equal(&found->rid, &next));
    database_release(found);
    rig_close(&rig);
}

TEST(a_container_gets_no_rid_that_is_anothers_id)
{
    struct container *first, *found;
    struct slice squatted;
    struct rid next;
    struct rig rig;
    struct buf text;

    rig_open(&rig, false);
    first = rig_container(&rig, "{'id':'a','partitionKey':{'paths':['/pk'],'version':2}}");
    next = rid_container(&rig.database->rid, (uint32_t)rid_number(&first->rid) + 2);
    squatted = rid_text(&rig, &next);
    buf_init(&text, &rig.op->arena);
    buf_printf(&text, "{'id':'%.*s','partitionKey':{'paths':['/pk'],'version':2}}", SLICE_ARGS(squatted));
    rig_container(&rig, arena_text(&rig.op->arena, buf_as_slice(&text)));
    rig_container(&rig, "{'id':'b','partitionKey':{'paths':['/pk'],'version':2}}");
    rig_container(&rig, CONTAINER_C);
    found = catalog_find_container(rig.catalog, rig.database, squatted);
    CHECK(found && slice_equal(found->id, squatted) && !rid_equal(&found->rid, &next));
    container_release(found);
    rig_close(&rig);
}
