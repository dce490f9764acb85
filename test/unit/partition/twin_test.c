/*
 * test/unit/partition/twin_test.c - two partition keys with one EPK: a hash places items, and never says whose they
 * are. test/security/twins.py makes such keys.
 */
#include "items.h"
#include "keys/keys.h"
#include "partition/feed.h"

#define ALICE "alice@example.com"
#define MALLORY "bslfdzn521slz8puq7ECt<awf5XY8*K"
#define KEY_ALICE "['" ALICE "']"
#define KEY_MALLORY "['" MALLORY "']"
#define WITH_UNIQUE                                           \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}," \
    "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/mail']}]}}"
#define LEVELS "{'id':'c','partitionKey':{'paths':['/pk','/b'],'kind':'MultiHash','version':2}}"

struct pair {
    struct rig rig;
    struct container *container;
    struct record alice, mallory;
};

/* Both have an item of the id "1". */
static void pair_open(struct pair *pair, const char *definition)
{
    rig_open(&pair->rig, false);
    pair->container = rig_container(&pair->rig, definition);
    CHECK(item_create(&pair->rig, pair->container, "{'id':'1','pk':'" ALICE "','mail':'x'}", &pair->alice) ==
          ST_OK);
    CHECK(item_create(&pair->rig, pair->container, "{'id':'1','pk':'" MALLORY "','mail':'x'}",
                      &pair->mallory) == ST_OK);
    CHECK(slice_equal(pair->alice.epk, pair->mallory.epk) && pair->alice.number != pair->mallory.number);
}

static void pair_close(struct pair *pair)
{
    CHECK(container_is_whole(&pair->rig, pair->container));
    rig_close(&pair->rig);
}

static bool reads(struct pair *pair, const char *key, uint64_t number)
{
    struct record item;

    return item_read(&pair->rig, pair->container, key, "1", &item) && item.number == number;
}

TEST(two_keys_with_one_epk_may_have_an_item_of_the_same_id)
{
    struct pair pair;

    pair_open(&pair, WITH_UNIQUE);
    CHECK(reads(&pair, KEY_ALICE, pair.alice.number) && reads(&pair, KEY_MALLORY, pair.mallory.number));
    CHECK(item_create(&pair.rig, pair.container, "{'id':'1','pk':'" MALLORY "','mail':'y'}", &pair.mallory) ==
          ST_ITEM_EXISTS);
    CHECK(item_create(&pair.rig, pair.container, "{'id':'2','pk':'" MALLORY "','mail':'x'}", &pair.mallory) ==
          ST_EXISTS);
    pair_close(&pair);
}

TEST(what_one_of_them_writes_or_deletes_the_other_does_not_see)
{
    struct pair pair;
    struct record item;

    pair_open(&pair, BY_PK);
    CHECK(item_replace(&pair.rig, pair.container, "1", "{'id':'1','pk':'" MALLORY "','n':1}", &item) ==
          ST_OK);
    CHECK(item.number == pair.mallory.number && reads(&pair, KEY_ALICE, pair.alice.number));
    CHECK(item_replace(&pair.rig, pair.container, "1", "{'id':'2','pk':'" ALICE "'}", &item) == ST_OK);
    CHECK(!reads(&pair, KEY_ALICE, pair.alice.number) && reads(&pair, KEY_MALLORY, pair.mallory.number));
    CHECK(item_replace(&pair.rig, pair.container, "2", "{'id':'1','pk':'" ALICE "'}", &item) == ST_OK);
    CHECK(item_delete(&pair.rig, pair.container, KEY_MALLORY, "1") == ST_OK);
    CHECK(reads(&pair, KEY_ALICE, pair.alice.number) && !reads(&pair, KEY_MALLORY, pair.mallory.number));
    CHECK(item_delete(&pair.rig, pair.container, KEY_MALLORY, "1") == ST_ITEM_NOT_FOUND);
    CHECK(item_delete(&pair.rig, pair.container, KEY_ALICE, "1") == ST_OK);
    CHECK(rows_of_kind(&pair.rig, pair.container, KEY_ID).count == 0);
    pair_close(&pair);
}

