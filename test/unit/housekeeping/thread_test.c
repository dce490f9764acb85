/* test/unit/housekeeping/thread_test.c - housekeeping beside writes, splits and new definitions; run under TSan too. */
#include <pthread.h>

#include "catalog/definition.h"
#include "catalog/split.h"
#include "housekeeping/housekeeping.h"
#include "items.h"
#include "keys/keys.h"

enum { ROUNDS = 40, ITEMS = 10, RANGES_MAX = 6 };

#define DEFINED(policy) \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':10,'indexingPolicy':" policy "}"
#define ALL "{'includedPaths':[{'path':'/*'}]}"
#define ONLY_A "{'includedPaths':[{'path':'/a/?'}],'excludedPaths':[{'path':'/*'}]}"

struct keeper {
    struct rig *rig;
    struct housekeeping *housekeeping;
    atomic_bool stop;
};

static void *keep_house(void *context)
{
    struct keeper *keeper = context;
    struct op op;

    op_init(&op, keeper->rig->op->env, SIZE_MAX);
    while (!atomic_load(&keeper->stop))
        housekeeping_run(&op, keeper->housekeeping);
    op_free(&op);
    return NULL;
}

static struct container *found(struct rig *rig)
{
    return catalog_find_container(rig->catalog, rig->database, slice_of("c"));
}

static void fill(struct rig *rig, int from)
{
    struct container *container = found(rig);

    for (int n = from; n < from + ITEMS; n++) {
        struct record item;
        char document[100];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d','a':%d,'b':'text'}", n, n, n % 3);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
    CHECK(container_indexed_percent(container) <= 100);
    container_release(container);
}

/* Too many policies may wait for their items to be indexed again. */
static void redefine(struct rig *rig, const char *text)
{
    struct container *container = found(rig), *changed = NULL;
    struct json defined;
    enum status st;

    CHECK(container_define(rig->op, rig_json(rig->op, text), (struct define_options){ 0 }, &defined) ==
          ST_OK);
    st = catalog_replace_container(rig->op, rig->catalog, container, defined, &changed);
    CHECK(st == ST_OK || st == ST_TOO_MANY_REQUESTS);
    container_release(changed);
    container_release(container);
}

/* Housekeeping may split the same range first. */
static void split(struct rig *rig)
{
    struct container *container = found(rig), *parted = NULL;
    struct range_split wanted = { .id = container->ranges.id[0], .parts = 2 };
    enum status st = ST_OK;

    if (container->ranges.count < RANGES_MAX)
        st = catalog_change_ranges(rig->op, rig->catalog, container, range_split, &wanted, &parted);
    CHECK(st == ST_OK || st == ST_RANGE_GONE);
    container_release(parted);
    container_release(container);
}

TEST(what_expires_is_removed_once_whatever_others_change_meanwhile)
{
    struct housekeeping_stats stats;
    struct keeper keeper = { 0 };
    struct container *container;
    pthread_t thread;
    struct rig rig;

    rig_open(&rig, true);
    rig_container(&rig, DEFINED(ALL));
    container_release(rig.made[--rig.made_count]); /* nobody keeps the first definition */
    keeper.rig = &rig;
    keeper.housekeeping = housekeeping_open(&(struct housekeeping_options){
        .catalog = rig.catalog, .ledger = rig.ledger, .retention_ms = 5000, .range_bytes_max = 3000 });
    REQUIRE(pthread_create(&thread, NULL, keep_house, &keeper) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        fill(&rig, round * ITEMS);
        redefine(&rig, round % 2 ? DEFINED(ALL) : DEFINED(ONLY_A));
        split(&rig);
        rig_advance_ms(&rig, 3000);
        housekeeping_stats(keeper.housekeeping, &stats);
        CHECK(stats.items_expired <= (uint64_t)(round + 1) * ITEMS);
    }
    atomic_store(&keeper.stop, true);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        rig_advance_ms(&rig, 11 * 60 * 1000);
        housekeeping_run(rig.op, keeper.housekeeping);
    }
    housekeeping_stats(keeper.housekeeping, &stats);
    CHECK(stats.items_expired == (uint64_t)ROUNDS * ITEMS);
    container = found(&rig);
    CHECK(container->index_older_count == 0 && container_indexed_percent(container) == 100);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 0);
    container_release(container);
    housekeeping_close(keeper.housekeeping);
    rig_close(&rig);
}
