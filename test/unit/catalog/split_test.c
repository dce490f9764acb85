/* test/unit/catalog/split_test.c - ranges that split and merge: which keys, ids and ancestors each has then. */
#include "base/limits.h"
#include "catalog/split.h"
#include "rig.h"

#define BY_V1 "{'id':'c','partitionKey':{'paths':['/pk'],'version':1}}"
#define BY_V2 "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"
#define BY_LEVELS "{'id':'c','partitionKey':{'paths':['/a','/b'],'kind':'MultiHash','version':2}}"

static struct container *latest(struct rig *rig)
{
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    struct container *found = catalog_find_container(rig->catalog, database, slice_of("c"));

    database_release(database);
    return found;
}

static enum status change(struct rig *rig, range_change *how, const void *wanted)
{
    struct container *now = latest(rig), *after = NULL;
    enum status st = catalog_change_ranges(rig->op, rig->catalog, now, how, wanted, &after);

    container_release(now);
    container_release(after);
    return st;
}

static enum status split(struct rig *rig, uint32_t id, uint32_t parts)
{
    return change(rig, range_split, &(struct range_split){ .id = id, .parts = parts });
}

static enum status merge(struct rig *rig, uint32_t first, uint32_t second)
{
    return change(rig, range_merge, &(struct range_merge){ (uint32_t[]){ first, second }, 2 });
}

/* "0 3 4": the live ids in the order of keys, which tile all keys. */
static bool has_ranges(struct rig *rig, const char *ids)
{
    struct container *now = latest(rig);
    struct epk min, max, last = { 0 };
    struct buf text;

    buf_init(&text, &rig->op->arena);
    for (uint32_t i = 0; i < now->ranges.count; i++) {
        range_bounds(now, i, &min, &max);
        CHECK(slice_equal(epk_slice(&min), epk_slice(&last)));
        CHECK(slice_compare(epk_slice(&min), epk_slice(&max)) < 0);
        CHECK(now->ranges.range[i].id == now->ranges.id[i]);
        last = max;
        buf_printf(&text, "%s%u", i ? " " : "", now->ranges.id[i]);
    }
    CHECK(last.size == 1 && last.bytes[0] == 0xff);
    container_release(now);
    return slice_is(buf_as_slice(&text), ids);
}

/* "0@2 1@3": whose keys it has, and from which version on they were gone. */
static bool has_ancestors(struct rig *rig, uint32_t id, const char *ancestors)
{
    struct container *now = latest(rig);
    struct buf text;
    uint32_t index = 0;

    buf_init(&text, &rig->op->arena);
    CHECK(range_find(&now->ranges, id, &index));
    for (uint32_t i = 0; i < now->ranges.range[index].ancestor_count; i++)
        buf_printf(&text, "%s%u@%llu", i ? " " : "", now->ranges.range[index].ancestor[i].id,
                   (unsigned long long)now->ranges.range[index].ancestor[i].gone);
    container_release(now);
    return slice_is(buf_as_slice(&text), ancestors);
}

TEST(a_split_gives_new_ids_and_a_merge_another_and_both_name_all_that_had_the_keys)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    CHECK(has_ranges(&rig, "0") && has_ancestors(&rig, 0, ""));
    CHECK(split(&rig, 0, 2) == ST_OK && has_ranges(&rig, "1 2"));
    CHECK(split(&rig, 1, 3) == ST_OK && has_ranges(&rig, "3 4 5 2"));
    CHECK(has_ancestors(&rig, 4, "0@2 1@3") && has_ancestors(&rig, 2, "0@2"));
    CHECK(merge(&rig, 2, 5) == ST_OK && has_ranges(&rig, "3 4 6"));
    CHECK(has_ancestors(&rig, 6, "0@2 1@3 2@4 5@4"));
    rig_close(&rig);
}

TEST(ranges_are_the_same_after_a_restart_and_a_replace_and_the_container_has_its_etag)
{
    struct container *now, *replaced = NULL;
    uint64_t etag;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    now = latest(&rig);
    etag = now->etag;
    container_release(now);
    CHECK(split(&rig, 0, 2) == ST_OK && split(&rig, 2, 2) == ST_OK);
    rig_reopen(&rig);
    CHECK(has_ranges(&rig, "1 3 4") && has_ancestors(&rig, 4, "0@2 2@3"));
    now = latest(&rig);
    CHECK(now->etag == etag && now->ranges.version == 3 && now->ranges.next_id == 5);
    CHECK(json_kind(json_get(now->definition, "_ranges")) == JSON_UNDEFINED);
    CHECK(catalog_replace_container(rig.op, rig.catalog, now, now->definition, &replaced) == ST_OK);
    container_release(now);
    container_release(replaced);
    CHECK(has_ranges(&rig, "1 3 4"));
    rig_reopen(&rig);
    CHECK(has_ranges(&rig, "1 3 4") && has_ancestors(&rig, 4, "0@2 2@3"));
    CHECK(merge(&rig, 1, 3) == ST_OK && has_ranges(&rig, "5 4"));
    rig_close(&rig);
}

