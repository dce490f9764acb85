/* test/unit/catalog/thread_test.c - many threads create, find, replace and drop at once; run under TSan too. */
#include <pthread.h>
#include <sched.h>

#include "catalog/change.h"
#include "catalog/child.h"
#include "catalog/definition.h"
#include "rig.h"

enum { THREADS = 8, ROUNDS = 60, IDS = 5 };

struct worker {
    struct rig *rig;
    pthread_t thread;
    uint64_t random;
    int unexpected;
};

static uint64_t draw(struct worker *worker)
{
    worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
    return worker->random >> 33;
}

static struct slice any_id(struct worker *worker)
{
    static const char *const ids[IDS] = { "a", "b", "c", "d", "e" };

    return slice_of(ids[draw(worker) % IDS]);
}

static void expect(struct worker *worker, enum status st, enum status other, enum status another)
{
    worker->unexpected += st != ST_OK && st != other && st != another;
}

static void work_on_database(struct op *op, struct worker *worker)
{
    struct catalog *catalog = worker->rig->catalog;
    struct database *database = NULL;

    if (draw(worker) % 4 != 0) {
        expect(worker, catalog_create_database(op, catalog, any_id(worker), &database), ST_EXISTS, ST_EXISTS);
    } else {
        database = catalog_find_database(catalog, any_id(worker));
        if (database)
            expect(worker, catalog_drop_database(op, catalog, database), ST_NOT_FOUND, ST_NOT_FOUND);
    }
    database_release(database);
}

static void change_container(struct op *op, struct worker *worker, struct database *database)
{
    struct catalog *catalog = worker->rig->catalog;
    struct container *container = catalog_find_container(catalog, database, slice_of("c")), *replaced = NULL;

    if (!container)
        return;
    worker->unexpected += !slice_is(container->id, "c") || json_kind(container->definition) != JSON_OBJECT;
    if (draw(worker) % 3)
        expect(worker, catalog_replace_container(op, catalog, container, container->definition, &replaced),
               ST_NOT_FOUND, ST_RETRY_WITH);
    else
        expect(worker, catalog_drop_container(op, catalog, container, false), ST_NOT_FOUND, ST_NOT_FOUND);
    container_release(replaced);
    container_release(container);
}

static void work_on_containers(struct op *op, struct worker *worker)
{
    struct catalog *catalog = worker->rig->catalog;
    struct database *database = catalog_find_database(catalog, any_id(worker));
    struct container *container = NULL;
    struct json definition;

    if (!database)
        return;
    expect(worker,
           container_define(op, rig_json(op, "{'id':'c','partitionKey':{'paths':['/pk']}}"),
                            (struct define_options){ 0 }, &definition),
           ST_OK, ST_OK);
    expect(worker, catalog_create_container(op, catalog, database, definition, 1, &container), ST_EXISTS,
           ST_OWNER_NOT_FOUND);
    container_release(container);
    change_container(op, worker, database);
    database_release(database);
}

/* A user that others replace and drop meanwhile, and a permission below it. */
static void work_on_user(struct op *op, struct worker *worker, const struct rid *database)
{
    struct catalog *catalog = worker->rig->catalog;
    struct child *user = NULL, *permission = NULL;
    bool created;

    expect(worker,
           catalog_upsert_child(op, catalog, RID_TYPE_USER, database, rig_json(op, "{'id':'u'}"),
                                (struct slice){ 0 }, &user, &created),
           ST_OWNER_NOT_FOUND, ST_OWNER_NOT_FOUND);
    if (!user)
        return;
    worker->unexpected += !slice_is(user->id, "u") || user->type != RID_TYPE_USER;
    expect(worker,
           catalog_create_child(op, catalog, RID_TYPE_PERMISSION, &user->rid, rig_json(op, "{'id':'p'}"),
                                &permission),
           ST_EXISTS, ST_OWNER_NOT_FOUND);
    if (draw(worker) % 3 == 0)
        expect(worker, catalog_drop_child(op, catalog, user, (struct slice){ 0 }), ST_NOT_FOUND,
               ST_NOT_FOUND);
    child_release(permission);
    child_release(user);
}

static void work_on_users(struct op *op, struct worker *worker)
{
    struct database *database = catalog_find_database(worker->rig->catalog, any_id(worker));

    if (database)
        work_on_user(op, worker, &database->rid);
    database_release(database);
}

/* Users and permissions of one database; a database has one user at most, and that one permission. */
static size_t count_children(struct worker *worker, const struct rid *database)
{
    static const struct rid beginning = { 0 };
    struct catalog *catalog = worker->rig->catalog;
    struct child *list[2];
    size_t count = catalog_list_children(catalog, RID_TYPE_USER, database, &beginning, list, 2), all = count;

    worker->unexpected += count > 1;
    for (size_t i = 0; i < count; i++) {
        size_t below = catalog_count_children(catalog, RID_TYPE_PERMISSION, &list[i]->rid);

        worker->unexpected += below > 1;
        all += below;
        child_release(list[i]);
    }
    return all;
}

