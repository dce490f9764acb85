/* test/unit/partition/parts_test.c - a container whose items lie in several buckets is one container to its users. */
#include "catalog/parts.h"
#include "catalog/split.h"
#include "items.h"
#include "keys/keys.h"
#include "partition/feed.h"
#include "partition/scan.h"

enum { BUCKETS = 4, ITEMS = 200 };

#define WITH_TTL "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':10}"
#define UNINDEXED                                                            \
    "{'id':'c','partitionKey':{'paths':['/"                                  \
    "pk'],'version':2},'indexingPolicy':{'includedPaths':[],'excludedPaths'" \
    ":[{'path':'/*'}]}}"

static struct container *open_divided(struct rig *rig, const char *definition)
{
    rig_open_with(rig, false, ENTRIES_PACKED);
    catalog_divide(rig->catalog, BUCKETS);
    return rig_container(rig, definition);
}

static void fill(struct rig *rig, const struct container *container, uint64_t *number)
{
    for (int i = 0; i < ITEMS; i++) {
        struct record item;
        char text[80];

        snprintf(text, sizeof(text), "{'id':'%d','pk':'%d','n':%d}", i, i, i);
        CHECK(item_create(rig, container, text, &item) == ST_OK);
        number[i] = item.number;
    }
}

static size_t documents_of(struct rig *rig, const struct container *container)
{
    size_t count = 0;

    for (uint32_t i = 0; i < container->part_count; i++)
        count += rows_of_kind(rig, container->part[i], KEY_DOCUMENT).count;
    return count;
}

static bool parts_are_whole(struct rig *rig, const struct container *container)
{
    for (uint32_t i = 0; i < container->part_count; i++)
        if (!container_is_whole(rig, container->part[i]))
            return false;
    return true;
}

static struct container *found_again(struct rig *rig)
{
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    struct container *found = catalog_find_container(rig->catalog, database, slice_of("c"));

    database_release(database);
    return found;
}

TEST(every_bucket_has_items_and_every_item_is_found_by_key_and_by_number)
{
    static uint64_t number[ITEMS];
    struct bucket_usage usage;
    struct container *container;
    struct record item;
    struct rig rig;
    bool found;

    container = open_divided(&rig, BY_PK);
    CHECK(container->part_count == BUCKETS && container->ranges.count == BUCKETS && !container->bucket);
    fill(&rig, container, number);
    for (uint32_t i = 0; i < BUCKETS; i++)
        CHECK(rows_of_kind(&rig, container->part[i], KEY_DOCUMENT).count > ITEMS / BUCKETS / 2);
    for (int i = 0; i < ITEMS; i++) {
        char key[16], id[8];

        snprintf(key, sizeof(key), "['%d']", i);
        snprintf(id, sizeof(id), "%d", i);
        CHECK(item_read(&rig, container, key, id, &item) && item.number == number[i]);
        CHECK(partition_at(rig.op, container, number[i], &item, &found) == ST_OK && found);
        CHECK(container_part_at(container, number[i]) == container_part_of(container, item.epk));
        for (int j = 0; j < i; j++)
            CHECK(number[i] != number[j]);
    }
    CHECK(container_usage(container, &usage) && usage.documents == ITEMS);
    CHECK(parts_are_whole(&rig, container));
    rig_close(&rig);
}

TEST(each_bucket_counts_its_own_commits)
{
    struct container *container;
    struct record item;
    struct rig rig;
    uint64_t sum = 0;

    container = open_divided(&rig, BY_PK);
    for (int i = 0; i < 40; i++) {
        char text[40];
        const struct container *part;
        uint64_t before;

        snprintf(text, sizeof(text), "{'id':'1','pk':'%d'}", i);
        part = container_part_of(container,
                                 epk_slice(&key_of_document(rig.op, container, rig_json(rig.op, text))->epk));
        before = container_lsn(part);
        CHECK(item_create(&rig, container, text, &item) == ST_OK);
        CHECK(container_lsn(part) == before + 1);
    }
    for (uint32_t i = 0; i < BUCKETS; i++)
        sum += container_lsn(container->part[i]);
    CHECK(sum == BUCKETS * CONTAINER_FIRST_LSN + 40 && container_lsn(container) < sum);
    rig_close(&rig);
}

