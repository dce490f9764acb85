/* test/unit/advise/failure_test.c - the store fails while it is asked what belongs to what: the reason is told whole. */
#include <stdio.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/belonging.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "rig.h"
#include "test.h"

enum { PEOPLE = 8, CALLS_MAX = 400 };

/* People by their houses, and visits that name both. */
struct town {
    struct rig rig;
    struct container *people, *visits;
};

static void add(struct rig *rig, const struct container *container, const char *format, int number)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp = { 0 };
    struct record item = { 0 };
    struct placed_key key = { 0 };
    struct json document;
    char text[100];

    (void)snprintf(text, sizeof(text), format, number, number, number % 3);
    document = rig_json(rig->op, text);
    partition_key_extract(container, document, &key.values);
    partition_key_place(container, &key);
    CHECK(partition_begin_many(rig->op, container, &key, &txn) == ST_OK);
    CHECK(partition_create(rig->op, txn, document, &item) == ST_OK);
    CHECK(partition_commit(rig->op, &txn, &stamp) == ST_OK);
}

static void town_open(struct town *town)
{
    *town = (struct town){ 0 };
    rig_open(&town->rig, false);
    town->people =
        rig_container(&town->rig, "{'id':'people','partitionKey':{'paths':['/house'],'version':2}}");
    town->visits = rig_container(&town->rig, "{'id':'visits','partitionKey':{'paths':['/id'],'version':2}}");
    for (int i = 0; i < PEOPLE; i++) {
        add(&town->rig, town->people, "{'id':'person-%d','name':'n%d','house':'h%d'}", i);
        add(&town->rig, town->visits, "{'id':'v%d','person':'person-%d','home':'h%d'}", i);
    }
}

static enum status advise_on(struct town *town)
{
    struct container *both[] = { town->people, town->visits };
    struct buf out;

    buf_init(&out, &town->rig.op->arena);
    return advise(town->rig.op, &(struct advise_options){ .container = both, .count = 2 }, &out);
}

static enum status find_belonging(struct town *town)
{
    struct op *op = town->rig.op;
    struct look owners = { .container = town->people }, parts = { .container = town->visits };
    struct belonging belonging = { .owners = &owners, .parts = &parts };
    struct tree tree;
    enum status st;

    CHECK(tree_init(op, &tree, &op->arena, (struct hash_seed){ 1, 2 }) == ST_OK);
    for (int i = 0; i < PEOPLE; i++) {
        char text[100];
        struct json document;

        (void)snprintf(text, sizeof(text), "{'id':'v%d','person':'person-%d','home':'h%d'}", i, i, i % 3);
        document = rig_json(op, text);
        CHECK(tree_add(op, &tree,
                       &(struct seen_item){ document, json_string(json_get(document, "id")),
                                            json_size(document) }) == ST_OK);
    }
    belonging.tree = &tree;
    belonging.id = node_child(tree.root, slice_of("person"));
    st = belonging_find(op, &belonging);
    CHECK(st != ST_OK || belonging.key[0] == node_child(tree.root, slice_of("home")));
    return st;
}

/* Each call of the store fails once. */
static void fail_each(struct town *town, enum status (*work)(struct town *town))
{
    uint64_t call = 0;
    enum status st;

    do {
        op_begin(town->rig.op, 60000);
        faulty_fail(&town->rig.controls, FAULTY_SNAPSHOT | FAULTY_GET | FAULTY_SCAN | FAULTY_RUN_READ,
                    ++call);
        st = work(town);
        if (st != ST_OK)
            CHECK(town->rig.op->error && strstr(town->rig.op->error, "made to fail"));
    } while (town->rig.controls.failed && call < CALLS_MAX);
    CHECK(st == ST_OK && call > 5 && call < CALLS_MAX);
    faulty_fail(&town->rig.controls, 0, 0);
}

TEST(why_references_could_not_be_followed_is_told)
{
    struct town town;

    town_open(&town);
    fail_each(&town, advise_on);
    rig_close(&town.rig);
}

TEST(why_owners_could_not_be_found_is_told)
{
    struct town town;

    town_open(&town);
    fail_each(&town, find_belonging);
    rig_close(&town.rig);
}
