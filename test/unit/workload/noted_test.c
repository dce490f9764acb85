/* test/unit/workload/noted_test.c - which members a write has changed, and what an operation notes of itself. */
#include "test.h"
#include "workload/noted.h"

static struct json json_of(const char *text)
{
    struct json value = json_undefined;

    if (text && json_parse(test_op(), slice_of(text), &value) != ST_OK)
        test_failed(__FILE__, __LINE__, text);
    return value;
}

static struct noted *begin(void)
{
    static struct noted noted;

    noted_end(&noted);
    noted_begin(&noted);
    test_op()->noted = &noted;
    return &noted;
}

/* The paths, with a blank behind each. */
static const char *changed(const char *before, const char *after)
{
    static char text[NOTED_PATHS_BYTES + 1];
    struct noted *noted = begin();
    struct partition_key key = { 0 };
    const struct noted_action *action;

    noted_act(test_op(), WORK_REPLACE, &key, json_of(before), json_of(after));
    action = noted_action(noted, 0);
    memcpy(text, action->paths, action->paths_size);
    for (size_t i = 0; i < action->paths_size; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[action->paths_size] = '\0';
    return text;
}

TEST(the_paths_that_a_write_changed_are_noted)
{
    static const struct {
        const char *before, *after, *paths;
    } rows[] = {
        { "{\"a\":1}", "{\"a\":1}", "" },
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "" },
        { "{\"a\":1}", "{\"a\":2}", "/a " },
        { "{\"a\":1}", "{\"a\":\"1\"}", "/a " },
        { "{\"a\":1}", "{\"b\":1}", "/a /b " },
        { "{\"a\":{\"b\":1,\"c\":{\"d\":1}}}", "{\"a\":{\"b\":1,\"c\":{\"d\":2}}}", "/a/c/d " },
        { "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1,\"n\":0}}", "/a/n " },
        { "{\"a\":[1,2]}", "{\"a\":[1,2,3]}", "/a " },
        { "{\"a\":[{\"n\":1},{\"n\":2}]}", "{\"a\":[{\"n\":3},{\"n\":4}]}", "/a/[]/n " },
        { "{\"a\":{}}", "{\"a\":[]}", "/a " },
        { "{\"id\":\"1\",\"x\":1,\"y\":2}", "{\"y\":3,\"id\":\"1\",\"x\":1}", "/y " },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(changed(rows[i].before, rows[i].after), rows[i].paths) != 0)
            test_failed(__FILE__, __LINE__, rows[i].after);
}

TEST(a_write_that_changes_too_much_changes_the_item)
{
    struct buf before, after;

    buf_init(&before, &test_op()->arena);
    buf_init(&after, &test_op()->arena);
    for (int i = 0; i < 40; i++) {
        buf_printf(&before, "%s\"member%d\":1", i ? "," : "{", i);
        buf_printf(&after, "%s\"member%d\":2", i ? "," : "{", i);
    }
    buf_append(&before, "}", 2);
    buf_append(&after, "}", 2);
    CHECK(strcmp(changed(before.data, after.data), " ") == 0);
}

TEST(long_and_odd_names_are_told_by_their_owners)
{
    char before[400], after[400], name[201];

    memset(name, 'n', 200);
    name[200] = '\0';
    snprintf(before, sizeof(before), "{\"o\":{\"%s\":1}}", name);
    snprintf(after, sizeof(after), "{\"o\":{\"%s\":2}}", name);
    CHECK(strcmp(changed(before, after), "/o ") == 0);
    CHECK(strcmp(changed("{\"o\":{\"a\\u0000b\":1}}", "{\"o\":{\"a\\u0000b\":2}}"), "/o ") == 0);
}

static struct partition_key key_of(const char *text)
{
    struct partition_key key = { .count = 1, .component = { json_of(text) } };

    return key;
}

TEST(keys_are_text_and_long_ones_differ_in_their_ends)
{
    char text[2][300];
    struct noted *noted = begin();
    struct partition_key key = key_of("\"ada\"");
    struct noted_key first;

    noted_name_key(test_op(), &key);
    CHECK(noted->key.size == 7 && memcmp(noted->key.text, "[\"ada\"]", 7) == 0);
    for (int i = 0; i < 2; i++) {
        memset(text[i], 'k', 298);
        text[i][0] = text[i][298] = '"';
        text[i][299] = '\0';
        text[i][297] = i ? 'x' : 'y';
        key = key_of(text[i]);
        noted_name_key(test_op(), &key);
        if (i == 0)
            first = noted->key;
    }
    CHECK(noted->key.size <= NOTED_KEY_BYTES);
    CHECK(noted->key.size == first.size && memcmp(noted->key.text, first.text, first.size) != 0);
    key = (struct partition_key){ .count = 2, .component = { json_of("1"), json_undefined } };
    noted_name_key(test_op(), &key);
    CHECK(noted->key.size == 6 && memcmp(noted->key.text, "[1,{}]", 6) == 0);
}

TEST(many_actions_are_noted_and_an_attempt_that_failed_is_not)
{
    struct noted *noted = begin();
    struct partition_key key = key_of("1");
    size_t mark;

    noted_act(test_op(), WORK_CREATE, &key, json_undefined, json_of("{}"));
    mark = noted_mark(test_op());
    for (int i = 0; i < NOTED_ACTIONS_MAX + 10; i++)
        noted_act(test_op(), WORK_READ, &key, json_of("{}"), json_undefined);
    CHECK(noted->count == NOTED_ACTIONS_MAX);
    CHECK(noted_action(noted, NOTED_ACTIONS_MAX - 1)->kind == WORK_READ);
    noted_rewind(test_op(), mark);
    CHECK(noted->count == 1 && noted_action(noted, 0)->kind == WORK_CREATE);
    noted_end(noted);
}

TEST(where_nothing_is_recorded_nothing_is_noted)
{
    struct partition_key key = key_of("1");

    test_op()->noted = NULL;
    noted_name_key(test_op(), &key);
    noted_act(test_op(), WORK_READ, &key, json_undefined, json_undefined);
    noted_ask(test_op(), &(struct noted_query){ 0 });
    noted_rows(test_op(), 7);
    CHECK(noted_mark(test_op()) == 0);
}
