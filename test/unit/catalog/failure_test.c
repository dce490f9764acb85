/* test/unit/catalog/failure_test.c - the catalog over a store whose calls fail, and over one that is damaged. */
#include "base/limits.h"
#include "catalog/child.h"
#include "catalog/definition.h"
#include "catalog/split.h"
#include "keys/keys.h"
#include "rig.h"

#define CONTAINER_C "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"

static struct json definition_of(struct rig *rig, const char *text)
{
    struct json definition = json_undefined;

    CHECK(container_define(rig->op, rig_json(rig->op, text), (struct define_options){ 0 }, &definition) ==
          ST_OK);
    return definition;
}

/* --- one change of each kind, on a catalog that has db/c, db/paid with an offer, and in db the user u with a permission --- */

static enum status change_create_database(struct rig *rig)
{
    struct database *database = NULL;
    enum status st = catalog_create_database(rig->op, rig->catalog, slice_of("new"), &database);

    database_release(database);
    return st;
}

static enum status change_create_container(struct rig *rig)
{
    struct container *container = NULL;
    enum status st = catalog_create_container(
        rig->op, rig->catalog, rig->database,
        definition_of(rig, "{'id':'new','partitionKey':{'paths':['/a']}}"), 1, &container);

    container_release(container);
    return st;
}

static enum status change_replace_container(struct rig *rig)
{
    struct container *old = catalog_find_container(rig->catalog, rig->database, slice_of("c")), *new = NULL;
    enum status st;