/* A hint leads to whoever was read last. */
TEST(a_hint_of_one_key_is_no_hint_for_the_other)
{
    struct hints *hints = hints_open();
    struct pair pair;
    struct record item;
    bool found;

    pair_open(&pair, BY_PK);
    for (int i = 0; i < 4; i++) {
        const char *key = i % 2 ? KEY_MALLORY : KEY_ALICE;

        CHECK(partition_read(pair.rig.op, hints, pair.container,
                             key_of_header(pair.rig.op, pair.container, key), slice_of("1"), &item,
                             &found) == ST_OK &&
              found && item.number == (i % 2 ? pair.mallory.number : pair.alice.number));
    }
    hints_close(hints);
    pair_close(&pair);
}

TEST(a_number_leads_to_an_id_of_its_own_key_only)
{
    struct pair pair;
    struct slice id;

    pair_open(&pair, BY_PK);
    CHECK(partition_id_of(pair.rig.op, pair.container,
                          key_of_header(pair.rig.op, pair.container, KEY_MALLORY), pair.alice.number,
                          &id) == ST_OK &&
          !id.data);
    pair_close(&pair);
}

static size_t listed(struct pair *pair, const char *key)
{
    struct partition_scope scope = { .key = *key_of_header(pair->rig.op, pair->container, key) };
    struct partition_page page;

    CHECK(partition_list(pair->rig.op, pair->container, &scope, 0, 10, &page) == ST_OK && !page.more);
    return page.count;
}

TEST(a_list_and_a_clearing_keep_to_the_values_of_their_key)
{
    struct commit_stamp stamp;
    struct pair pair;

    pair_open(&pair, BY_PK);
    CHECK(listed(&pair, KEY_ALICE) == 1 && listed(&pair, KEY_MALLORY) == 1);
    CHECK(partition_clear(pair.rig.op, pair.container,
                          key_of_header(pair.rig.op, pair.container, KEY_MALLORY), &stamp) == ST_OK);
    CHECK(listed(&pair, KEY_ALICE) == 1 && listed(&pair, KEY_MALLORY) == 0);
    CHECK(reads(&pair, KEY_ALICE, pair.alice.number));
    pair_close(&pair);
}

TEST(the_first_level_of_a_key_is_compared_by_value_too)
{
    struct pair pair;

    pair_open(&pair, LEVELS);
    CHECK(listed(&pair, KEY_ALICE) == 1 && listed(&pair, KEY_MALLORY) == 1);
    CHECK(reads(&pair, "['" ALICE "',{}]", pair.alice.number));
    CHECK(reads(&pair, "['" MALLORY "',{}]", pair.mallory.number));
    pair_close(&pair);
}

static size_t fed(struct pair *pair, enum feed_mode mode, const char *key)
{
    struct partition_scope scope = { .key = *key_of_header(pair->rig.op, pair->container, key) };
    struct partition_feed feed = { 0 };
    struct feed_entry entry;
    size_t count = 0;
    bool found = true;

    CHECK(partition_feed_open(pair->rig.op, pair->container, &scope, mode, &feed) == ST_OK);
    while (partition_feed_next(pair->rig.op, &feed, &entry, &found) == ST_OK && found)
        count++;
    partition_feed_close(&feed);
    return count;
}

TEST(both_feeds_of_a_key_have_its_own_changes_only)
{
    struct pair pair;

    pair_open(&pair, BY_PK);
    CHECK(item_delete(&pair.rig, pair.container, KEY_MALLORY, "1") == ST_OK);
    CHECK(fed(&pair, FEED_LATEST, KEY_ALICE) == 1 && fed(&pair, FEED_LATEST, KEY_MALLORY) == 0);
    CHECK(fed(&pair, FEED_ALL, KEY_ALICE) == 1 && fed(&pair, FEED_ALL, KEY_MALLORY) == 2);
    pair_close(&pair);
}

/* V1 hashes the first hundred characters of a string, and no more. */
TEST(long_keys_of_the_first_version_differ_behind_what_is_hashed)
{
    struct container *container;
    struct record item;
    struct rig rig;
    char document[300];

    rig_open(&rig, false);
    container = rig_container(&rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':1}}");
    for (int i = 0; i < 3; i++) {
        snprintf(document, sizeof(document), "{'id':'1','pk':'%0120d%d'}", 0, i);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
    }
    CHECK(item_create(&rig, container, document, &item) == ST_ITEM_EXISTS);
    CHECK(rows_of_kind(&rig, container, KEY_ID).count == 1);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}