TEST(buckets_are_the_same_after_a_restart_a_crash_and_other_definitions)
{
    static uint64_t number[ITEMS];
    struct container *container, *after;
    struct record item;
    struct rig rig;

    container = open_divided(&rig, BY_PK);
    fill(&rig, container, number);
    rig_crash(&rig);
    after = found_again(&rig);
    CHECK(after->part_count == BUCKETS && parts_are_whole(&rig, after));
    CHECK(item_create(&rig, after, "{'id':'new','pk':'7'}", &item) == ST_OK);
    for (int i = 0; i < ITEMS; i++)
        CHECK(item.number != number[i]);
    container_release(after);
    rig_reopen(&rig);
    after = found_again(&rig);
    CHECK(after->part_count == BUCKETS && documents_of(&rig, after) == ITEMS + 1);
    container = rig_redefine(&rig, after, UNINDEXED);
    CHECK(container->part_count == BUCKETS && container_latest(after->part[2]) == container->part[2]);
    container_release(after);
    while (container->index_older_count) {
        CHECK(rig_reindex(&rig) == ST_OK);
        after = found_again(&rig);
        if (after->index_older_count == 0)
            break;
        container_release(after);
    }
    CHECK(parts_are_whole(&rig, after));
    for (uint32_t i = 0; i < BUCKETS; i++)
        CHECK(rows_of_kind(&rig, after->part[i], KEY_INDEX).count == 0);
    container_release(after);
    rig_close(&rig);
}

TEST(ranges_split_and_merge_within_a_bucket)
{
    struct container *container, *split = NULL, *merged = NULL;
    struct rig rig;

    container = open_divided(&rig, BY_PK);
    CHECK(catalog_change_ranges(rig.op, rig.catalog, container, range_split,
                                &(struct range_split){ .id = 1, .parts = 2 }, &split) == ST_OK);
    CHECK(split->ranges.count == BUCKETS + 1 && split->part_count == BUCKETS);
    CHECK(container_part_of(split, split->ranges.range[1].min) == split->part[1]);
    CHECK(container_part_of(split, split->ranges.range[2].min) == split->part[1]);
    CHECK(catalog_change_ranges(rig.op, rig.catalog, split, range_merge,
                                &(struct range_merge){ (uint32_t[]){ 0, 4 }, 2 }, &merged) == ST_BAD_REQUEST);
    CHECK(catalog_change_ranges(rig.op, rig.catalog, split, range_merge,
                                &(struct range_merge){ (uint32_t[]){ 4, 5 }, 2 }, &merged) == ST_OK);
    CHECK(merged->ranges.count == BUCKETS);
    container_release(split);
    container_release(merged);
    rig_close(&rig);
}

TEST(a_drop_removes_the_data_of_every_bucket_and_the_next_of_its_name_begins_above_them)
{
    static uint64_t number[ITEMS];
    struct container *container;
    uint64_t bucket[BUCKETS], most;
    struct rig rig;

    container = open_divided(&rig, BY_PK);
    fill(&rig, container, number);
    most = container_lsn(container);
    for (uint32_t i = 0; i < BUCKETS; i++)
        bucket[i] = container->part[i]->bucket_id;
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    rig_reopen(&rig); /* which finishes the drop */
    for (uint32_t i = 0; i < BUCKETS; i++)
        CHECK(rig_rows(&rig, bucket[i]) == 0);
    catalog_divide(rig.catalog, BUCKETS);
    container = rig_container(&rig, BY_PK);
    for (uint32_t i = 0; i < BUCKETS; i++)
        CHECK(container_lsn(container->part[i]) > most);
    rig_close(&rig);
}

TEST(what_has_expired_is_swept_from_every_bucket)
{
    static uint64_t number[ITEMS];
    struct container *container;
    uint64_t removed = 0;
    struct rig rig;

    container = open_divided(&rig, WITH_TTL);
    fill(&rig, container, number);
    rig_advance_ms(&rig, 11 * 1000);
    CHECK(rig_sweep(&rig, &removed) == ST_OK && removed == ITEMS);
    CHECK(documents_of(&rig, container) == 0);
    rig_close(&rig);
}

TEST(a_key_is_cleared_in_its_bucket)
{
    struct commit_stamp stamp = { 0 };
    struct container *container;
    struct record item;
    struct rig rig;

    container = open_divided(&rig, BY_PK);
    for (int i = 0; i < 150; i++) {
        char text[40];

        snprintf(text, sizeof(text), "{'id':'%d','pk':'%s'}", i, i % 3 ? "a" : "b");
        CHECK(item_create(&rig, container, text, &item) == ST_OK);
    }
    CHECK(partition_clear(rig.op, container, key_of_header(rig.op, container, "['a']"), &stamp) == ST_OK);
    CHECK(documents_of(&rig, container) == 50 && parts_are_whole(&rig, container));
    rig_close(&rig);
}