    if (!old)
        return ST_NOT_FOUND;
    st = catalog_replace_container(
        rig->op, rig->catalog, old,
        definition_of(rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':60}"), &new);
    container_release(new);
    container_release(old);
    return st;
}

static enum status change_drop_container(struct rig *rig)
{
    struct container *container = catalog_find_container(rig->catalog, rig->database, slice_of("c"));
    enum status st =
        container ? catalog_drop_container(rig->op, rig->catalog, container, false) : ST_NOT_FOUND;

    container_release(container);
    return st;
}

static enum status change_drop_database(struct rig *rig)
{
    return catalog_drop_database(rig->op, rig->catalog, rig->database);
}

static enum status change_create_user(struct rig *rig)
{
    struct child *child = NULL;
    enum status st = catalog_create_child(rig->op, rig->catalog, RID_TYPE_USER, &rig->database->rid,
                                          rig_json(rig->op, "{'id':'new'}"), &child);

    child_release(child);
    return st;
}

static enum status change_replace_user(struct rig *rig)
{
    struct child *old = catalog_find_child(rig->catalog, RID_TYPE_USER, &rig->database->rid, slice_of("u"));
    struct child *child = NULL;
    enum status st;

    if (!old)
        return ST_NOT_FOUND;
    st = catalog_replace_child(rig->op, rig->catalog, old, rig_json(rig->op, "{'id':'renamed'}"),
                               (struct slice){ 0 }, &child);
    child_release(child);
    child_release(old);
    return st;
}

static enum status change_drop_user(struct rig *rig)
{
    struct child *user = catalog_find_child(rig->catalog, RID_TYPE_USER, &rig->database->rid, slice_of("u"));
    enum status st =
        user ? catalog_drop_child(rig->op, rig->catalog, user, (struct slice){ 0 }) : ST_NOT_FOUND;

    child_release(user);
    return st;
}

static enum status change_create_paid_container(struct rig *rig)
{
    struct container *container = NULL;
    enum status st = catalog_create_container_with_offer(
        rig->op, rig->catalog, rig->database,
        definition_of(rig, "{'id':'new','partitionKey':{'paths':['/a']}}"), 1,
        rig_json(rig->op, "{'content':{'offerThroughput':400}}"), &container);

    container_release(container);
    return st;
}

static enum status change_split_range(struct rig *rig)
{
    struct container *old = catalog_find_container(rig->catalog, rig->database, slice_of("c")), *new = NULL;
    enum status st;

    if (!old)
        return ST_NOT_FOUND;
    st = catalog_change_ranges(rig->op, rig->catalog, old, range_split,
                               &(struct range_split){ .id = old->ranges.id[0], .parts = 2 }, &new);
    container_release(new);
    container_release(old);
    return st;
}

static enum status change_replace_offer(struct rig *rig)
{
    struct container *paid = catalog_find_container(rig->catalog, rig->database, slice_of("paid"));
    struct child *old = paid ? catalog_find_offer(rig->catalog, &paid->rid) : NULL, *new = NULL;
    enum status st = ST_NOT_FOUND;

    if (old)
        st = catalog_replace_offer(rig->op, rig->catalog, old,
                                   rig_json(rig->op, "{'content':{'offerThroughput':50000}}"),
                                   (struct slice){ 0 }, paid, 5, &new);
    child_release(new);
    child_release(old);
    container_release(paid);
    return st;
}

static enum status change_swap_containers(struct rig *rig)
{
    struct container_at pair[2] = {
        { catalog_find_container(rig->catalog, rig->database, slice_of("c")), NULL },
        { catalog_find_container(rig->catalog, rig->database, slice_of("paid")), NULL }
    };
    uint64_t lsn[2], after;
    enum status st;

    for (int i = 0; i < 2; i++) {
        lsn[i] = container_lsn(pair[i].container);
        pair[i].lsn = &lsn[i];
    }
    st = catalog_swap_containers(rig->op, rig->catalog, pair, NULL, 0, &after);
    CHECK(st != ST_OK || (after > lsn[0] && after > lsn[1]));
    for (int i = 0; i < 2; i++)
        container_release(pair[i].container);
    return st;
}

static const struct {
    const char *name;
    enum status (*run)(struct rig *rig);
} changes[] = {
    { "create database", change_create_database },
    { "create container", change_create_container },
    { "replace container", change_replace_container },
    { "split range", change_split_range },
    { "drop container", change_drop_container },
    { "drop database", change_drop_database },
    { "create user", change_create_user },
    { "replace user", change_replace_user },
    { "drop user", change_drop_user },
    { "create paid container", change_create_paid_container },
    { "replace offer", change_replace_offer },
    { "swap containers", change_swap_containers },
};
enum { CHANGE_COUNT = sizeof(changes) / sizeof(changes[0]) };

/* --- what there is, as text: ids, rids, definitions --- */

static void describe_database(struct rig *rig, struct buf *out, const struct database *database)
{
    struct container *list[16];
    size_t count = catalog_list_containers(rig->catalog, database, slice_of(""), list, 16);

    buf_slice(out, database->link);
    for (size_t i = 0; i < count; i++) {
        buf_byte(out, ' ');
        buf_slice(out, list[i]->link);
        rid_print(out, &list[i]->rid);
        buf_printf(out, " %llx ", (unsigned long long)list[i]->etag);
        json_print(out, list[i]->definition);
        for (uint32_t k = 0; k < list[i]->ranges.count; k++)
            buf_printf(out, " %u", list[i]->ranges.id[k]);
        container_release(list[i]);
    }
    buf_byte(out, '\n');
}

static void describe_children(struct rig *rig, struct buf *out, enum rid_type type, const struct rid *parent)
{
    static const struct rid beginning = { 0 };
    struct child *list[16];
    size_t count = catalog_list_children(rig->catalog, type, parent, &beginning, list, 16);

    for (size_t i = 0; i < count; i++) {
        rid_print(out, &list[i]->rid);
        buf_printf(out, " %llx ", (unsigned long long)list[i]->etag);
        json_print(out, list[i]->body);
        if (type == RID_TYPE_USER)
            describe_children(rig, out, RID_TYPE_PERMISSION, &list[i]->rid);
        child_release(list[i]);
    }
}

static struct slice describe(struct rig *rig)
{
    struct database *list[16];
    size_t count = catalog_list_databases(rig->catalog, slice_of(""), list, 16);
    struct buf out;

    buf_init(&out, &rig->op->arena);
    for (size_t i = 0; i < count; i++) {
        describe_database(rig, &out, list[i]);
        describe_children(rig, &out, RID_TYPE_USER, &list[i]->rid);
        database_release(list[i]);
    }
    describe_children(rig, &out, RID_TYPE_OFFER, &(struct rid){ 0 });
    return buf_as_slice(&out);
}

static void make_user(struct rig *rig)
{
    struct child *user = NULL, *permission = NULL;

    CHECK(catalog_create_child(rig->op, rig->catalog, RID_TYPE_USER, &rig->database->rid,
                               rig_json(rig->op, "{'id':'u'}"), &user) == ST_OK);
    CHECK(catalog_create_child(rig->op, rig->catalog, RID_TYPE_PERMISSION, &user->rid,
                               rig_json(rig->op, "{'id':'p'}"), &permission) == ST_OK);
    child_release(permission);
    child_release(user);
}

static void make_paid(struct rig *rig)
{
    struct container *paid = NULL;

    CHECK(catalog_create_container_with_offer(
              rig->op, rig->catalog, rig->database,
              definition_of(rig, "{'id':'paid','partitionKey':{'paths':['/pk'],'version':2}}"), 1,
              rig_json(rig->op, "{'content':{'offerThroughput':400}}"), &paid) == ST_OK);
    container_release(paid);
}

/* A rig with db/c, a user and an offer, with the next write failing: before it has happened, or after it. */
static void open_failing(struct rig *rig, bool after, int reopen_failures)
{
    rig_open(rig, false);
    rig_container(rig, CONTAINER_C);
    make_user(rig);
    make_paid(rig);
    faulty_fail(&rig->controls, FAULTY_WRITE, 1);
    rig->controls.fail_after = after;
    rig->controls.reopen_failures = reopen_failures;
}

static void tell(const char *change)
{
    char what[80];

    snprintf(what, sizeof(what), "in the change '%s'", change);
    test_failed(__FILE__, __LINE__, what);
}

TEST(a_change_whose_write_failed_leaves_nothing_half_made_and_works_when_it_is_tried_again)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        struct slice before, now, after_restart;
        struct rig rig;
        bool good;

        open_failing(&rig, false, 0);
        before = describe(&rig);
        good = changes[i].run(&rig) == ST_UNAVAILABLE && rig.controls.failed;
        now = describe(&rig);
        good &= slice_equal(now, before) && changes[i].run(&rig) == ST_OK;
        now = describe(&rig);
        rig_reopen(&rig);
        after_restart = describe(&rig);
        good &= slice_equal(now, after_restart) && !slice_equal(now, before);
        if (!good)
            tell(changes[i].name);
        rig_close(&rig);
    }
}

