/* test/unit/workload/workload_test.c - the record: what is in it, that it is bounded, kept, forgotten, and shared by threads. */
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "query/outline.h"
#include "query/query.h"
#include "test.h"
#include "workload/workload.h"

static struct env *test_env; /* of the test that runs, for its threads, too */

static struct workload *open_record(void)
{
    test_env = test_op()->env;
    return workload_open(&(struct workload_options){ .env = test_op()->env, .records = true });
}

static struct rid rid_of(uint32_t number)
{
    struct rid database = rid_database(7);

    return rid_container(&database, number);
}

static void set_key(struct noted *noted, const char *key)
{
    noted->key.size = (uint8_t)snprintf(noted->key.text, NOTED_KEY_BYTES, "[\"%s\"]", key);
}

static void note_read(struct workload *workload, uint32_t container, const char *key)
{
    struct noted noted = { 0 };
    struct rid rid = rid_of(container);

    set_key(&noted, key);
    workload_note(workload, &(struct workload_told){ .noted = &noted,
                                                     .container = &rid,
                                                     .link = slice_of("dbs/d/colls/c"),
                                                     .kind = WORK_READ,
                                                     .id = slice_of(key),
                                                     .charge = 1.25,
                                                     .bytes = 100,
                                                     .ranges = 1,
                                                     .ranges_there = 2,
                                                     .took_us = 30,
                                                     .at_ms = env_monotonic_ms(test_env) });
}

static void note_query(struct workload *workload, uint32_t container, const char *text)
{
    static const struct query_options options = { 0 };
    struct op *op = test_op();
    struct query_outline outline;
    struct query *query = NULL;
    struct noted noted = { 0 };
    struct rid rid = rid_of(container);

    if (query_compile(op, slice_of(text), json_undefined, &options, &query) != ST_OK ||
        query_outline(op, query_select(query), &outline) != ST_OK)
        test_failed(__FILE__, __LINE__, text);
    noted.query =
        (struct noted_query){ .outline = &outline, .text = slice_of(text), .is_first = true, .rows = 3 };
    workload_note(workload, &(struct workload_told){ .noted = &noted,
                                                     .container = &rid,
                                                     .link = slice_of("dbs/d/colls/c"),
                                                     .kind = WORK_QUERY,
                                                     .charge = 3.5,
                                                     .scanned = 40,
                                                     .ranges = 2,
                                                     .ranges_there = 2,
                                                     .took_us = 500,
                                                     .at_ms = env_monotonic_ms(test_env) });
}

static void note_change(struct workload *workload, const char *before, const char *after)
{
    struct op *op = test_op();
    struct noted noted = { 0 };
    struct partition_key key = { 0 };
    struct rid rid = rid_of(1);
    struct json old, new;

    op->noted = &noted;
    if (json_parse(op, slice_of(before), &old) != ST_OK || json_parse(op, slice_of(after), &new) != ST_OK)
        test_failed(__FILE__, __LINE__, after);
    noted_act(op, WORK_REPLACE, &key, old, new);
    op->noted = NULL;
    workload_note(workload, &(struct workload_told){ .noted = &noted,
                                                     .container = &rid,
                                                     .link = slice_of("dbs/d/colls/c"),
                                                     .kind = WORK_REPLACE });
    noted_end(&noted);
}

static struct slice print(struct workload *workload, enum workload_form form)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    workload_print(workload, &out, form);
    if (out.failed)
        test_failed(__FILE__, __LINE__, "the record is too long");
    return buf_as_slice(&out);
}

static struct json shown(struct workload *workload)
{
    struct json value = json_undefined;

    if (json_parse(test_op(), print(workload, WORKLOAD_SHOWN), &value) != ST_OK)
        test_failed(__FILE__, __LINE__, "the record is no JSON");
    return value;
}

static struct json container_of(struct json record, size_t index)
{
    return json_element(json_get(record, "containers"), index);
}

static int64_t number(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_NUMBER ? (int64_t)json_double(value) : -1;
}

