/* test/client/value_test.c - JSON in and out. */
#include <math.h>
#include <orrery.h>

#include "test.h"

TEST(what_is_read_is_what_is_written)
{
    const char *text = "{\"a\":[1,-2.5,true,false,null,\"x\\u0000y\"],\"b\":{},\"c\":9223372036854775807}";
    orrery_json *json = NULL;
    orrery_writer *writer = NULL;
    orrery_value root, list;
    size_t size;
    char *printed = NULL;

    REQUIRE(orrery_json_parse(text, ORRERY_TEXT, &json) == ORRERY_OK);
    root = orrery_json_root(json);
    list = orrery_value_member(root, "a");
    CHECK(orrery_value_type(root) == ORRERY_OBJECT && orrery_value_count(root) == 3);
    CHECK(orrery_value_count(list) == 6 && orrery_value_number(orrery_value_element(list, 1)) == -2.5);
    CHECK(orrery_value_bool(orrery_value_element(list, 2)) &&
          !orrery_value_bool(orrery_value_element(list, 3)));
    CHECK(memcmp(orrery_value_text(orrery_value_element(list, 5), &size), "x\0y", 4) == 0 && size == 3);
    CHECK(orrery_value_int(orrery_value_member(root, "c")) == INT64_MAX);
    CHECK(orrery_value_print(root, &printed, NULL) == ORRERY_OK && strcmp(printed, text) == 0);
    orrery_writer_new(&writer);
    orrery_write_value(writer, root);
    CHECK(strcmp(orrery_writer_text(writer, NULL), text) == 0);
    orrery_writer_free(writer);
    orrery_free(printed);
    orrery_json_free(json);
}

TEST(asking_a_value_for_what_it_is_not_is_harmless)
{
    orrery_value nothing = { NULL };
    orrery_json *json = NULL;

    CHECK(orrery_value_type(nothing) == ORRERY_UNDEFINED && orrery_value_count(nothing) == 0);
    CHECK(orrery_value_type(orrery_value_member(orrery_value_element(nothing, 3), "x")) == ORRERY_UNDEFINED);
    CHECK(strcmp(orrery_value_text(nothing, NULL), "") == 0 && orrery_value_number(nothing) == 0);
    REQUIRE(orrery_json_parse("[\"5\",1e300,{\"0\":1}]", ORRERY_TEXT, &json) == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_element(orrery_json_root(json), 0)) == 0);
    CHECK(orrery_value_int(orrery_value_element(orrery_json_root(json), 1)) == INT64_MAX);
    CHECK(!orrery_value_member(orrery_json_root(json), "0").at);
    CHECK(!orrery_value_element(orrery_value_element(orrery_json_root(json), 2), 0).at);
    orrery_json_free(json);
}

TEST(members_come_in_the_order_of_the_text)
{
    orrery_json *json = NULL;
    orrery_value value;
    const char *name;
    char names[8] = "";
    size_t count = 0;

    REQUIRE(orrery_json_parse("{\"z\":{\"q\":[1,2]},\"a\":[],\"m\":1}", ORRERY_TEXT, &json) == ORRERY_OK);
    for (size_t at = 0; orrery_value_next(orrery_json_root(json), &at, &name, &value);)
        names[count++] = name[0];
    CHECK(strcmp(names, "zam") == 0);
    orrery_json_free(json);
}

TEST(text_that_is_no_json_is_refused)
{
    static const char *const texts[] = { "", "{", "[1,]", "nul", "1 2", "\"\xff\"", "{\"a\":}", "01" };
    orrery_json *json = (orrery_json *)1;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK(orrery_json_parse(texts[i], ORRERY_TEXT, &json) == ORRERY_EJSON && !json);
    CHECK(orrery_json_parse(NULL, 0, &json) == ORRERY_EINVAL);
}

/* Each ends in a writer that has no text. */
static void wrong(orrery_writer *writer, int which)
{
    switch (which) {
    case 0:
        orrery_write_object(writer);
        orrery_write_int(writer, 1);
        break;
    case 1:
        orrery_write_array(writer);
        orrery_write_name(writer, "x");
        break;
    case 2:
        orrery_write_end(writer);
        break;
    case 3:
        orrery_write_int(writer, 1);
        orrery_write_int(writer, 2);
        break;
    case 4:
        orrery_write_number(writer, NAN);
        break;
    case 5:
        orrery_write_string(writer, "\xc3", ORRERY_TEXT);
        break;
    case 6:
        orrery_write_object(writer);
        break;
    case 7:
        orrery_write_object(writer);
        orrery_write_name(writer, "x");
        orrery_write_end(writer);
        break;
    case 8:
        orrery_write_json(writer, "{", ORRERY_TEXT);
        break;
    default:
        for (int i = 0; i < 5000; i++)
            orrery_write_array(writer);
    }
}

TEST(a_writers_mistake_is_told_at_the_end_and_forgotten_when_it_begins_again)
{
    orrery_writer *writer = NULL;

    REQUIRE(orrery_writer_new(&writer) == ORRERY_OK);
    for (int which = 0; which < 10; which++) {
        orrery_writer_reset(writer);
        wrong(writer, which);
        CHECK(orrery_writer_text(writer, NULL) == NULL && orrery_failed(orrery_writer_status(writer)));
    }
    orrery_writer_reset(writer);
    orrery_write_string(writer, "ok\n", ORRERY_TEXT);
    CHECK(strcmp(orrery_writer_text(writer, NULL), "\"ok\\n\"") == 0);
    orrery_writer_free(writer);
    wrong(NULL, 0);
    CHECK(orrery_writer_status(NULL) == ORRERY_ENOMEM);
}
