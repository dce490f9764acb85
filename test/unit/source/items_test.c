/* test/unit/source/items_test.c - items as the rows of a query. */
#include "resource/item.h"
#include "shelf.h"

static const struct partition_scope everything = { 0 };

/* Promise 1. */
TEST(the_rows_of_a_key_are_its_items_in_the_order_of_their_numbers)
{
    struct item_source *items = NULL;
    struct partition_scope scope = { 0 };
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    for (int i = 0; i < 9; i++) {
        char document[60];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%c'}", i, "abc"[i % 3]);
        shelf_add(&rig, container, document);
    }
    scope.key = shelf_key(&rig, container, "['b']");
    CHECK(item_source_open(rig.op, container, &scope, &items) == ST_OK);
    CHECK(strcmp(shelf_ids(&rig, item_source_rows(items)), "147") == 0);
    CHECK(strcmp(shelf_ids(&rig, item_source_rows(items)), "") == 0);
    item_source_close(items);
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(strlen(shelf_ids(&rig, item_source_rows(items))) == 9);
    item_source_close(items);
    rig_close(&rig);
}

TEST(a_source_goes_on_behind_a_number_and_gives_what_is_picked)
{
    struct item_source *items = NULL;
    struct query_source *rows;
    struct container *container;
    uint64_t picked[3];
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    picked[0] = shelf_add(&rig, container, "{'id':'1','pk':'a'}").number;
    picked[1] = shelf_add(&rig, container, "{'id':'2','pk':'a'}").number;
    picked[2] = shelf_add(&rig, container, "{'id':'3','pk':'a'}").number + 1; /* which nobody has */
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    rows = item_source_rows(items);
    CHECK(rows->seek(rig.op, rows, picked[0]) == ST_OK && strcmp(shelf_ids(&rig, rows), "23") == 0);
    CHECK(rows->pick(rig.op, rows, picked, 3) == ST_OK && strcmp(shelf_ids(&rig, rows), "12") == 0);
    CHECK(rows->seek(rig.op, rows, 0) == ST_OK && strcmp(shelf_ids(&rig, rows), "123") == 0);
    item_source_close(items);
    rig_close(&rig);
}

TEST(what_has_expired_is_no_row)
{
    struct item_source *items = NULL;
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container =
        rig_container(&rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':-1}");
    shelf_add(&rig, container, "{'id':'1','pk':'a','ttl':5}");
    shelf_add(&rig, container, "{'id':'2','pk':'a'}");
    rig_advance_ms(&rig, 6000);
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(strcmp(shelf_ids(&rig, item_source_rows(items)), "2") == 0);
    CHECK(item_source_rows(items)->index && item_source_rows(items)->index->hides);
    item_source_close(items);
    rig_close(&rig);
}

/* The item as a client is told it. */
static struct json printed(struct rig *rig, const struct container *container, const struct record *item)
{
    struct json parsed = json_undefined;
    struct buf text;

    buf_init(&text, &rig->op->arena);
    item_print(&text, container, item);
    CHECK(json_parse(rig->op, buf_as_slice(&text), &parsed) == ST_OK);
    return parsed;
}

/* By itself each is the same. */
static void check_one(struct rig *rig, struct query_source *source, const struct query_row *row,
                      struct slice name, struct json told)
{
    struct json one;

    if (!source->system_one)
        return;
    CHECK(source->system_one(source, row, name, &rig->op->arena, &one));
    CHECK(json_kind(told) == JSON_UNDEFINED ? json_kind(one) == JSON_UNDEFINED : json_equal(one, told));
}

static void check_text(struct rig *rig, struct query_source *source, const struct query_row *row,
                       struct json system)
{
    struct buf text, wanted;

    if (!source->print_system)
        return;
    buf_init(&text, &rig->op->arena);
    buf_init(&wanted, &rig->op->arena);
    source->print_system(source, row, &text);
    json_print_members(&wanted, system);
    CHECK(slice_equal(buf_as_slice(&text), buf_as_slice(&wanted)));
}

/* Every member that follows the row's body, and as many as the printed item has beyond its document. */
static void check_system(struct rig *rig, struct query_source *source, struct json told, size_t of_document)
{
    struct query_row row = { 0 };
    struct json system;
    size_t count = 0;
    bool found;

    REQUIRE(source->next(rig->op, source, &row, &found) == ST_OK && found);
    system = source->system(source, &row, &rig->op->arena);
    for (struct json_iter i = json_iter(system); json_next(&i); count++) {
        CHECK(json_equal(i.value, json_member(told, i.name)));
        check_one(rig, source, &row, i.name, i.value);
    }
    check_one(rig, source, &row, slice_of("_t"), json_undefined);
    check_text(rig, source, &row, system);
    CHECK(count == 5 && json_count(told) == count + of_document);
}

/* Promise 2. */
TEST(what_follows_a_body_is_what_a_client_is_told_of_the_item)
{
    struct item_source *items = NULL;
    struct container *container;
    struct record item;
    struct json told;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    item = shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    told = printed(&rig, container, &item);
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(item_source_rows(items)->system_one && item_source_rows(items)->print_system);
    check_system(&rig, item_source_rows(items), told, 2);
    check_system(&rig, item_source_of_one(rig.op, container, &item), told, 2);
    item_source_close(items);
    rig_close(&rig);
}

TEST(one_item_is_a_row_once_and_again_after_a_seek)
{
    struct container *container;
    struct query_source *rows;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    item = shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    rows = item_source_of_one(rig.op, container, &item);
    CHECK(!rows->index && strcmp(shelf_ids(&rig, rows), "1") == 0);
    CHECK(strcmp(shelf_ids(&rig, rows), "") == 0);
    CHECK(rows->seek(rig.op, rows, 0) == ST_OK && strcmp(shelf_ids(&rig, rows), "1") == 0);
    CHECK(rows->seek(rig.op, rows, item.number) == ST_OK && strcmp(shelf_ids(&rig, rows), "") == 0);
    rig_close(&rig);
}

TEST(each_row_that_is_given_counts_as_a_document_that_was_scanned)
{
    struct item_source *items = NULL;
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    shelf_add(&rig, container, "{'id':'2','pk':'b'}");
    rig.op->work = (struct work){ 0 };
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    CHECK(strlen(shelf_ids(&rig, item_source_rows(items))) == 2 && rig.op->work.documents_scanned == 2);
    item_source_close(items);
    item_source_close(NULL);
    rig_close(&rig);
}

/* A source that could not be opened whole is closed like any other. */
TEST(an_open_that_fails_leaves_something_to_close)
{
    struct container *container;
    struct rig rig;
    uint64_t failures = 0;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    for (bool failed = true; failed; failures += failed) {
        struct item_source *items = NULL;
        enum status st;

        faulty_fail(&rig.controls, FAULTY_ANY, failures + 1);
        st = item_source_open(rig.op, container, &everything, &items);
        failed = rig.controls.failed;
        CHECK(items && (st != ST_OK) == failed);
        item_source_close(items);
    }
    CHECK(failures > 0);
    rig_close(&rig);
}
