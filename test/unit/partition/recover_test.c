/* test/unit/partition/recover_test.c - index entries that a crash took are made again from the change log. */
#include "items.h"
#include "partition/verify.h"
#include "store/entries.h"

#define ALL "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"
#define ONLY_A                                                                                           \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'indexingPolicy':{'includedPaths':[{'path':" \
    "'/a/?'}],'excludedPaths':[{'path':'/*'}]}}"

static struct container *found(struct rig *rig)
{
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    struct container *container = catalog_find_container(rig->catalog, database, slice_of("c"));

    database_release(database);
    return container;
}

static bool is_right(struct rig *rig)
{
    struct container *container = found(rig);
    struct verify_result result = { .missing = 1 };
    struct view view = { 0 };

    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(verify_index(rig->op, container, &view, &result) == ST_OK);
    view_close(&view);
    container_release(container);
    return result.missing == 0 && result.extra == 0 && result.expected == result.found;
}

static void change_one(struct rig *rig, const struct container *container)
{
    unsigned id = (unsigned)(test_random() % 20);
    char name[8], document[100];
    struct record item;

    snprintf(name, sizeof(name), "%u", id);
    snprintf(document, sizeof(document), "{'id':'%u','pk':'a','a':%u,'b':['x','%u']}", id,
             (unsigned)(test_random() % 5), (unsigned)(test_random() % 4));
    if (!item_read(rig, container, "['a']", name, &item))
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    else if (test_random() % 3)
        CHECK(item_replace(rig, container, name, document, &item) == ST_OK);
    else
        CHECK(item_delete(rig, container, "['a']", name) == ST_OK);
}

static void change_some(struct rig *rig, size_t changes)
{
    struct container *container = found(rig);

    for (size_t i = 0; i < changes; i++)
        change_one(rig, container);
    container_release(container);
}

TEST(after_a_crash_the_index_is_what_it_was)
{
    struct rig rig;

    rig_open_with(&rig, false, ENTRIES_PACKED);
    rig_container(&rig, ALL);
    for (size_t round = 0; round < 25; round++) {
        change_some(&rig, test_random() % 40);
        if (test_random() % 3 == 0)
            CHECK(store_entries_flush(rig.op, rig.store) == ST_OK);
        change_some(&rig, test_random() % 10);
        CHECK(is_right(&rig));
        if (test_random() % 4)
            rig_crash(&rig);
        else
            rig_reopen(&rig);
        CHECK(is_right(&rig));
    }
    rig_close(&rig);
}

/* How many rows of the log opening the catalog looks at. */
static uint64_t scans_of_opening(struct rig *rig)
{
    faulty_fail(&rig->controls, FAULTY_SCAN, 0);
    rig_reopen(rig);
    return rig->controls.calls;
}

TEST(after_a_clean_end_no_log_is_read)
{
    uint64_t scans;
    struct rig rig;

    rig_open_with(&rig, false, ENTRIES_PACKED);
    rig_container(&rig, ALL);
    scans = scans_of_opening(&rig);
    change_some(&rig, 30);
    CHECK(scans_of_opening(&rig) == scans);
    CHECK(is_right(&rig));
    rig_close(&rig);
}

TEST(a_crash_while_items_are_indexed_again_loses_nothing)
{
    struct container *container;
    struct rig rig;

    rig_open_with(&rig, false, ENTRIES_PACKED);
    container = rig_container(&rig, ALL);
    for (size_t round = 0; round < 12; round++) {
        change_some(&rig, 30);
        container = found(&rig);
        rig_redefine(&rig, container, round % 2 ? ALL : ONLY_A);
        container_release(container);
        change_some(&rig, 10);
        rig_crash(&rig);
        CHECK(is_right(&rig));
        faulty_fail(&rig.controls, FAULTY_ANY, 1 + test_random() % 12);
        (void)!rig_reindex(&rig);
        faulty_fail(&rig.controls, FAULTY_ANY, 0);
        rig_crash(&rig);
        CHECK(is_right(&rig));
        if (test_random() % 2) {
            CHECK(rig_reindex(&rig) == ST_OK);
            rig_crash(&rig);
            CHECK(is_right(&rig));
        }
    }
    rig_close(&rig);
}
