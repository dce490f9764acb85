/* test/unit/housekeeping/housekeeping_test.c - every chore has its turn, and what was done is counted. */
#include "housekeeping/housekeeping.h"
#include "items.h"
#include "keys/keys.h"

#define SHORT_LIVED "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':10}"

static struct housekeeping *open_for(struct rig *rig)
{
    return housekeeping_open(&(struct housekeeping_options){
        .catalog = rig->catalog, .ledger = rig->ledger, .retention_ms = 1000, .range_bytes_max = 5000 });
}

static void fill(struct rig *rig, const struct container *container, int count)
{
    for (int n = 0; n < count; n++) {
        struct record item;
        char document[100];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d','text':'a text of some length'}", n, n);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
}

static struct housekeeping_stats stats_of(const struct housekeeping *housekeeping)
{
    struct housekeeping_stats stats;

    housekeeping_stats(housekeeping, &stats);
    return stats;
}

TEST(one_run_removes_expires_trims_and_splits)
{
    struct container *container, *dropped;
    struct housekeeping *housekeeping;
    uint64_t bucket;
    struct rig rig;

    rig_open(&rig, false);
    dropped = rig_container(&rig, "{'id':'d','partitionKey':{'paths':['/pk'],'version':2}}");
    bucket = bucket_id(dropped->bucket);
    fill(&rig, dropped, 3);
    CHECK(catalog_drop_container(rig.op, rig.catalog, dropped, false) == ST_OK);
    container_release(rig.made[--rig.made_count]);
    container = rig_container(&rig, SHORT_LIVED);
    fill(&rig, container, 80);
    housekeeping = open_for(&rig);
    rig_advance_ms(&rig, 5000);
    housekeeping_run(rig.op, housekeeping);
    CHECK(rig_rows(&rig, bucket) == 0);
    CHECK(stats_of(housekeeping).items_expired == 0 && stats_of(housekeeping).ranges_split == 1);
    CHECK(container_latest(container)->ranges.count == 2);
    rig_advance_ms(&rig, 10000);
    housekeeping_run(rig.op, housekeeping);
    CHECK(stats_of(housekeeping).items_expired == 80);
    CHECK(rows_of_kind(&rig, container, KEY_LOG).count == 160);
    rig_advance_ms(&rig, 10000);
    housekeeping_run(rig.op, housekeeping);
    CHECK(rows_of_kind(&rig, container, KEY_LOG).count == 0);
    housekeeping_close(housekeeping);
    rig_close(&rig);
}

TEST(a_chore_that_fails_keeps_no_other_from_being_done)
{
    struct housekeeping *housekeeping;
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, SHORT_LIVED);
    fill(&rig, container, 80);
    housekeeping = open_for(&rig);
    rig_advance_ms(&rig, 11000);
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    housekeeping_run(rig.op, housekeeping);
    CHECK(rig.controls.failed && stats_of(housekeeping).items_expired == 0);
    CHECK(stats_of(housekeeping).ranges_split == 1);
    faulty_fail(&rig.controls, FAULTY_SCAN, 0);
    rig_advance_ms(&rig, 60000);
    housekeeping_run(rig.op, housekeeping);
    CHECK(stats_of(housekeeping).items_expired == 80);
    housekeeping_close(housekeeping);
    rig_close(&rig);
}
