/* test/unit/partition/measure_test.c - the largest item and the longest array of a container are known, since the start. */
#include "base/limits.h"
#include "items.h"

static const char *longest_path(const struct container *container)
{
    static char path[SHAPE_PATH_BYTES];

    shape_path(container->shape, path);
    return path;
}

/* {"id":<id>,"pk":"a","log":[0,0,...]} as a transaction of its own. */
static enum status create_long(struct rig *rig, const struct container *container, const char *id,
                               size_t count)
{
    struct json_builder out;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    struct json document;
    enum status st;

    json_builder_init(&out, &rig->op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("id"));
    json_add_string(&out, slice_of(id));
    json_add_name(&out, slice_of("pk"));
    json_add_string(&out, slice_of("a"));
    json_add_name(&out, slice_of("log"));
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        json_add_int(&out, 0);
    json_end(&out);
    json_end(&out);
    document = json_built(&out);
    TRY(partition_begin(rig->op, rig->locks, container, key_of_document(rig->op, container, document),
                        slice_of(id), &txn));
    TRY(partition_create(rig->op, txn, document, &item));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static const struct {
    const char *document;
    uint64_t count; /* of the longest array so far */
    const char *path;
} writes[] = {
    { "{'id':'1','pk':'a'}", 0, "" },
    { "{'id':'2','pk':'a','e':[]}", 0, "" },
    { "{'id':'3','pk':'a','v':[1,2]}", 2, "/v" },
    { "{'id':'4','pk':'a','w':[1,2]}", 2, "/v" },
    { "{'id':'5','pk':'a','o':{'p':[[1],[1,2,3]]}}", 3, "/o/p/[]" },
    { "{'id':'6','pk':'a','v':[{'x':[1,2,3,4]},{'x':[1,2,3,4,5]}]}", 5, "/v/[]/x" },
    { "{'id':'7','pk':'a','v':[1,2,3,4]}", 5, "/v/[]/x" },
    { "{'id':'8','pk':'a','v':[[],[],[],[],[],[],[]]}", 7, "/v" },
};

TEST(the_longest_array_is_known_with_its_path_wherever_it_lies)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        REQUIRE(item_create(&rig, container, writes[i].document, &item) == ST_OK);
        CHECK(container->shape->array_count == writes[i].count);
        CHECK(strcmp(longest_path(container), writes[i].path) == 0);
    }
    REQUIRE(item_replace(&rig, container, "1", "{'id':'1','pk':'a','r':[0,0,0,0,0,0,0,0]}", &item) == ST_OK);
    CHECK(container->shape->array_count == 8 && strcmp(longest_path(container), "/r") == 0);
    rig_close(&rig);
}

TEST(a_path_that_is_too_long_ends_in_dots)
{
    struct container *container;
    struct record item;
    struct buf text;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    buf_init(&text, &rig.op->arena);
    buf_text(&text, "{'id':'1','pk':'a','a':{'");
    for (int i = 0; i < 250; i++)
        buf_byte(&text, 'n');
    buf_text(&text, "':{'b':[1]}}}");
    REQUIRE(item_create(&rig, container, arena_text(&rig.op->arena, buf_as_slice(&text)), &item) == ST_OK);
    CHECK(container->shape->array_count == 1 && strcmp(longest_path(container), "/a/...") == 0);
    rig_close(&rig);
}

TEST(the_largest_item_is_known_and_a_write_that_failed_counts_for_nothing)
{
    struct container *container;
    struct record item;
    struct rig rig;
    uint64_t largest;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a','t':'some text'}", &item) == ST_OK);
    largest = json_size(item.document);
    CHECK(container->shape->item_bytes == largest);
    REQUIRE(item_create(&rig, container, "{'id':'2','pk':'a'}", &item) == ST_OK);
    CHECK(container->shape->item_bytes == largest);
    faulty_fail(&rig.controls, FAULTY_WRITE, 1);
    CHECK(item_create(&rig, container, "{'id':'3','pk':'a','t':'much more text, and [1]','a':[1]}", &item) !=
          ST_OK);
    CHECK(container->shape->item_bytes == largest && container->shape->array_count == 0);
    rig_close(&rig);
}

TEST(a_new_definition_forgets_nothing_of_it)
{
    struct container *container, *redefined;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a','v':[1]}", &item) == ST_OK);
    redefined = rig_redefine(&rig, container,
                             "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':9}");
    CHECK(redefined->shape->array_count == 1);
    REQUIRE(item_create(&rig, container, "{'id':'2','pk':'a','v':[1,2]}", &item) == ST_OK);
    CHECK(redefined->shape->array_count == 2);
    rig_close(&rig);
}

TEST(half_of_a_limit_is_told_once)
{
    struct container_shape *shape = shape_new();

    CHECK(!shape_note_item(shape, ITEM_BYTES_MAX / 2));
    CHECK(shape_note_item(shape, ITEM_BYTES_MAX / 2 + 1));
    CHECK(!shape_note_item(shape, ITEM_BYTES_MAX));
    CHECK(shape->item_bytes == ITEM_BYTES_MAX);
    CHECK(!shape_note_array(shape, ARRAY_COUNT_SENSIBLE / 2, "/a"));
    CHECK(shape_note_array(shape, ARRAY_COUNT_SENSIBLE / 2 + 1, "/b"));
    CHECK(!shape_note_array(shape, ARRAY_COUNT_SENSIBLE, "/c"));
    shape_release(shape);
}

TEST(an_array_beyond_what_is_sensible_is_taken_all_the_same)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(create_long(&rig, container, "line\nend", ARRAY_COUNT_SENSIBLE + 1) == ST_OK);
    CHECK(container->shape->array_count == ARRAY_COUNT_SENSIBLE + 1);
    rig_close(&rig);
}

TEST(the_largest_containers_come_first_and_empty_ones_not_at_all)
{
    struct container *small, *large, *list[2];
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, "{'id':'empty','partitionKey':{'paths':['/pk']}}");
    small = rig_container(&rig, "{'id':'small','partitionKey':{'paths':['/pk']}}");
    large = rig_container(&rig, "{'id':'large','partitionKey':{'paths':['/pk']}}");
    REQUIRE(item_create(&rig, small, "{'id':'1','pk':'a','v':[1]}", &item) == ST_OK);
    REQUIRE(create_long(&rig, large, "1", 1000) == ST_OK);
    REQUIRE(catalog_list_largest(rig.catalog, list, 2) == 2);
    CHECK(list[0] == large && list[1] == small);
    container_release(list[0]);
    container_release(list[1]);
    REQUIRE(catalog_list_largest(rig.catalog, list, 1) == 1);
    CHECK(list[0] == large);
    container_release(list[0]);
    rig_close(&rig);
}
