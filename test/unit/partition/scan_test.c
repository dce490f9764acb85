/* test/unit/partition/scan_test.c - a scan finds exactly what its scope holds, for keys of every kind. */
#include <stdlib.h>

#include "catalog/parts.h"
#include "items.h"
#include "partition/scan.h"

enum { ITEMS = 1500 };

static const char *const kinds[] = {
    "{'id':'one','partitionKey':{'paths':['/a'],'kind':'Hash','version':1}}",
    "{'id':'two','partitionKey':{'paths':['/a'],'kind':'Hash','version':2}}",
    "{'id':'many','partitionKey':{'paths':['/a','/b'],'kind':'MultiHash','version':2}}",
    "{'id':'more','partitionKey':{'paths':['/a','/b','/c'],'kind':'MultiHash','version':2}}",
};

static struct epk keys[ITEMS];

static void fill(struct rig *rig, const struct container *container)
{
    for (int i = 0; i < ITEMS; i++) {
        struct record item;
        char text[120];

        snprintf(text, sizeof(text), "{'id':'%d','a':'a%d','b':'b%d','c':%d,'n':%d}", i, i / 2, i, i % 3, i);
        CHECK(item_create(rig, container, text, &item) == ST_OK);
        keys[i].size = (uint16_t)item.epk.size;
        memcpy(keys[i].bytes, item.epk.data, item.epk.size);
    }
}

static bool begins_with(const struct epk *key, const struct epk *prefix)
{
    return key->size >= prefix->size && memcmp(key->bytes, prefix->bytes, prefix->size) == 0;
}

static bool in_scope(const struct partition_scope *scope, const struct epk *key)
{
    bool is_point = !scope->points;

    for (size_t i = 0; i < scope->point_count; i++)
        is_point |= begins_with(key, &scope->points[i]);
    return is_point && slice_compare(epk_slice(key), epk_slice(&scope->min)) >= 0 &&
           (scope->max.size == 0 || slice_compare(epk_slice(key), epk_slice(&scope->max)) < 0);
}

/* Where an item comes in a scan: part by part, in rising numbers. */
static bool comes_before(const struct container *container, uint64_t a, uint64_t b)
{
    uint32_t x = container_part_at(container, a)->part_index, y = container_part_at(container, b)->part_index;

    return x != y ? x < y : a < b;
}

/* Each item once, in order, and no other. */
static void check_scan(struct rig *rig, const struct container *container,
                       const struct partition_scope *scope)
{
    bool seen[ITEMS] = { false }, found = true;
    struct partition_scan scan;
    struct record item;
    uint64_t last = 0;

    CHECK(partition_scan_open(rig->op, container, scope, &scan) == ST_OK);
    for (;;) {
        CHECK(partition_scan_next(rig->op, &scan, &item, &found) == ST_OK);
        if (!found)
            break;
        CHECK((last == 0 || comes_before(container, last, item.number)) &&
              !seen[json_int(json_get(item.document, "n"))]);
        seen[json_int(json_get(item.document, "n"))] = true;
        last = item.number;
    }
    for (int i = 0; i < ITEMS; i++)
        CHECK(seen[i] == in_scope(scope, &keys[i]));
    partition_scan_close(&scan);
}

static int by_epk(const void *a, const void *b)
{
    return slice_compare(epk_slice(a), epk_slice(b));
}

/* Whole keys and, of hierarchical ones, first levels; sorted, none within another. */
static size_t some_points(const struct container *container, struct epk *points, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        points[i] = keys[test_random() % ITEMS];
        if (container->epk_version == EPK_MULTI && test_random() % 3 == 0)
            points[i].size = 16;
    }
    qsort(points, count, sizeof(*points), by_epk);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !begins_with(&points[i], &points[kept - 1]))
            points[kept++] = points[i];
    return kept;
}

static void check_points_and_bounds(uint32_t buckets)
{
    static struct epk points[64];
    struct rig rig;

    rig_open(&rig, false);
    catalog_divide(rig.catalog, buckets);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct container *container = rig_container(&rig, kinds[k]);

        fill(&rig, container);
        for (int round = 0; round < 60; round++) {
            struct partition_scope scope = { .points = points };

            scope.point_count = some_points(container, points, 1 + test_random() % 64);
            check_scan(&rig, container, &scope);
            scope = (struct partition_scope){ .min = keys[test_random() % ITEMS] };
            if (round % 2)
                scope.max = keys[test_random() % ITEMS];
            check_scan(&rig, container, &scope);
        }
    }
    rig_close(&rig);
}

TEST(a_scan_of_points_or_bounds_finds_exactly_their_items)
{
    check_points_and_bounds(0);
}

TEST(a_scan_of_several_buckets_finds_the_same)
{
    check_points_and_bounds(2);
    check_points_and_bounds(7);
}

static void check_pauses(uint32_t buckets)
{
    struct partition_scope all = { 0 };
    struct partition_scan scan;
    struct container *container;
    struct record item;
    size_t count = 0;
    struct rig rig;
    bool found;

    rig_open(&rig, false);
    catalog_divide(rig.catalog, buckets);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container);
    CHECK(partition_scan_open(rig.op, container, &all, &scan) == ST_OK);
    do {
        scan.scanned_bytes_max = scan.scanned_bytes + 1000;
        do {
            CHECK(partition_scan_next(rig.op, &scan, &item, &found) == ST_OK);
            count += found;
        } while (found);
        partition_scan_seek(&scan, partition_scan_after(&scan));
    } while (scan.paused);
    CHECK(count == ITEMS);
    partition_scan_close(&scan);
    rig_close(&rig);
}

TEST(a_scan_that_pauses_says_so_and_goes_on)
{
    check_pauses(0);
    check_pauses(5);
}

/* How many items a scan reads at a time, at most, when it picks these once more. */
static size_t most_at_a_time(struct rig *rig, const struct container *container, const uint64_t *number,
                             size_t count)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan;
    struct record item;
    size_t most = 0;
    bool found;

    CHECK(partition_scan_open(rig->op, container, &everything, &scan) == ST_OK);
    for (size_t i = 0; i < 2; i++) {
        partition_scan_pick(&scan, number, count);
        for (size_t at = 0; at < count; at++) {
            CHECK(partition_scan_next(rig->op, &scan, &item, &found) == ST_OK && found);
            CHECK(item.number == number[at]);
            if (i && scan.rows.count > most)
                most = scan.rows.count;
        }
    }
    partition_scan_close(&scan);
    return most;
}

TEST(large_items_are_picked_a_few_at_a_time)
{
    enum { LARGE = 40, LARGE_BYTES = 500 * 1000 };
    static char text[LARGE_BYTES + 100];
    uint64_t number[LARGE];
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    for (int i = 0; i < LARGE; i++) {
        snprintf(text, sizeof(text), "{'id':'%d','pk':'a','fill':'%0*d'}", i, LARGE_BYTES, i);
        CHECK(item_create(&rig, container, text, &item) == ST_OK);
        number[i] = item.number;
    }
    CHECK(most_at_a_time(&rig, container, number, LARGE) == 2); /* a block is 1 MB */
    rig_close(&rig);
}