static struct json path_of(struct json container, const char *path)
{
    for (struct json_iter i = json_iter(json_get(container, "paths")); json_next(&i);)
        if (slice_is(json_string(json_get(i.value, "path")), path))
            return i.value;
    return json_undefined;
}

TEST(operations_are_counted_by_kind_and_by_key)
{
    struct workload *workload = open_record();
    struct json container, reads, keys;

    for (int i = 0; i < 100; i++)
        note_read(workload, 1, i % 10 ? "often" : "seldom");
    container = container_of(shown(workload), 0);
    reads = json_get(json_get(container, "operations"), "read");
    keys = json_get(container, "keys");
    CHECK(number(reads, "count") == 100 && number(reads, "charge") == 125);
    CHECK(number(reads, "bytes") == 10000 && number(reads, "microseconds") == 3000);
    CHECK(number(keys, "named") == 100 && number(keys, "different") == 2);
    CHECK(
        slice_is(json_string(json_get(json_element(json_get(keys, "commonest"), 0), "key")), "[\"often\"]"));
    CHECK(number(json_element(json_get(keys, "commonest"), 0), "count") == 90);
    CHECK(number(container, "rangesMost") == 2 && number(container, "readsById") == 100);
    workload_close(workload);
}

TEST_OF_SIZE(of_many_requests_one_in_a_few_counts_for_all)
{
    struct workload *workload = open_record();
    struct json keys, first;
    char key[16];

    for (int i = 0; i < 100000; i++) {
        snprintf(key, sizeof(key), "k%d", i % 3 ? i % 50 : 777);
        note_read(workload, 1, key);
    }
    keys = json_get(container_of(shown(workload), 0), "keys");
    first = json_element(json_get(keys, "commonest"), 0);
    CHECK(number(keys, "named") == 100000);
    CHECK(number(keys, "different") >= 45 && number(keys, "different") <= 55);
    CHECK(slice_is(json_string(json_get(first, "key")), "[\"k777\"]"));
    CHECK(number(first, "count") > 31000 && number(first, "count") < 36000);
    workload_close(workload);
}

TEST(queries_that_differ_in_values_are_one)
{
    struct workload *workload = open_record();
    struct json container, query;

    note_query(workload, 1, "SELECT * FROM c WHERE c.city = 'Ulm'");
    note_query(workload, 1, "SELECT * FROM c WHERE c.city = 'Bern'");
    note_query(workload, 1, "SELECT COUNT(1) FROM c");
    container = container_of(shown(workload), 0);
    REQUIRE(json_count(json_get(container, "queries")) == 2);
    query = json_element(json_get(container, "queries"), 0);
    CHECK(slice_is(json_string(json_get(query, "query")), "SELECT * FROM c WHERE (c.city = ?)"));
    CHECK(number(query, "executed") == 2 && number(query, "charge") == 7 && number(query, "rows") == 6);
    CHECK(number(query, "scanned") == 80 && number(query, "ranges") == 4 &&
          number(query, "singlePartition") == 0);
    CHECK(number(path_of(container, "/city"), "equal") == 2);
    CHECK(json_kind(json_get(json_element(json_get(container, "queries"), 1), "aggregates")) == JSON_TRUE);
    workload_close(workload);
}

TEST(values_of_queries_are_not_shown)
{
    struct workload *workload = open_record();
    struct slice text;

    note_query(workload, 1, "SELECT * FROM c WHERE c.city = 'secret'");
    text = print(workload, WORKLOAD_SHOWN);
    CHECK(!memmem(text.data, text.size, "secret", 6));
    text = print(workload, WORKLOAD_KEPT);
    CHECK(memmem(text.data, text.size, "secret", 6)); /* as an example, to be asked again */
    workload_close(workload);
}