TEST(a_change_that_was_written_though_its_write_failed_has_happened)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        struct slice before, now;
        struct rig rig;
        bool good;

        open_failing(&rig, true, 0);
        before = describe(&rig);
        good = changes[i].run(&rig) == ST_OK;
        now = describe(&rig);
        rig_reopen(&rig);
        good &= !slice_equal(now, before) && slice_equal(now, describe(&rig));
        if (!good)
            tell(changes[i].name);
        rig_close(&rig);
    }
}

/* The store cannot tell at first. When it can, what the catalog says must be what a restart would find. */
TEST(a_change_in_doubt_is_settled_before_the_next_one)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        struct slice now;
        struct rig rig;
        enum status st;

        open_failing(&rig, true, 1);
        CHECK(changes[i].run(&rig) == ST_AMBIGUOUS);
        env_advance_ms(rig.op->env, 1000);
        st = changes[i].run(&rig); /* again, as a client would: it finds that it has happened */
        CHECK(st == ST_OK || st == ST_EXISTS || st == ST_NOT_FOUND || st == ST_RETRY_WITH ||
              st == ST_RANGE_GONE || st == ST_PRECONDITION_FAILED);
        now = describe(&rig);
        rig_reopen(&rig);
        if (!slice_equal(now, describe(&rig)))
            tell(changes[i].name);
        rig_close(&rig);
    }
}