TEST(what_cannot_be_split_or_merged_is_refused_and_changes_nothing)
{
    const struct epk outside = { .size = 1, .bytes = { 0x3f } }, first = { .size = 0 };
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    CHECK(split(&rig, 0, 3) == ST_OK && has_ranges(&rig, "1 2 3"));
    CHECK(split(&rig, 0, 2) == ST_RANGE_GONE && split(&rig, 9, 2) == ST_RANGE_GONE);
    CHECK(split(&rig, 1, 1) == ST_BAD_REQUEST && split(&rig, 1, CONTAINER_RANGES_MAX) == ST_BAD_REQUEST);
    CHECK(change(&rig, range_split, &(struct range_split){ 1, &outside, 0 }) == ST_BAD_REQUEST);
    CHECK(change(&rig, range_split, &(struct range_split){ 1, &first, 0 }) == ST_BAD_REQUEST);
    CHECK(merge(&rig, 1, 3) == ST_BAD_REQUEST && merge(&rig, 2, 2) == ST_BAD_REQUEST);
    CHECK(merge(&rig, 0, 1) == ST_RANGE_GONE);
    CHECK(change(&rig, range_merge, &(struct range_merge){ (uint32_t[]){ 1 }, 1 }) == ST_BAD_REQUEST);
    CHECK(has_ranges(&rig, "1 2 3"));
    rig_close(&rig);
}

TEST(a_range_can_be_halved_until_it_has_one_key_by_every_hash)
{
    static const char *const definitions[] = { BY_V1, BY_V2, BY_LEVELS };

    for (size_t d = 0; d < 3; d++) {
        uint32_t id = 0, halves = 0;
        struct rig rig;

        rig_open(&rig, false);
        rig_container(&rig, definitions[d]);
        while (halves < 300 && split(&rig, id, 2) == ST_OK) {
            struct container *now = latest(&rig);

            id = now->ranges.id[now->ranges.count - 1];
            halves++;
            container_release(now);
        }
        CHECK(d == 0 ? halves >= 30 && halves < 40 : d == 1 ? halves >= 120 && halves < 130 : halves > 250);
        rig_close(&rig);
    }
}

TEST(keys_of_one_first_level_lie_in_several_ranges_after_a_split_inside_it)
{
    struct partition_key key = { .count = 1 };
    struct epk tenant, cut;
    struct container *now;
    struct range_ids ids;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_LEVELS);
    key.component[0] = rig_json(rig.op, "'tenant'");
    epk_compute(EPK_MULTI, &key, &tenant);
    cut = tenant;
    cut.bytes[cut.size++] = 0x20;
    CHECK(change(&rig, range_split, &(struct range_split){ 0, &cut, 0 }) == ST_OK);
    CHECK(has_ranges(&rig, "1 2"));
    now = latest(&rig);
    ids = ranges_of_prefix(now, &tenant);
    CHECK(ids.count == 2 && ids.id[0] == 1 && ids.id[1] == 2);
    memset(tenant.bytes + tenant.size, 0x1f, 16);
    tenant.size += 16;
    ids = ranges_of_prefix(now, &tenant);
    CHECK(ids.count == 1 && ids.id[0] == 1);
    tenant.bytes[16] = 0x20;
    ids = ranges_of_prefix(now, &tenant);
    CHECK(ids.count == 1 && ids.id[0] == 2);
    container_release(now);
    rig_close(&rig);
}

TEST(ancestors_are_bounded_and_the_table_tells_since_when_it_knows_them_all)
{
    struct container *now;
    uint32_t left = 0;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    for (int i = 0; i < 100; i++) { /* three are gone each time */
        CHECK(split(&rig, left, 2) == ST_OK && merge(&rig, left + 1, left + 2) == ST_OK);
        left += 3;
    }
    now = latest(&rig);
    CHECK(now->ranges.count == 1 && now->ranges.version == 201 && now->ranges.next_id == 301);
    CHECK(now->ranges.range[0].ancestor_count == RANGE_ANCESTORS_MAX);
    CHECK(now->ranges.range[0].ancestor[0].gone >= now->ranges.told_since);
    CHECK(now->ranges.told_since > 25 && now->ranges.told_since < 50);
    container_release(now);
    rig_close(&rig);
}

TEST(more_ranges_come_from_those_that_have_the_most_keys)
{
    struct container *now;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    CHECK(split(&rig, 0, 4) == ST_OK && merge(&rig, 1, 2) == ST_OK && has_ranges(&rig, "5 3 4"));
    CHECK(change(&rig, range_spread, &(struct range_spread){ 4 }) == ST_OK);
    CHECK(has_ranges(&rig, "6 7 3 4"));
    CHECK(change(&rig, range_spread, &(struct range_spread){ 50 }) == ST_OK);
    now = latest(&rig);
    CHECK(now->ranges.count == 50);
    container_release(now);
    rig_close(&rig);
}

TEST(a_container_without_a_key_is_not_split)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'c'}");
    CHECK(split(&rig, 0, 2) == ST_BAD_REQUEST);
    rig_close(&rig);
}

/* By it housekeeping tells whether what it knows of the items still holds. */
TEST(the_edition_stays_over_a_split_and_rises_with_another_definition)
{
    struct container *before, *after, *redefined;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    before = latest(&rig);
    CHECK(split(&rig, 0, 2) == ST_OK);
    after = latest(&rig);
    CHECK(after != before && after->edition == before->edition);
    redefined = rig_redefine(&rig, after, BY_V2);
    CHECK(redefined->edition > after->edition);
    container_release(after);
    container_release(before);
    rig_close(&rig);
}

TEST(a_request_that_began_before_a_split_sees_the_ranges_of_then)
{
    struct container *before;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_V2);
    before = latest(&rig);
    CHECK(split(&rig, 0, 2) == ST_OK);
    CHECK(before->ranges.count == 1 && before->ranges.id[0] == 0);
    CHECK(container_successor(before) && container_successor(before)->ranges.count == 2);
    container_release(before);
    rig_close(&rig);
}