TEST(changes_are_counted_where_they_lie_and_where_all_of_them_lie)
{
    struct workload *workload = open_record();
    struct json container;

    note_change(workload, "{\"a\":{\"x\":1,\"y\":1},\"b\":1}", "{\"a\":{\"x\":2,\"y\":2},\"b\":1}");
    note_change(workload, "{\"a\":{\"x\":1,\"y\":1},\"b\":1}", "{\"a\":{\"x\":2,\"y\":1},\"b\":1}");
    note_change(workload, "{\"a\":{\"x\":1,\"y\":1},\"b\":1}", "{\"a\":{\"x\":2,\"y\":1},\"b\":2}");
    note_change(workload, "{\"ab\":1,\"ac\":1}", "{\"ab\":2,\"ac\":2}");
    container = container_of(shown(workload), 0);
    CHECK(number(container, "changes") == 4);
    CHECK(number(path_of(container, "/a/x"), "changed") == 3 &&
          number(path_of(container, "/a/x"), "alone") == 1);
    CHECK(number(path_of(container, "/a"), "alone") == 1 && number(path_of(container, "/a"), "changed") == 0);
    CHECK(number(path_of(container, ""), "alone") == 2);
    CHECK(number(json_get(json_get(container, "operations"), "replace"), "count") == 4);
    workload_close(workload);
}

TEST(a_query_that_asks_with_the_id_of_an_item_that_was_read_is_told_apart)
{
    struct workload *workload = open_record();
    struct json after;

    note_read(workload, 1, "p1");
    note_query(workload, 2, "SELECT * FROM c WHERE c.person = 'p1'");
    note_query(workload, 2, "SELECT * FROM c WHERE c.person = 'p2'");
    env_advance_ms(test_op()->env, 60 * 1000);
    note_query(workload, 2, "SELECT * FROM c WHERE c.person = 'p1'"); /* too late */
    after = json_get(json_element(json_get(container_of(shown(workload), 1), "queries"), 0), "afterReads");
    CHECK(number(after, "count") == 1);
    CHECK(slice_is(json_string(json_get(after, "path")), "/person"));
    CHECK(slice_equal(json_string(json_get(after, "rid")),
                      json_string(json_get(container_of(shown(workload), 0), "rid"))));
    workload_close(workload);
}

static void note_much(struct workload *workload)
{
    char text[64];

    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "key%d", i);
        note_read(workload, (uint32_t)(i % 3), text);
        snprintf(text, sizeof(text), "SELECT c.p%d FROM c WHERE c.q = %d", i % 20, i);
        note_query(workload, (uint32_t)(i % 3), text);
        note_query(workload, (uint32_t)(i % 3), text);
    }
    note_change(workload, "{\"a\":1}", "{\"a\":2}");
}

TEST(what_was_kept_and_read_again_is_the_same_record)
{
    struct workload *first = open_record(), *second = open_record();
    struct slice kept, again;

    note_much(first);
    kept = print(first, WORKLOAD_KEPT);
    REQUIRE(workload_read(test_op(), second, kept) == ST_OK);
    again = print(second, WORKLOAD_KEPT);
    CHECK(slice_equal(kept, again));
    CHECK(!workload_has_changed(second));
    note_much(second);
    CHECK(workload_has_changed(second));
    workload_close(first);
    workload_close(second);
}

TEST(other_texts_are_no_record_and_leave_it_empty)
{
    static const char *const texts[] = { "",
                                         "{",
                                         "[]",
                                         "7",
                                         "{\"version\":2,\"seed\":[1,2],\"containers\":[]}",
                                         "{\"version\":1,\"seed\":[1],\"containers\":[]}" };
    struct workload *workload = open_record();

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        CHECK(workload_read(test_op(), workload, slice_of(texts[i])) != ST_OK);
        CHECK(json_count(json_get(shown(workload), "containers")) == 0);
    }
    workload_close(workload);
}

/* Any member of it may be missing, or something else: what has no meaning is left out. */
TEST(a_damaged_record_is_read_as_far_as_it_has_a_meaning)
{
    struct workload *first = open_record();
    struct slice kept;
    char *damaged;

    note_much(first);
    kept = print(first, WORKLOAD_KEPT);
    damaged = heap_allocate(kept.size);
    for (int i = 0; i < 300; i++) {
        struct workload *second = open_record();

        memcpy(damaged, kept.data, kept.size);
        for (int bytes = 0; bytes < 3; bytes++)
            damaged[test_random() % kept.size] = "0\"[]{},:x-"[test_random() % 10];
        (void)!workload_read(test_op(), second, slice_make(damaged, kept.size));
        shown(second);
        workload_close(second);
    }
    free(damaged);
    workload_close(first);
}

