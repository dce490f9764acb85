/* test/unit/main/slow_test.c - slow requests that are kept: the same is one row, and there are no more than so many. */
#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"
#include "main/slow.h"
#include "test.h"

static void note(struct slow *slow, const char *link, const char *query, const char *plan, int64_t took_us)
{
    struct answer answer = { .status = 200 };
    struct reply reply = { .query = slice_of(query), .plan = slice_of(plan) };

    slow_note(slow, test_op(),
              &(struct observed){ .operation = "document_query",
                                  .answer = &answer,
                                  .reply = &reply,
                                  .link = slice_of(link),
                                  .charge = 2.5,
                                  .took_us = took_us });
}

static struct json told(struct slow *slow, int64_t from_ms)
{
    struct json list = json_undefined;
    struct buf out;

    buf_init(&out, &test_op()->arena);
    slow_print(slow, from_ms, &out);
    CHECK(json_parse(test_op(), buf_as_slice(&out), &list) == ST_OK && json_kind(list) == JSON_ARRAY);
    return list;
}

static double number(struct json row, const char *name)
{
    return json_double(json_get(row, name));
}

TEST(the_same_query_is_one_row_with_the_plan_of_its_slowest_run)
{
    struct slow *slow = slow_open();
    struct json row;

    note(slow, "dbs/d/colls/c", "SELECT \"\xff\" FROM c", "{\"way\":\"pick\"}", 100 * 1000);
    note(slow, "dbs/d/colls/c", "SELECT \"\xff\" FROM c", "{\"way\":\"scan\"}", 300 * 1000);
    note(slow, "dbs/d/colls/c", "SELECT \"\xff\" FROM c", "{\"way\":\"walk\"}", 200 * 1000);
    note(slow, "dbs/d/colls/c/docs/1", "", "", 400 * 1000);
    note(slow, "dbs/d/colls/c/docs/2", "", "", 500 * 1000); /* another item of the same container */
    CHECK(json_count(told(slow, 0)) == 2);
    row = json_element(told(slow, 0), 0);
    CHECK(number(row, "count") == 2 && number(row, "milliseconds") == 500);
    CHECK(slice_is(json_string(json_get(row, "link")), "dbs/d/colls/c"));
    row = json_element(told(slow, 0), 1);
    CHECK(number(row, "count") == 3 && number(row, "milliseconds") == 300);
    CHECK(number(row, "totalMilliseconds") == 600 && number(row, "charge") == 2.5);
    CHECK(slice_is(json_string(json_get(json_get(row, "plan"), "way")), "scan"));
    CHECK(slice_is(json_string(json_get(row, "query")), "SELECT \"\xef\xbf\xbd\" FROM c"));
    slow_close(slow);
}

TEST(there_are_no_more_rows_than_so_many_and_the_one_goes_that_was_not_seen_longest)
{
    struct slow *slow = slow_open();
    char query[32];

    for (int i = 0; i < 100; i++) {
        snprintf(query, sizeof(query), "SELECT %d", i);
        note(slow, "dbs/d/colls/c", query, "", 1000 + i);
        env_advance_ms(test_op()->env, 1);
    }
    CHECK(json_count(told(slow, 0)) == 32);
    CHECK(slice_is(json_string(json_get(json_element(told(slow, 0), 31), "query")), "SELECT 68"));
    CHECK(json_count(told(slow, env_now_ms(test_op()->env) - 10)) == 10); /* the others are of before */
    slow_close(slow);
}

TEST(what_is_too_long_is_cut_and_the_answer_stays_json)
{
    struct slow *slow = slow_open();
    char *query = calloc(1, 100 * 1000);
    struct json row;

    memset(query, '"', 100 * 1000 - 1);
    note(slow, "dbs/d/colls/c", query, query, 1000);
    row = json_element(told(slow, 0), 0);
    CHECK(json_string(json_get(row, "query")).size == 2048);
    CHECK(json_kind(json_get(row, "plan")) == JSON_UNDEFINED);
    slow_close(slow);
    free(query);
}
