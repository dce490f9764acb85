/* test/unit/partition/hints_test.c - hints save a get, and a stale one gives no wrong answer. */
#include "items.h"

/* The n of the item, or -1 when it is not there; how many gets it took is in the op. */
static int read_n(struct rig *rig, struct hints *hints, const struct container *container, const char *id)
{
    struct placed_key *key = key_of_header(rig->op, container, "['a']");
    struct record item;
    bool found = false;

    rig->op->work = (struct work){ 0 };
    CHECK(partition_read(rig->op, hints, container, key, slice_of(id), &item, &found) == ST_OK);
    CHECK(rig->op->work.documents_read == (uint64_t)found);
    return found ? (int)json_int(json_get(item.document, "n")) : -1;
}

TEST(the_second_read_of_an_item_is_one_get)
{
    struct hints *hints = hints_open();
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':1}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == 1 && rig.op->work.round_trips == 2);
    CHECK(read_n(&rig, hints, container, "1") == 1 && rig.op->work.round_trips == 1);
    CHECK(read_n(&rig, NULL, container, "1") == 1 && rig.op->work.round_trips == 2);
    rig_close(&rig);
    hints_close(hints);
    hints_close(NULL);
}

TEST(a_stale_hint_gives_what_is_there_now)
{
    struct hints *hints = hints_open();
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':1}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == 1);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == 2);
    CHECK(item_replace(&rig, container, "1", "{'id':'2','pk':'a','n':3}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == -1 && read_n(&rig, hints, container, "2") == 3);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':4}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == 4 && read_n(&rig, hints, container, "2") == 3);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == -1);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':5}", &item) == ST_OK);
    CHECK(read_n(&rig, hints, container, "1") == 5);
    rig_close(&rig);
    hints_close(hints);
}

TEST(a_slot_holds_the_newest_hint_and_no_other_items)
{
    struct hints *hints = hints_open();

    hints_put(hints, 5, 77);
    CHECK(hints_find(hints, 5) == 77);
    CHECK(hints_find(hints, 5 + (1 << 18)) == 0);
    hints_put(hints, 5 + (1 << 18), 78);
    CHECK(hints_find(hints, 5) == 0 && hints_find(hints, 5 + (1 << 18)) == 78);
    hints_close(hints);
}

TEST(the_id_of_a_number_is_told_to_its_own_logical_partition_only)
{
    struct container *container;
    struct record item;
    struct slice id;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(partition_id_of(rig.op, container, key_of_header(rig.op, container, "['a']"), item.number, &id) ==
          ST_OK);
    CHECK(slice_is(id, "1"));
    CHECK(partition_id_of(rig.op, container, key_of_header(rig.op, container, "['b']"), item.number, &id) ==
          ST_OK);
    CHECK(!id.data);
    CHECK(partition_id_of(rig.op, container, key_of_header(rig.op, container, "['a']"), item.number + 1,
                          &id) == ST_OK);
    CHECK(!id.data);
    rig_close(&rig);
}
