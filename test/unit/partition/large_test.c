/* test/unit/partition/large_test.c - items with as many entries as two megabytes can have, and with more than are kept. */
#include <stdlib.h>

#include "base/limits.h"
#include "items.h"
#include "partition/indexed.h"
#include "partition/verify.h"

#define DEFINED(policy) "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'indexingPolicy':" policy "}"
#define ALL DEFINED("{'includedPaths':[{'path':'/*'}]}")
#define NOT_A DEFINED("{'includedPaths':[{'path':'/*'}],'excludedPaths':[{'path':'/a/*'}]}")

/* Three letters that no other index gives, none of which JSON writes in another way. */
static void put_word(struct buf *out, size_t index)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !#$%&()*+,-./:;";
    size_t base = sizeof(letters) - 1;

    buf_byte(out, '"');
    for (size_t i = 0; i < 3; i++, index /= base)
        buf_byte(out, letters[index % base]);
    buf_byte(out, '"');
}

/* {"id":"1","pk":"a","a":[[["abc"]],...]}: words, each inside so many arrays, each of which has an entry. */
static const char *words(struct op *op, const char *id, size_t first, size_t count, size_t depth)
{
    struct buf out;

    buf_init(&out, &op->arena);
    buf_printf(&out, "{\"id\":\"%s\",\"pk\":\"a\",\"a\":[", id);
    for (size_t i = 0; i < count; i++) {
        buf_text(&out, i ? "," : "");
        for (size_t level = 0; level < depth; level++)
            buf_byte(&out, '[');
        put_word(&out, first + i);
        for (size_t level = 0; level < depth; level++)
            buf_byte(&out, ']');
    }
    buf_text(&out, "]}");
    buf_byte(&out, '\0');
    CHECK(!out.failed && out.size <= ITEM_BYTES_MAX);
    return out.data;
}

/* A new request each: with the memory that one has. */
static void next_request(struct rig *rig)
{
    op_begin(rig->op, OP_TIMEOUT_MS);
}

static void open_rig(struct rig *rig, struct op *op)
{
    rig_open_with(rig, false, ENTRIES_PACKED);
    op_init(op, rig->op->env, OP_MEMORY_BYTES_MAX);
    rig->op = op;
}

static bool is_right(struct rig *rig, const struct container *container, uint64_t entries_min)
{
    struct verify_result result;
    struct view view = { 0 };

    next_request(rig);
    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(verify_index(rig->op, container, &view, &result) == ST_OK);
    view_close(&view);
    return result.missing == 0 && result.extra == 0 && result.expected == result.found &&
           result.found >= entries_min;
}

static bool is_whole(struct rig *rig, const struct container *container)
{
    struct view view = { 0 };
    bool whole = false;

    next_request(rig);
    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(container_index_is_whole(rig->op, &view, container, &whole) == ST_OK);
    view_close(&view);
    return whole;
}

static struct container *found(struct rig *rig)
{
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    struct container *container = catalog_find_container(rig->catalog, database, slice_of("c"));

    database_release(database);
    return container;
}

/* Until the pass has ended; nobody knows the old definition any more. */
static void index_again(struct rig *rig, const char *definition)
{
    struct container *container = found(rig);

    next_request(rig);
    rig_redefine(rig, container, definition);
    container_release(container);
    rig_reopen(rig);
    for (int calls = 0; calls < 5; calls++)
        CHECK(rig_reindex(rig) == ST_OK);
    container = found(rig);
    CHECK(container->index_older_count == 0 && container_indexed_percent(container) == 100);
    container_release(container);
}

TEST_OF_SIZE(an_item_of_half_a_million_entries_is_replaced_indexed_again_and_deleted)
{
    enum { WORDS = 230000 };
    struct container *container;
    struct record item;
    struct rig rig;
    struct op op;

    open_rig(&rig, &op);
    container = rig_container(&rig, ALL);
    CHECK(item_create(&rig, container, words(&op, "1", 0, WORDS, 1), &item) == ST_OK);
    next_request(&rig);
    CHECK(item_replace(&rig, container, "1", words(&op, "1", WORDS, WORDS, 1), &item) == ST_OK);
    CHECK(is_right(&rig, container, 2 * WORDS) && is_whole(&rig, container));
    index_again(&rig, NOT_A);
    index_again(&rig, ALL);
    container = found(&rig);
    CHECK(is_right(&rig, container, 2 * WORDS) && is_whole(&rig, container));
    next_request(&rig);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(is_right(&rig, container, 0));
    container_release(container);
    rig_close(&rig);
    op_free(&op);
}

enum { DEEP_WORDS = 14000, DEEP = 60 }; /* 850,000 entries */

TEST_OF_SIZE(an_item_of_more_entries_than_are_kept_is_written_and_is_not_in_the_index)
{
    struct container *container;
    struct record item;
    struct rig rig;
    struct op op;

    open_rig(&rig, &op);
    container = rig_container(&rig, ALL);
    CHECK(item_create(&rig, container, words(&op, "1", 0, DEEP_WORDS, DEEP), &item) == ST_OK);
    CHECK(is_right(&rig, container, 1) && !is_whole(&rig, container));
    next_request(&rig);
    CHECK(item_replace(&rig, container, "1", words(&op, "1", 0, 10, 1), &item) == ST_OK);
    CHECK(is_right(&rig, container, 20) && is_whole(&rig, container));
    next_request(&rig);
    CHECK(item_replace(&rig, container, "1", words(&op, "1", 0, DEEP_WORDS, DEEP), &item) == ST_OK);
    rig_crash(&rig);
    container = found(&rig);
    CHECK(is_right(&rig, container, 1) && !is_whole(&rig, container));
    next_request(&rig);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(is_right(&rig, container, 0) && is_whole(&rig, container));
    container_release(container);
    rig_close(&rig);
    op_free(&op);
}

TEST_OF_SIZE(a_policy_by_which_an_item_would_have_too_many_entries_is_carried_through)
{
    static const char *const id[] = { "1", "2", "3" };
    struct container *container;
    struct record item;
    struct rig rig;
    struct op op;

    open_rig(&rig, &op);
    container = rig_container(&rig, NOT_A);
    for (size_t i = 0; i < 3; i++) {
        next_request(&rig);
        CHECK(item_create(&rig, container, words(&op, id[i], 0, i == 1 ? DEEP_WORDS : 10, i == 1 ? DEEP : 1),
                          &item) == ST_OK);
    }
    CHECK(is_whole(&rig, container));
    index_again(&rig, ALL);
    container = found(&rig);
    CHECK(is_right(&rig, container, 2 * 20) && !is_whole(&rig, container));
    container_release(container);
    rig_close(&rig);
    op_free(&op);
}
