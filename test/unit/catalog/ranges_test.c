/* test/unit/catalog/ranges_test.c - ranges: how many, which keys each has, kept with the container. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "catalog/definition.h"
#include "catalog/ranges.h"
#include "rig.h"

#define BY_V1 "{'id':'c','partitionKey':{'paths':['/pk'],'version':1}}"
#define BY_V2 "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"
#define BY_LEVELS "{'id':'c','partitionKey':{'paths':['/a','/b'],'kind':'MultiHash','version':2}}"

static const char *const definitions[] = { BY_V1, BY_V2, BY_LEVELS };

/* A container is made, and a version of it with another number of ranges looked at. */
static struct container with_ranges(struct rig *rig, const char *definition, uint32_t count)
{
    struct container container = { 0 };

    container.definition = rig_json(rig->op, definition);
    container.link = slice_of("dbs/db/colls/c");
    container_read_key(&container);
    ranges_make_equal(&rig->op->arena, container.epk_version, count, 0, &container.ranges);
    return container;
}

static struct epk key_of(const struct container *container, int n, size_t levels)
{
    struct partition_key key = { .count = levels };
    struct epk epk;
    struct json_builder out;

    for (size_t i = 0; i < levels; i++) {
        json_builder_init(&out, &test_op()->arena);
        json_add_double(&out, n * 10 + (int)i);
        key.component[i] = json_built(&out);
    }
    epk_compute(container->epk_version, &key, &epk);
    return epk;
}

TEST(every_ten_thousand_request_units_begun_are_a_range_up_to_the_limit)
{
    CHECK(ranges_for_throughput(0, 10000) == 1 && ranges_for_throughput(400, 0) == 1 &&
          ranges_for_throughput(10000, 10000) == 1);
    CHECK(ranges_for_throughput(10100, 10000) == 2 && ranges_for_throughput(30000, 0) == 3);
    CHECK(ranges_for_throughput(400, 100) == 4);
    CHECK(ranges_for_throughput(UINT64_MAX, 0) == CONTAINER_RANGES_MAX);
}

TEST(ranges_tile_all_keys_without_gaps)
{
    struct rig rig;

    rig_open(&rig, false);
    for (size_t d = 0; d < 3; d++)
        for (uint32_t count = 1; count <= CONTAINER_RANGES_MAX; count += 33) {
            struct container container = with_ranges(&rig, definitions[d], count);
            struct epk min, max, last = { 0 };

            for (uint32_t id = 0; id < count; id++) {
                range_bounds(&container, id, &min, &max);
                CHECK(slice_equal(epk_slice(&min), epk_slice(&last)));
                CHECK(slice_compare(epk_slice(&min), epk_slice(&max)) < 0);
                last = max;
            }
            CHECK(last.size == 1 && last.bytes[0] == 0xff);
        }
    rig_close(&rig);
}

TEST(a_key_lies_in_the_range_whose_bounds_enclose_it_and_keys_spread_over_all)
{
    struct rig rig;

    rig_open(&rig, false);
    for (size_t d = 0; d < 3; d++) {
        struct container container = with_ranges(&rig, definitions[d], 7);
        size_t seen[7] = { 0 };

        for (int n = 0; n < 700; n++) {
            struct epk epk = key_of(&container, n, container.key_path_count), min, max;
            uint32_t id = range_of_epk(&container, &epk);

            range_bounds(&container, id, &min, &max);
            CHECK(slice_compare(epk_slice(&min), epk_slice(&epk)) <= 0 &&
                  slice_compare(epk_slice(&epk), epk_slice(&max)) < 0);
            seen[id]++;
        }
        for (size_t i = 0; i < 7; i++)
            CHECK(seen[i] > 50);
    }
    rig_close(&rig);
}

TEST(a_bound_belongs_to_the_range_that_it_begins)
{
    struct rig rig;

    rig_open(&rig, false);
    for (size_t d = 0; d < 3; d++) {
        struct container container = with_ranges(&rig, definitions[d], 5);
        struct epk min, max;

        for (uint32_t id = 0; id < 5; id++) {
            range_bounds(&container, id, &min, &max);
            CHECK(range_of_epk(&container, &min) == id);
        }
    }
    rig_close(&rig);
}

TEST(all_keys_that_begin_alike_lie_in_one_range_and_no_component_means_all)
{
    struct container container;
    struct epk prefix, whole;
    struct range_ids ids;
    struct rig rig;

    rig_open(&rig, false);
    container = with_ranges(&rig, BY_LEVELS, 9);
    for (int n = 0; n < 100; n++) {
        prefix = key_of(&container, n, 1);
        whole = key_of(&container, n, 2);
        ids = ranges_of_prefix(&container, &prefix);
        CHECK(ids.count == 1 && ids.id[0] == range_of_epk(&container, &whole));
    }
    prefix.size = 0;
    ids = ranges_of_prefix(&container, &prefix);
    CHECK(ids.id[0] == 0 && ids.count == 9);
    rig_close(&rig);
}

