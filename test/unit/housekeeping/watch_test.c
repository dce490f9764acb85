/* test/unit/housekeeping/watch_test.c - ranges that grew too large are split where half of their items lie. */
#include "catalog/ranges.h"
#include "housekeeping/watch.h"
#include "items.h"
#include "keys/keys.h"

/* Items of about 100 bytes, each with another key, or all with one. */
static void fill(struct rig *rig, const struct container *container, int from, int to, bool one_key)
{
    for (int i = from; i < to; i++) {
        struct record item;
        char document[100];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d','text':'a text of some length'}", i,
                 one_key ? 1 : i);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
}

static uint64_t watch_for_a_while(struct rig *rig, struct watch *watch, int calls)
{
    uint64_t split = 0;

    for (int i = 0; i < calls; i++) {
        rig_advance_ms(rig, 2000);
        CHECK(watch_ranges(rig->op, watch, &split) == ST_OK);
    }
    return split;
}

static uint32_t count_ranges(const struct container *container)
{
    return container_latest(container)->ranges.count;
}

static int items_of(struct rig *rig, const struct container *container, uint32_t index)
{
    struct rows rows = rows_of_kind(rig, container, KEY_DOCUMENT);
    int count = 0;

    for (size_t i = 0; i < rows.count; i++) {
        struct record item;

        CHECK(record_decode(rig->op, rows.row[i].value, &item) == ST_OK);
        count += range_of_key(container, item.epk) == index;
    }
    return count;
}

TEST(a_range_that_grew_too_large_is_split_into_halves_until_none_is)
{
    const struct container *container;
    struct watch *watch;
    struct rig rig;
    int sum = 0;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    watch = watch_open(rig.catalog, 10000);
    fill(&rig, container, 0, 50, false);
    CHECK(watch_for_a_while(&rig, watch, 3) == 0 && count_ranges(container) == 1);
    fill(&rig, container, 50, 300, false);
    CHECK(watch_for_a_while(&rig, watch, 8) == 3 && count_ranges(container) == 4);
    container = container_latest(container);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(items_of(&rig, container, i) >= 70 && items_of(&rig, container, i) <= 80);
        sum += items_of(&rig, container, i);
    }
    CHECK(sum == 300);
    CHECK(watch_for_a_while(&rig, watch, 3) == 0);
    watch_close(watch);
    rig_close(&rig);
}

TEST(a_range_of_one_partition_key_stays_as_it_is)
{
    const struct container *container;
    struct watch *watch;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    watch = watch_open(rig.catalog, 5000);
    fill(&rig, container, 0, 200, true);
    CHECK(watch_for_a_while(&rig, watch, 5) == 0 && count_ranges(container) == 1);
    watch_close(watch);
    rig_close(&rig);
}

/* How many scans of the store a call does: none where nothing has to be measured. */
static uint64_t scans_of_watch(struct rig *rig, struct watch *watch)
{
    faulty_fail(&rig->controls, FAULTY_SCAN, 0);
    watch_for_a_while(rig, watch, 1);
    return rig->controls.calls;
}

TEST(what_was_measured_is_measured_again_when_it_has_grown_or_has_another_definition)
{
    struct container *container;
    struct watch *watch;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    watch = watch_open(rig.catalog, 5000);
    fill(&rig, container, 0, 200, true);
    CHECK(scans_of_watch(&rig, watch) > 0 && scans_of_watch(&rig, watch) == 0);
    fill(&rig, container, 200, 202, true);
    CHECK(scans_of_watch(&rig, watch) == 0);
    fill(&rig, container, 202, 220, true);
    CHECK(scans_of_watch(&rig, watch) > 0 && scans_of_watch(&rig, watch) == 0);
    rig_redefine(&rig, container, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':-1}");
    CHECK(scans_of_watch(&rig, watch) > 0);
    watch_close(watch);
    rig_close(&rig);
}

TEST(a_pass_that_failed_begins_anew_and_a_container_that_was_dropped_has_none)
{
    struct container *container;
    struct watch *watch;
    uint64_t split = 0;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    watch = watch_open(rig.catalog, 15000);
    fill(&rig, container, 0, 200, false);
    rig_advance_ms(&rig, 2000);
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    CHECK(watch_ranges(rig.op, watch, &split) != ST_OK && rig.op->error && split == 0);
    faulty_fail(&rig.controls, FAULTY_SCAN, 0);
    CHECK(watch_for_a_while(&rig, watch, 1) == 1);
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    CHECK(scans_of_watch(&rig, watch) == 0);
    watch_close(watch);
    rig_close(&rig);
}