static size_t look_around(struct worker *worker)
{
    struct catalog *catalog = worker->rig->catalog;
    struct database *list[IDS];
    size_t count = catalog_list_databases(catalog, slice_of(""), list, IDS), children = 0;

    for (size_t i = 0; i < count; i++) {
        struct container *containers[2];
        size_t found = catalog_list_containers(catalog, list[i], slice_of(""), containers, 2);

        worker->unexpected += found > 1;
        for (size_t k = 0; k < found; k++)
            container_release(containers[k]);
        children += count_children(worker, &list[i]->rid);
        database_release(list[i]);
    }
    return children;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct op op;

    op_init(&op, worker->rig->op->env, SIZE_MAX);
    for (int i = 0; i < ROUNDS; i++) {
        op_begin(&op, INT64_MAX / 2);
        work_on_database(&op, worker);
        work_on_containers(&op, worker);
        work_on_users(&op, worker);
        look_around(worker);
        if (draw(worker) % 8 == 0)
            expect(worker, catalog_sweep(&op, worker->rig->catalog), ST_OK, ST_OK);
    }
    op_free(&op);
    return NULL;
}

TEST(threads_that_create_find_replace_and_drop_at_once_leave_a_catalog_that_a_restart_agrees_with)
{
    struct worker workers[THREADS];
    size_t databases, containers, databases_after, containers_after;
    struct rig rig;

    rig_open(&rig, true);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .rig = &rig, .random = test_random() };
        REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].unexpected == 0);
    }
    CHECK(catalog_sweep(rig.op, rig.catalog) == ST_OK);
    catalog_count(rig.catalog, &databases, &containers);
    CHECK(rig_rows(&rig, 0) ==
          1 + databases + containers +
              look_around(&workers[0])); /* the head and what there is: every drop is done */
    rig_reopen(&rig);
    catalog_count(rig.catalog, &databases_after, &containers_after);
    CHECK(databases == databases_after && containers == containers_after);
    rig_close(&rig);
}

static void *create_one(void *context)
{
    struct worker *worker = context;
    struct database *database = NULL;
    struct op op;

    op_init(&op, worker->rig->op->env, SIZE_MAX);
    expect(worker, catalog_create_database(&op, worker->rig->catalog, slice_of("new"), &database), ST_OK,
           ST_OK);
    database_release(database);
    op_free(&op);
    return NULL;
}

/* Otherwise readers that overlap each other would keep it out for ever. */
TEST(readers_wait_for_a_change_that_waits_for_readers)
{
    struct worker worker;
    struct rig rig;
    int64_t until_ms;
    bool got = true;

    rig_open(&rig, false);
    worker = (struct worker){ .rig = &rig };
    until_ms = env_monotonic_ms(env_system()) + 10000;
    readers_enter(&rig.catalog->lock);
    REQUIRE(pthread_create(&worker.thread, NULL, create_one, &worker) == 0);
    while (got && env_monotonic_ms(env_system()) < until_ms) {
        got = readers_try_enter(&rig.catalog->lock); /* a reader more, while one is there */
        if (got)
            readers_leave(&rig.catalog->lock);
        sched_yield();
    }
    CHECK(!got);
    readers_leave(&rig.catalog->lock);
    pthread_join(worker.thread, NULL);
    CHECK(worker.unexpected == 0);
    rig_close(&rig);
}

static void *replace_one(void *context)
{
    struct worker *worker = context;
    struct container *old = worker->rig->made[0], *new = NULL;
    struct op op;

    op_init(&op, worker->rig->op->env, SIZE_MAX);
    expect(worker, catalog_replace_container(&op, worker->rig->catalog, old, old->definition, &new), ST_OK,
           ST_OK);
    container_release(new);
    op_free(&op);
    return NULL;
}

TEST(a_definition_is_replaced_when_the_last_who_pinned_it_has_let_go)
{
    struct container *container;
    struct worker worker;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, "{'id':'c','partitionKey':{'paths':['/pk']}}");
    worker = (struct worker){ .rig = &rig };
    CHECK(container_pin(container));
    REQUIRE(pthread_create(&worker.thread, NULL, replace_one, &worker) == 0);
    while (container_pin(container)) /* until it is about to be replaced */
        container_unpin(container);
    CHECK(!container_successor(container));
    container_unpin(container);
    pthread_join(worker.thread, NULL);
    CHECK(worker.unexpected == 0 && container_successor(container) && !container_pin(container));
    rig_close(&rig);
}
