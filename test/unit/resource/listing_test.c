/* test/unit/resource/listing_test.c - items by the page, and the query that means the same. */
#include "base/limits.h"
#include "ask.h"

static void fill(struct ask *ask, int count)
{
    for (int i = 0; i < count; i++) {
        char document[60], key[10];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d'}", i, i % 3);
        snprintf(key, sizeof(key), "['%d']", i % 3);
        ask_item(ask, key, document);
    }
    ask_clear(ask);
}

static size_t count_of(struct ask *ask)
{
    return json_count(ask_member(ask, "Documents"));
}

/* How many pages a walk over 25 items takes. */
static size_t pages_of(struct ask *ask, const char *size)
{
    const char *continuation = NULL;
    size_t seen = 0, pages = 0;

    ask_header(ask, HEADER_MAX_ITEM_COUNT, size);
    do {
        struct slice more;

        ask_header(ask, HEADER_CONTINUATION, continuation);
        CHECK(ask_run(ask, document_list, NULL) == 200);
        CHECK(json_int(ask_member(ask, "_count")) == (int64_t)count_of(ask));
        seen += count_of(ask);
        more = ask_answer(ask, "x-ms-continuation");
        continuation = more.data ? arena_text(&ask->rig.op->arena, more) : NULL;
    } while (++pages < 30 && continuation);
    CHECK(seen == 25);
    return pages;
}

TEST(pages_go_on_with_their_continuation_until_there_is_none)
{
    struct ask ask;

    ask_open(&ask);
    fill(&ask, 25);
    CHECK(pages_of(&ask, "10") == 3);
    CHECK(pages_of(&ask, "5") == 6); /* the last one is full, and says that it is the last */
    CHECK(pages_of(&ask, "25") == 2 && pages_of(&ask, "1") == 26);
    ask_close(&ask);
}

TEST(a_continuation_of_another_container_or_made_up_is_refused)
{
    const char *continuation;
    struct ask ask;

    ask_open(&ask);
    fill(&ask, 3);
    ask_header(&ask, HEADER_MAX_ITEM_COUNT, "1");
    CHECK(ask_run(&ask, document_list, NULL) == 200);
    continuation = arena_text(&ask.rig.op->arena, ask_answer(&ask, "x-ms-continuation"));
    ask.call.container = rig_container(&ask.rig, "{'id':'other'}");
    ask_header(&ask, HEADER_CONTINUATION, continuation);
    CHECK(ask_run(&ask, document_list, NULL) == 400);
    ask_header(&ask, HEADER_CONTINUATION, "made up");
    CHECK(ask_run(&ask, document_list, NULL) == 400);
    ask_header(&ask, HEADER_CONTINUATION, "");
    CHECK(ask_run(&ask, document_list, NULL) == 200);
    ask_close(&ask);
}

static const struct {
    const char *header;
    bool good;
    size_t size;
} sizes[] = {
    { NULL, true, PAGE_ITEMS_DEFAULT },
    { "1", true, 1 },
    { " 7 ", true, 7 },
    { "-1", true, 10 * PAGE_ITEMS_DEFAULT },
    { "1000000", true, PAGE_ITEMS_MAX },
    { "0", false, 0 },
    { "-2", false, 0 },
    { "x", false, 0 },
    { "", false, 0 },
    { "1.5", false, 0 },
    { "99999999999999999999", false, 0 },
};

TEST(a_page_has_as_many_items_as_the_client_wants_within_limits)
{
    struct ask ask;

    ask_open(&ask);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = 0;
        enum status st;

        ask_header(&ask, HEADER_MAX_ITEM_COUNT, sizes[i].header);
        st = call_page_size(ask.rig.op, &ask.call, &size);
        if ((st == ST_OK) != sizes[i].good || (sizes[i].good && size != sizes[i].size) ||
            (!sizes[i].good && st != ST_BAD_HEADER))
            test_failed(__FILE__, __LINE__, sizes[i].header ? sizes[i].header : "no header");
    }
    ask_close(&ask);
}

TEST(a_list_keeps_to_a_key_or_to_a_range_of_keys)
{
    struct ask ask;

    ask_open(&ask);
    fill(&ask, 9);
    ask_header(&ask, HEADER_PARTITION_KEY, "['1']");
    CHECK(ask_run(&ask, document_list, NULL) == 200 && count_of(&ask) == 3);
    ask_header(&ask, HEADER_PARTITION_KEY, NULL);
    ask_header(&ask, HEADER_START_EPK, "");
    ask_header(&ask, HEADER_END_EPK, "FF");
    CHECK(ask_run(&ask, document_list, NULL) == 200 && count_of(&ask) == 9);
    ask_header(&ask, HEADER_START_EPK, "FF");
    CHECK(ask_run(&ask, document_list, NULL) == 200 && count_of(&ask) == 0);
    ask_header(&ask, HEADER_START_EPK, "no hex");
    CHECK(ask_run(&ask, document_list, NULL) == 400);
    ask_close(&ask);
}

TEST(there_is_one_range_and_any_other_is_gone)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY_RANGE_ID, "0");
    CHECK(ask_run(&ask, document_list, NULL) == 200);
    ask_header(&ask, HEADER_PARTITION_KEY_RANGE_ID, "AbC=,0");
    CHECK(ask_run(&ask, document_list, NULL) == 200);
    ask_header(&ask, HEADER_PARTITION_KEY_RANGE_ID, "1");
    CHECK(ask_run(&ask, document_list, NULL) == 410 && slice_is(ask_answer(&ask, "x-ms-substatus"), "1002"));
    ask_close(&ask);
}

TEST(a_query_over_many_partitions_runs_only_when_the_client_says_so)
{
    struct ask ask;

    ask_open(&ask);
    fill(&ask, 4);
    CHECK(ask_run(&ask, document_query, "{'query':'SELECT * FROM c'}") == 400);
    CHECK(ask_run(&ask, document_query, "{'query':'SELECT * FROM c WHERE c.pk = 1'}") == 200);
    ask_header(&ask, HEADER_CROSS_PARTITION, "true");
    CHECK(ask_run(&ask, document_query, "{'query':'SELECT * FROM c'}") == 200 && count_of(&ask) == 4);
    ask_close(&ask);
}

TEST(a_query_needs_a_text)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_CROSS_PARTITION, "true");
    CHECK(ask_run(&ask, document_query, "{'query':1}") == 400);
    CHECK(ask_run(&ask, document_query, "{}") == 400);
    CHECK(ask_run(&ask, document_query, "") == 400);
    CHECK(ask_run(&ask, document_plan, "{'query':'SELECT * FROM c'}") == 200);
    CHECK(json_count(ask_member(&ask, "queryRanges")) == 1);
    CHECK(ask_run(&ask, document_query, "{'query':'SELECT * FROM c','parameters':1}") == 400);
    ask_header(&ask, HEADER_CONTENT_TYPE, "application/sql");
    CHECK(ask_run(&ask, document_query, "SELECT * FROM c") == 200);
    ask_close(&ask);
}