TEST(a_range_is_named_with_or_without_its_container_and_an_unknown_one_is_gone)
{
    static const struct {
        const char *header;
        enum status st;
        uint32_t id;
    } rows[] = {
        { "0", ST_OK, 0 },
        { " 2 ", ST_OK, 2 },
        { "AAAAAA==,1", ST_OK, 1 },
        { "3", ST_RANGE_GONE, 0 },
        { "4294967296", ST_RANGE_GONE, 0 },
        { "", ST_BAD_HEADER, 0 },
        { "first", ST_BAD_HEADER, 0 },
        { "1,", ST_BAD_HEADER, 0 },
        { "-1", ST_BAD_HEADER, 0 },
    };
    struct container container;
    struct rig rig;

    rig_open(&rig, false);
    container = with_ranges(&rig, BY_V2, 3);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t id = 0;

        CHECK(range_parse(rig.op, &container, slice_of(rows[i].header), &id) == rows[i].st);
        CHECK(id == rows[i].id);
    }
    rig_close(&rig);
}

static struct json defined(struct rig *rig, const char *text)
{
    struct json definition = json_undefined;

    CHECK(container_define(rig->op, rig_json(rig->op, text), (struct define_options){ .is_old = true },
                           &definition) == ST_OK);
    return definition;
}

static uint32_t range_count_of(struct rig *rig, const char *id)
{
    struct container *found;
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    uint32_t count;

    found = catalog_find_container(rig->catalog, database, slice_of(id));
    count = found->ranges.count;
    container_release(found);
    database_release(database);
    return count;
}

static void make(struct rig *rig, const char *definition, uint32_t count)
{
    struct container *made = NULL;

    CHECK(catalog_create_container(rig->op, rig->catalog, rig->database, defined(rig, definition), count,
                                   &made) == ST_OK);
    container_release(made);
}

TEST(a_container_keeps_its_ranges_over_replaces_and_restarts)
{
    struct container *old, *new = NULL;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'one','partitionKey':{'paths':['/pk']}}");
    make(&rig, BY_V2, 3);
    old = catalog_find_container(rig.catalog, rig.database, slice_of("c"));
    CHECK(catalog_replace_container(rig.op, rig.catalog, old, defined(&rig, BY_V2), &new) == ST_OK);
    CHECK(new &&new->ranges.count == 3);
    container_release(old);
    container_release(new);
    rig_reopen(&rig);
    CHECK(range_count_of(&rig, "c") == 3 && range_count_of(&rig, "one") == 1);
    rig_close(&rig);
}

TEST(a_container_stored_without_a_number_of_ranges_has_one)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'first','partitionKey':{'paths':['/pk']}}");
    make(&rig, BY_V2, 0);
    CHECK(range_count_of(&rig, "c") == 1);
    rig_close(&rig);
}

TEST(a_container_without_a_key_has_one_range)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'first','partitionKey':{'paths':['/pk']}}");
    make(&rig, "{'id':'keyless'}", 3);
    CHECK(range_count_of(&rig, "keyless") == 1);
    rig_close(&rig);
}

TEST(a_stored_table_that_does_not_tile_all_keys_is_corrupt)
{
    static const struct {
        const char *table;
        enum status status;
    } rows[] = {
        { "{'version':2,'told_since':0,'next':3,'live':[[1,'',2,5,9,[]],[2,'20',2,5,9,[]]]}", ST_OK },
        { "{'version':2,'told_since':0,'next':3,'live':[[1,'10',2,5,9,[]],[2,'20',2,5,9,[]]]}", ST_CORRUPT },
        { "{'version':2,'told_since':0,'next':3,'live':[[1,'',2,5,9,[]],[2,'',2,5,9,[]]]}", ST_CORRUPT },
        { "{'version':2,'told_since':0,'next':2,'live':[[1,'',2,5,9,[]],[2,'20',2,5,9,[]]]}", ST_CORRUPT },
        { "{'version':1,'told_since':0,'next':3,'live':[[1,'',2,5,9,[]],[2,'20',2,5,9,[]]]}", ST_CORRUPT },
        { "{'version':2,'told_since':0,'next':3,'live':[]}", ST_CORRUPT },
        { "{'version':2,'told_since':0,'next':3,'live':[[1,7,2,5,9,[]]]}", ST_CORRUPT },
    };
    const struct record record = { .flags = RECORD_HAS_RANGES };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct container container = { 0 };
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{'id':'c','_ranges':%s}", rows[i].table);
        buf_byte(&text, '\0');
        arena_init(&container.memory, 1 << 20);
        container.definition = rig_json(test_op(), text.data);
        if (ranges_read(test_op(), &container, &record) != rows[i].status)
            test_failed(__FILE__, __LINE__, rows[i].table);
        arena_free(&container.memory);
    }
}