/* So that no crash leaves an offer without them, which nothing but the next offer would make. */
TEST(an_offer_and_the_ranges_that_it_wants_are_one_write)
{
    struct container *paid;
    struct rig rig;

    open_failing(&rig, false, 0);
    faulty_fail(&rig.controls, FAULTY_WRITE, 2);
    CHECK(change_replace_offer(&rig) == ST_OK && !rig.controls.failed);
    paid = catalog_find_container(rig.catalog, rig.database, slice_of("paid"));
    CHECK(paid && paid->ranges.count == 5);
    container_release(paid);
    rig_close(&rig);
}

static void expect_settled_by(enum status (*settle)(struct op *op, struct catalog *catalog))
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        struct slice now;
        struct rig rig;

        open_failing(&rig, true, 1);
        CHECK(changes[i].run(&rig) == ST_AMBIGUOUS);
        env_advance_ms(rig.op->env, 1000);
        CHECK(settle(rig.op, rig.catalog) == ST_OK);
        now = describe(&rig);
        rig_reopen(&rig);
        if (!slice_equal(now, describe(&rig)))
            tell(changes[i].name);
        rig_close(&rig);
    }
}

TEST(a_change_in_doubt_is_settled_by_housekeeping_when_no_other_comes)
{
    expect_settled_by(catalog_sweep);
}

/* Which writes do before they go to a container. */
TEST(a_change_in_doubt_is_settled_by_whoever_has_to_know)
{
    expect_settled_by(catalog_settle);
}

TEST(a_thread_that_may_not_wait_settles_nothing)
{
    struct rig rig;

    open_failing(&rig, true, 1);
    CHECK(changes[0].run(&rig) == ST_AMBIGUOUS);
    env_advance_ms(rig.op->env, 1000);
    rig.op->may_block = false;
    CHECK(catalog_settle(rig.op, rig.catalog) == ST_WOULD_BLOCK);
    rig.op->may_block = true;
    CHECK(catalog_settle(rig.op, rig.catalog) == ST_OK);
    rig_close(&rig);
}

/* Bodies of nearly two megabytes, as large as scripts may be. */
static enum status create_large(struct rig *rig, const struct rid *parent, int number)
{
    enum { BYTES = 1900 * 1024 };
    struct child *child = NULL;
    struct json_builder out;
    char *body;
    char id[16];
    enum status st;

    op_begin(rig->op, INT64_MAX / 2); /* each is an operation of its own, with memory of its own */
    body = arena_alloc(&rig->op->arena, BYTES);
    memset(body, 'x', BYTES);
    snprintf(id, sizeof(id), "s%d", number);
    json_builder_init(&out, &rig->op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("id"));
    json_add_string(&out, slice_of(id));
    json_add_name(&out, slice_of("body"));
    json_add_string(&out, slice_make(body, BYTES));
    json_end(&out);
    st = catalog_create_child(rig->op, rig->catalog, RID_TYPE_PROCEDURE, parent, json_built(&out), &child);
    child_release(child);
    return st;
}

/* It is read anew by one operation, which has no more memory than any other. */
TEST(a_catalog_larger_than_an_operations_memory_is_settled_too)
{
    enum { COUNT = OP_MEMORY_BYTES_MAX / (1900 * 1024) + 5, OF_ONE = 8 };
    const struct rid *parent = NULL;
    struct rig rig;

    rig_open(&rig, false);
    for (int i = 0; i < COUNT; i++) {
        char definition[40];

        snprintf(definition, sizeof(definition), "{'id':'c%d'}", i / OF_ONE);
        if (i % OF_ONE == 0) /* one container may have no more */
            parent = &rig_container(&rig, definition)->rid;
        rig.op->memory_limit_bytes = OP_MEMORY_BYTES_MAX;
        CHECK(create_large(&rig, parent, i) == ST_OK);
    }
    REQUIRE(COUNT % OF_ONE != 0); /* there is room for another one below the last */
    faulty_fail(&rig.controls, FAULTY_WRITE, 1);
    rig.controls.fail_after = true;
    rig.controls.reopen_failures = 1;
    CHECK(create_large(&rig, parent, COUNT) == ST_AMBIGUOUS);
    env_advance_ms(rig.op->env, 1000);
    CHECK(create_large(&rig, parent, COUNT) == ST_EXISTS); /* it had happened */
    CHECK(catalog_count_children(rig.catalog, RID_TYPE_PROCEDURE, parent) == COUNT % OF_ONE + 1);
    rig.op->memory_limit_bytes = SIZE_MAX;
    op_begin(rig.op, INT64_MAX / 2);
    rig_close(&rig);
}