TEST(what_is_forgotten_is_gone_and_the_next_is_recorded)
{
    struct workload *workload = open_record();

    note_much(workload);
    workload_forget(workload);
    CHECK(workload_times_forgotten(workload) == 1);
    CHECK(json_count(json_get(shown(workload), "containers")) == 0);
    note_read(workload, 1, "a");
    CHECK(json_count(json_get(shown(workload), "containers")) == 1);
    workload_close(workload);
}

TEST(what_is_recorded_of_a_container_goes_with_it_and_its_memory_is_used_again)
{
    struct account account;
    struct workload *workload;
    struct rid database = rid_database(7), other = rid_of(2);
    size_t held = 0;

    account_init(&account, 0);
    test_env = test_op()->env;
    workload = workload_open(
        &(struct workload_options){ .env = test_op()->env, .account = &account, .records = true });
    for (int i = 0; i < 5; i++) {
        note_much(workload);
        workload_drop(workload, &other);
        CHECK(json_count(json_get(shown(workload), "containers")) == 2);
        workload_drop(workload, &database);
        CHECK(json_count(json_get(shown(workload), "containers")) == 0);
        if (i == 0)
            held = atomic_load(&account.held_bytes[HOLDER_WORKLOAD]);
    }
    CHECK(atomic_load(&account.held_bytes[HOLDER_WORKLOAD]) < held + 256 * 1024);
    note_read(workload, 1, "k");
    CHECK(number(json_get(json_get(container_of(shown(workload), 0), "operations"), "read"), "count") == 1);
    workload_close(workload);
}

TEST_OF_SIZE(memory_is_bounded_and_what_finds_no_room_is_counted)
{
    struct account account;
    struct workload *workload;
    char text[900];
    struct json record;

    account_init(&account, 0);
    test_env = test_op()->env;
    workload = workload_open(
        &(struct workload_options){ .env = test_op()->env, .account = &account, .records = true });
    for (uint32_t container = 0; container < 300; container++)
        note_read(workload, container, "k");
    for (uint32_t container = 0; container < 60; container++)
        for (int i = 0; i < 70; i++) {
            struct op_mark mark = op_mark(test_op());

            snprintf(text, sizeof(text), "SELECT c.member%d, c.longer%d FROM c", i, i);
            for (int again = 0; again < 2; again++)
                note_query(workload, container, text);
            op_rewind(test_op(), mark);
        }
    CHECK(atomic_load(&account.held_bytes[HOLDER_WORKLOAD]) <= WORKLOAD_BYTES_MAX);
    record = shown(workload);
    CHECK(number(record, "containersLeftOut") > 0);
    CHECK(number(container_of(record, 0), "queriesLeftOut") > 0);
    workload_close(workload);
    CHECK(atomic_load(&account.held_bytes[HOLDER_WORKLOAD]) == 0);
}

enum { THREADS = 4, TIMES = 500 };

static void *note_in_thread(void *workload)
{
    char key[8];

    for (int i = 0; i < TIMES; i++) {
        snprintf(key, sizeof(key), "%d", i % 7);
        note_read(workload, (uint32_t)(i % 5), key);
    }
    return NULL;
}

TEST(threads_note_side_by_side_and_nothing_is_lost)
{
    struct workload *workload = open_record();
    pthread_t thread[THREADS];
    int64_t count = 0;

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&thread[i], NULL, note_in_thread, workload) == 0);
    for (int i = 0; i < 20; i++)
        shown(workload);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (struct json_iter i = json_iter(json_get(shown(workload), "containers")); json_next(&i);)
        count += number(json_get(json_get(i.value, "operations"), "read"), "count");
    CHECK(count == THREADS * TIMES);
    workload_close(workload);
}
