/* test/unit/source/item_index_test.c - what the index of items is said to have, and what of the scope. */
#include "index/policy.h"
#include "shelf.h"

#define WITH_COMPOSITES                                                                                \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'indexingPolicy':{'compositeIndexes':[[{'" \
    "path':'/_ts'},{'path':'/a'}],[{'path':'/a'},{'path':'/b'}]]}}"

static const struct partition_scope everything = { 0 };
static const struct index_step step_a = { .name = { "a", 1 } }, step_ts = { .name = { "_ts", 3 } };
static const struct index_path path_a = { &step_a, 1 }, path_ts = { &step_ts, 1 };

/* Which of the two composites a query may go by: the first has _ts, the second has not. */
static void check_composites(const struct query_index *index, bool with_time)
{
    size_t count;
    const struct index_joined *joined = index_policy_composites(index->policy, &count);

    REQUIRE(count == 2);
    CHECK(index->has_composite(index, joined[0].id) == with_time);
    CHECK(index->has_composite(index, joined[1].id));
}

/* Promise 3. */
TEST(the_index_knows_no_time_of_what_the_transaction_has_written_itself)
{
    struct partition_txn *txn = NULL;
    struct item_source *items = NULL;
    const struct query_index *index;
    struct container *container;
    struct placed_key key;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, WITH_COMPOSITES);
    shelf_add(&rig, container, "{'id':'1','pk':'k','a':1}");
    key = shelf_key(&rig, container, "['k']");
    CHECK(partition_begin_many(rig.op, container, &key, &txn) == ST_OK);
    CHECK(item_source_open_in(rig.op, txn, &everything, &items) == ST_OK);
    index = item_source_rows(items)->index;
    REQUIRE(index);
    CHECK(index->has(index, &path_ts) && index->has(index, &path_a) && index->documents == 1);
    check_composites(index, true);
    item_source_close(items);
    shelf_put(&rig, txn, "{'id':'2','pk':'k','a':2}");
    CHECK(item_source_open_in(rig.op, txn, &everything, &items) == ST_OK);
    index = item_source_rows(items)->index;
    REQUIRE(index);
    CHECK(!index->has(index, &path_ts) && index->has(index, &path_a) && index->documents == 2);
    check_composites(index, false);
    CHECK(strcmp(shelf_ids(&rig, item_source_rows(items)), "12") == 0);
    item_source_close(items);
    partition_abort(txn);
    rig_close(&rig);
}

/* What the index says of a scope; the values are those of the key in the header. */
struct said {
    bool offered, is_whole, key_is_scope;
    size_t key_count, key_value_count;
    enum json_kind first;
};

static struct said said_of(struct rig *rig, const struct container *container, const char *header,
                           struct partition_scope scope)
{
    struct item_source *items = NULL;
    const struct query_index *index;
    struct said said = { 0 };

    if (header)
        scope.key = shelf_key(rig, container, header);
    CHECK(item_source_open(rig->op, container, &scope, &items) == ST_OK);
    index = item_source_rows(items)->index;
    if (index)
        said = (struct said){ true,
                              index->is_whole,
                              index->key_is_scope,
                              index->key_count,
                              index->key_value_count,
                              index->key_value_count ? json_kind(index->key_value[0]) : JSON_UNDEFINED };
    item_source_close(items);
    return said;
}

TEST(a_key_is_the_scope_when_its_values_are_told_apart_and_no_bound_cuts_it)
{
    struct partition_scope cut = { .max = { .size = 1, .bytes = { 0x01 } } };
    struct container *container;
    struct said said;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    said = said_of(&rig, container, "['k']", everything);
    CHECK(said.offered && said.key_is_scope && !said.is_whole && said.key_value_count == 1);
    CHECK(said.key_count == 1 && said.first == JSON_STRING);
    said = said_of(&rig, container, "[{}]", everything); /* undefined: it has no entry */
    CHECK(said.offered && !said.key_is_scope && said.first == JSON_UNDEFINED);
    said = said_of(&rig, container, "['k']", cut);
    CHECK(said.offered && !said.key_is_scope && said.first == JSON_STRING);
    said = said_of(&rig, container, NULL, everything);
    CHECK(said.offered && said.is_whole && !said.key_is_scope && said.key_value_count == 0);
    said = said_of(&rig, container, NULL, cut);
    CHECK(said.offered && !said.is_whole);
    rig_close(&rig);
}

TEST(no_index_is_offered_where_there_is_none_or_nothing_can_match)
{
    struct epk none = { 0 };
    struct partition_scope nothing = { .points = &none };
    struct container *container, *bare;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(!said_of(&rig, container, NULL, nothing).offered);
    rig_close(&rig);
    rig_open_with(&rig, false, ENTRIES_NONE);
    bare = rig_container(&rig, BY_PK);
    CHECK(!said_of(&rig, bare, NULL, everything).offered);
    rig_close(&rig);
}

TEST(items_that_were_left_out_of_the_index_have_a_term_that_finds_them)
{
    struct item_source *items = NULL;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct container *container;
    struct placed_key key;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    shelf_add(&rig, container, "{'id':'1','pk':'k'}");
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(item_source_rows(items)->index && !item_source_rows(items)->index->left_out.data);
    item_source_close(items);
    key = shelf_key(&rig, container, "['k']");
    CHECK(partition_begin_many(rig.op, container, &key, &txn) == ST_OK);
    partition_set_indexing(txn, INDEXING_EXCLUDE);
    shelf_put(&rig, txn, "{'id':'2','pk':'k'}");
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(item_source_rows(items)->index && item_source_rows(items)->index->left_out.data);
    item_source_close(items);
    rig_close(&rig);
}