TEST(whichever_call_fails_while_it_opens_the_next_attempt_succeeds_and_finishes_old_drops)
{
    for (uint64_t call = 1;; call++) {
        struct slice before;
        bool struck;
        struct rig rig;

        rig_open(&rig, false);
        rig_container(&rig, CONTAINER_C);
        rig_container(&rig, "{'id':'dropped'}");
        CHECK(catalog_drop_container(rig.op, rig.catalog, rig.made[1], false) == ST_OK);
        before = describe(&rig);
        rig_reopen_store(&rig);
        faulty_fail(&rig.controls, FAULTY_ANY, call);
        struck = catalog_open(rig.op, rig.store, &rig.catalog) != ST_OK;
        CHECK(struck || call > 5); /* it did reach the last call */
        rig.controls.fail_call = 0;
        env_advance_ms(rig.op->env, 1000);
        if (struck)
            CHECK(catalog_open(rig.op, rig.store, &rig.catalog) == ST_OK);
        CHECK(slice_equal(describe(&rig), before));
        CHECK(rig_rows(&rig, 0) == 3); /* the head, db and c; no note of a drop */
        rig_close(&rig);
        if (!struck)
            break;
    }
}

/* --- damage --- */

static enum status open_with(const char *key_rest, size_t rest_size, struct slice value)
{
    struct commit_stamp stamp;
    struct bucket *bucket;
    struct batch *batch;
    enum status st;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    CHECK(store_bucket(rig.op, rig.store, 0, &bucket) == ST_OK);
    batch = batch_new(rig.op, 0);
    batch_put(batch, key_catalog(&rig.op->arena, slice_make(key_rest, rest_size)), value);
    CHECK(store_commit(rig.op, bucket, batch, &stamp) == ST_OK);
    rig_reopen_store(&rig);
    st = catalog_open(rig.op, rig.store, &rig.catalog);
    CHECK(st == ST_OK || !rig.catalog);
    rig_close(&rig);
    return st;
}

static struct slice good_record(void)
{
    struct record record = { .document = rig_json(test_op(), "{'id':'x'}") };
    size_t size;
    uint8_t *value = record_encode(test_op(), &record, &size);

    value_stamp(value, size, 1, 1);
    return slice_make(value, size);
}

TEST(a_damaged_catalog_is_refused_and_not_guessed_at)
{
    char long_rid[RID_BYTES_MAX + 1] = { 0 };

    CHECK(open_with("\0\0\0\x63", 4, good_record()) == ST_OK); /* a database that is as it should be */
    CHECK(open_with("\0\0\0\x63", 4, slice_of("junk")) == ST_CORRUPT);
    CHECK(open_with("\0\0\0\x63\x80\0\0\1", 8, good_record()) == ST_CORRUPT); /* no such database */
    CHECK(open_with("\0\0\0\x63\x80\0", 6, good_record()) == ST_CORRUPT);     /* no rid of ours */
    CHECK(open_with("\0\0\0\1\0\0\0\x50", 8, good_record()) == ST_OK);        /* a user of db */
    CHECK(open_with("\0\0\0\x63\0\0\0\x50", 8, good_record()) == ST_CORRUPT); /* of no database */
    CHECK(open_with("\0\0\0\1\0\0\0\x50\1\0\0\0\0\0\0\0", 16, good_record()) == ST_CORRUPT); /* of no user */
    CHECK(open_with("\0\0\0\1\0\0\0\0\1\0\0\0\3\0\0\0", 16, good_record()) == ST_CORRUPT);   /* of no kind */
    CHECK(open_with("\0\0\1", 3, good_record()) == ST_CORRUPT);
    CHECK(open_with(long_rid, sizeof(long_rid), good_record()) == ST_CORRUPT);
}
