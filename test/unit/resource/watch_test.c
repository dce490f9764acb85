/* test/unit/resource/watch_test.c - ranges that grew too large are split where half of their items lie. */
#include "ask.h"
#include "catalog/ranges.h"
#include "resource/watch.h"

/* Items of about 100 bytes, each with another key, or all with one. */
static void fill(struct ask *ask, int from, int to, bool one_key)
{
    for (int i = from; i < to; i++) {
        struct buf key, body;

        buf_init(&key, &ask->rig.op->arena);
        buf_init(&body, &ask->rig.op->arena);
        buf_printf(&key, "['%d']", one_key ? 1 : i);
        buf_printf(&body, "{'id':'%d','pk':'%d','text':'a text of some length'}", i, one_key ? 1 : i);
        ask_header(ask, HEADER_PARTITION_KEY, arena_text(&ask->rig.op->arena, buf_as_slice(&key)));
        CHECK(ask_run(ask, document_create, arena_text(&ask->rig.op->arena, buf_as_slice(&body))) == 201);
    }
    ask_clear(ask);
}

static uint64_t watch_for_a_while(struct ask *ask, struct watch *watch, int calls)
{
    uint64_t split = 0;

    for (int i = 0; i < calls; i++) {
        rig_advance_ms(&ask->rig, 2000);
        CHECK(watch_ranges(ask->rig.op, ask->rig.catalog, watch, &split) == ST_OK);
    }
    return split;
}

static uint32_t count_ranges(struct ask *ask)
{
    return container_latest(ask->call.container)->ranges.count;
}

static int64_t items_of(struct ask *ask, uint32_t index)
{
    char id[16];

    snprintf(id, sizeof(id), "%u", ask->call.container->ranges.id[index]);
    ask_header(ask, HEADER_PARTITION_KEY_RANGE_ID, id);
    ask_header(ask, HEADER_MAX_ITEM_COUNT, "1000");
    CHECK(ask_run(ask, document_list, NULL) == 200);
    ask_clear(ask);
    return json_int(ask_member(ask, "_count"));
}

TEST(a_range_that_grew_too_large_is_split_into_halves_until_none_is)
{
    struct watch *watch = watch_open(10000);
    struct ask ask;
    int64_t sum = 0;

    ask_open(&ask);
    fill(&ask, 0, 50, false);
    CHECK(watch_for_a_while(&ask, watch, 3) == 0 && count_ranges(&ask) == 1);
    fill(&ask, 50, 300, false);
    CHECK(watch_for_a_while(&ask, watch, 8) == 3 && count_ranges(&ask) == 4);
    ask.call.container = (struct container *)container_latest(ask.call.container);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(items_of(&ask, i) >= 70 && items_of(&ask, i) <= 80);
        sum += items_of(&ask, i);
    }
    CHECK(sum == 300);
    CHECK(watch_for_a_while(&ask, watch, 3) == 0);
    watch_close(watch);
    ask_close(&ask);
}

TEST(a_range_of_one_partition_key_stays_as_it_is)
{
    struct watch *watch = watch_open(5000);
    struct ask ask;

    ask_open(&ask);
    fill(&ask, 0, 200, true);
    CHECK(watch_for_a_while(&ask, watch, 5) == 0 && count_ranges(&ask) == 1);
    watch_close(watch);
    ask_close(&ask);
}
