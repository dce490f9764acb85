/* test/unit/json/patch_test.c - operations on parts of a document, one by one and against a slow and simple model. */
#include "json/patch.h"
#include "random_value.h"
#include "rig.h"

static enum status apply(struct op *op, struct json document, struct json operations, struct json *patched)
{
    struct patch patch;
    enum status st;

    TRY(patch_parse(op, operations, &patch));
    TRY(patch_apply(op, &patch, document, patched));
out:
    return st;
}

/* --- what each operation does --- */

static const struct {
    const char *document, *operations, *patched;
} works[] = {
    { "{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}" },
    { "{'a':1,'b':2}", "[{'op':'add','path':'/a','value':[]}]", "{'a':[],'b':2}" },
    { "{'a':{}}", "[{'op':'add','path':'/a/b','value':null}]", "{'a':{'b':null}}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/0','value':0}]", "{'a':[0,1,2]}" },
    { "{'a':[1,2]}", "[{'op':'add','path':'/a/2','value':3}]", "{'a':[1,2,3]}" },
    { "{'a':[]}", "[{'op':'add','path':'/a/-','value':{'x':1}}]", "{'a':[{'x':1}]}" },
    { "{'a':[1,2]}", "[{'op':'set','path':'/a/0','value':'x'}]", "{'a':['x',2]}" },
    { "{'a':[1,2]}", "[{'op':'set','path':'/a/2','value':3}]", "{'a':[1,2,3]}" },
    { "{'a':[1,2]}", "[{'op':'set','path':'/a/-','value':3}]", "{'a':[1,2,3]}" },
    { "{}", "[{'op':'set','path':'/a','value':{'b':[true]}}]", "{'a':{'b':[true]}}" },
    { "{'a':1,'b':2,'c':3}", "[{'op':'replace','path':'/b','value':'x'}]", "{'a':1,'b':'x','c':3}" },
    { "{'a':[1,2]}", "[{'op':'replace','path':'/a/1','value':{}}]", "{'a':[1,{}]}" },
    { "{'a':1,'b':2,'c':3}", "[{'op':'remove','path':'/b'}]", "{'a':1,'c':3}" },
    { "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/0'},{'op':'remove','path':'/a/0'}]", "{'a':[3]}" },
    { "{'a':1}", "[{'op':'remove','path':'/a'}]", "{}" },
    { "{'n':1}", "[{'op':'incr','path':'/n','value':2}]", "{'n':3}" },
    { "{'n':1}", "[{'op':'increment','path':'/n','value':-2.5}]", "{'n':-1.5}" },
    { "{}", "[{'op':'incr','path':'/n','value':2}]", "{'n':2}" },
    { "{'n':[1,5]}", "[{'op':'incr','path':'/n/1','value':2}]", "{'n':[1,7]}" },
    { "{'n':9007199254740991}", "[{'op':'incr','path':'/n','value':2}]", "{'n':9007199254740993}" },
    { "{'n':9223372036854775807}", "[{'op':'incr','path':'/n','value':1}]", "{'n':9223372036854775808}" },
    { "{'a':1,'b':{}}", "[{'op':'move','from':'/a','path':'/b/c'}]", "{'b':{'c':1}}" },
    { "{'a':1,'b':2}", "[{'op':'move','from':'/a','path':'/b'}]", "{'b':1}" },
    { "{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}" },
    { "{'a':{'b':{'c':1}}}", "[{'op':'move','from':'/a/b','path':'/a'}]", "{'a':{'c':1}}" },
    { "{'a':[1,2,3]}", "[{'op':'move','from':'/a/0','path':'/b'}]", "{'a':[2,3],'b':1}" },
    { "{'a':[1,2,3],'b':[]}", "[{'op':'move','from':'/a/2','path':'/b/-'}]", "{'a':[1,2],'b':[3]}" },
    { "{'a':[1,2,3,4]}", "[{'op':'move','from':'/a/3','path':'/a/1'}]", "{'a':[1,4,2,3]}" },
    { "{'a':[1,2,3,4]}", "[{'op':'move','from':'/a/1','path':'/a/3'}]", "{'a':[1,3,2,4]}" },
    { "{'a':[1,2]}", "[{'op':'move','from':'/a/1','path':'/a/1'}]", "{'a':[1,2]}" },
    { "{'a':[{'x':[7]},9]}", "[{'op':'move','from':'/a/0/x','path':'/a/0'}]", "{'a':[[7],{},9]}" },
    { "{'a/b':1,'m~n':2,'':3}",
      "[{'op':'incr','path':'/a~1b','value':10},{'op':'incr','path':'/"
      "m~0n','value':10},{'op':'incr','path':'/',"
      "'value':10}]",
      "{'a/b':11,'m~n':12,'':13}" },
    { "{'~1':1}", "[{'op':'set','path':'/~01','value':2}]", "{'~1':2}" },
    { "{'0':'zero'}", "[{'op':'set','path':'/0','value':1},{'op':'add','path':'/-','value':2}]",
      "{'0':1,'-':2}" },
    { "{}", "[{'op':'add','path':'/12345678901234567890123','value':1}]", "{'12345678901234567890123':1}" },
    { "{'a':1}",
      "[{'op':'add','path':'/b','value':{}},{'op':'add','path':'/b/c','value':[]},{'op':'add','path':'/b/c/"
      "-','value':1}]",
      "{'a':1,'b':{'c':[1]}}" },
};

static void report(const char *operations, const char *what)
{
    char text[512];

    snprintf(text, sizeof(text), "%s: %s", operations, what ? what : "another document");
    test_failed(__FILE__, __LINE__, text);
}

TEST(each_operation_changes_its_place_and_nothing_else)
{
    struct op *op = test_op();

    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
        struct json document = rig_json(op, works[i].document), expected = rig_json(op, works[i].patched),
                    got;

        if (apply(op, document, rig_json(op, works[i].operations), &got) != ST_OK)
            report(works[i].operations, op->error);
        else if (!slice_equal(json_bytes(got), json_bytes(expected)))
            report(works[i].operations, NULL);
    }
}

/* --- what is refused --- */

#define ONLY "For Operation(1): "
#define SYNTAX "Invalid patch request: check syntax of patch specification."
#define NO_PATH(who, where)                                                                               \
    ONLY who " Operation can only create a child object of an existing node(array or object) and cannot " \
             "create path recursively, no path found beyond: '" where "'."
#define NO_INDEX(index) ONLY "Index(" index ") to operate on is out of array bounds."

static const struct {
    const char *operations, *reason;
} refused[] = {
    { "{}", SYNTAX },
    { "[]", SYNTAX },
    { "[1]", SYNTAX },
    { "[{'path':'/a','value':1}]", SYNTAX },
    { "[{'op':'copy','from':'/a','path':'/b'}]", SYNTAX },
    { "[{'op':5,'path':'/a','value':1}]", SYNTAX },
    { "[{'op':'add','value':1}]", SYNTAX },
    { "[{'op':'add','path':5,'value':1}]", SYNTAX },
    { "[{'op':'add','path':'','value':1}]", SYNTAX },
    { "[{'op':'add','path':'a','value':1}]", SYNTAX },
    { "[{'op':'add','path':'/a~2','value':1}]", SYNTAX },
    { "[{'op':'add','path':'/a~','value':1}]", SYNTAX },
    { "[{'op':'add','path':'/x'}]", SYNTAX },
    { "[{'op':'incr','path':'/n','value':'1'}]", SYNTAX },
    { "[{'op':'move','path':'/x'}]", SYNTAX },
    { "[{'op':'move','from':'x','path':'/x'}]", SYNTAX },
    { "[{'op':'move','from':'/o','path':'/o/x'}]",
      ONLY "The path '/o/x' cannot be a child of the from path '/o'." },
    { "[{'op':'add','path':'/x/y','value':1}]", NO_PATH("Add", "x") },
    { "[{'op':'add','path':'/o/x/y/z','value':1}]", NO_PATH("Add", "x") },
    { "[{'op':'set','path':'/n/y','value':1}]", NO_PATH("Given", "n") },
    { "[{'op':'replace','path':'/x/y','value':1}]", NO_PATH("Given", "x") },
    { "[{'op':'incr','path':'/l/-/y','value':1}]", NO_PATH("Given", "-") },
    { "[{'op':'add','path':'/l/3','value':1}]", NO_INDEX("3") },
    { "[{'op':'set','path':'/l/3','value':1}]", NO_INDEX("3") },
    { "[{'op':'set','path':'/l/-1','value':1}]", NO_INDEX("-1") },
    { "[{'op':'set','path':'/l/01','value':1}]", NO_INDEX("01") },
    { "[{'op':'set','path':'/l/x','value':1}]", NO_INDEX("x") },
    { "[{'op':'set','path':'/l/99999999999999999999','value':1}]", NO_INDEX("99999999999999999999") },
    { "[{'op':'replace','path':'/l/2','value':1}]", NO_INDEX("2") },
    { "[{'op':'replace','path':'/l/-','value':1}]", NO_INDEX("-") },
    { "[{'op':'remove','path':'/l/2'}]", NO_INDEX("2") },
    { "[{'op':'replace','path':'/x','value':1}]", ONLY "Node(/x) to be replaced is absent." },
    { "[{'op':'remove','path':'/o/x'}]", ONLY
      "Node(/o/x) to be removed is absent. Note: it may also have been removed earlier in the transaction." },
    { "[{'op':'move','from':'/x','path':'/y'}]", ONLY
      "Node(/x) to be removed is absent. Note: it may also have been removed earlier in the transaction." },
    { "[{'op':'incr','path':'/o','value':1}]", ONLY "Node(/o) is not a number." },
    { "[{'op':'incr','path':'/big','value':1.7e308}]",
      ONLY "The sum at Node(/big) is too large for a number." },
    { "[{'op':'set','path':'/n','value':1},{'op':'remove','path':'/x'}]",
      "For Operation(2): Node(/x) to be removed is absent. Note: it may also have been removed earlier in "
      "the "
      "transaction." },
};

TEST(what_cannot_be_done_is_refused_with_its_reason)
{
    struct op *op = test_op();
    struct json document = rig_json(op, "{'n':1,'o':{},'l':[1,2],'big':1.7e308}");

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct json got;

        if (apply(op, document, rig_json(op, refused[i].operations), &got) != ST_BAD_REQUEST)
            report(refused[i].operations, "was not refused");
        else if (strcmp(op->error, refused[i].reason) != 0)
            report(refused[i].operations, op->error);
    }
}

static struct json many(struct op *op, size_t count)
{
    struct buf text;

    buf_init(&text, &op->arena);
    for (size_t i = 0; i < count; i++)
        buf_text(&text, i ? ",{'op':'incr','path':'/n','value':1}" : "[{'op':'incr','path':'/n','value':1}");
    buf_append(&text, "]", 2);
    return rig_json(op, text.data);
}

TEST(ten_operations_are_taken_and_eleven_are_not)
{
    struct op *op = test_op();
    struct json document = rig_json(op, "{'n':0}"), got;

    REQUIRE(apply(op, document, many(op, 10), &got) == ST_OK);
    CHECK(json_int(json_get(got, "n")) == 10);
    CHECK(apply(op, document, many(op, 11), &got) == ST_BAD_REQUEST);
    CHECK(strcmp(op->error, "The number of patch operations cannot exceed 10.") == 0);
}

/* A document of so many levels: {"a":{"a":...1}}. */
static struct json nested(struct op *op, size_t levels)
{
    struct json_builder b;

    json_builder_init(&b, &op->arena);
    for (size_t i = 0; i < levels; i++) {
        json_begin_object(&b);
        json_add_name(&b, slice_of("a"));
    }
    json_add_int(&b, 1);
    for (size_t i = 0; i < levels; i++)
        json_end(&b);
    return json_built(&b);
}

static struct json set_nested(struct op *op, size_t above, size_t below)
{
    struct json_builder b;
    struct buf path;

    buf_init(&path, &op->arena);
    for (size_t i = 0; i < above; i++)
        buf_text(&path, "/a");
    json_builder_init(&b, &op->arena);
    json_begin_array(&b);
    json_begin_object(&b);
    json_add_name(&b, slice_of("op"));
    json_add_string(&b, slice_of("set"));
    json_add_name(&b, slice_of("path"));
    json_add_string(&b, buf_as_slice(&path));
    json_add_name(&b, slice_of("value"));
    json_add(&b, nested(op, below));
    json_end(&b);
    json_end(&b);
    return json_built(&b);
}

TEST(no_operation_makes_a_document_deeper_than_a_parser_takes)
{
    struct op *op = test_op();
    struct json got;

    REQUIRE(apply(op, nested(op, 100), set_nested(op, 100, 28), &got) == ST_OK);
    CHECK(json_check(json_bytes(got)));
    CHECK(apply(op, nested(op, 100), set_nested(op, 100, 29), &got) == ST_BAD_REQUEST);
    CHECK(strstr(op->error, "deeper than 128 levels") != NULL);
    REQUIRE(apply(op, nested(op, 128), set_nested(op, 128, 0), &got) == ST_OK);
    CHECK(apply(op, nested(op, 128), set_nested(op, 129, 0), &got) == ST_BAD_REQUEST);
}

TEST(past_the_memory_limit_it_is_too_large_and_nothing_worse)
{
    struct op *op = test_op();
    struct json document = rig_json(op, "{'a':[1,2,3],'b':{'c':'text'}}"), got;
    struct json operations =
        rig_json(op, "[{'op':'move','from':'/a','path':'/b/~1'},{'op':'incr','path':'/n','value':1},"
                     "{'op':'incr','path':'/n','value':1}]");
    size_t limit = op->arena.limit_bytes;
    enum status st = ST_TOO_LARGE;

    for (size_t more = 0; st != ST_OK && more < 100000; more += 16) {
        op->arena.limit_bytes = op->arena.used_bytes + more;
        st = apply(op, document, operations, &got);
        CHECK(st == ST_OK || st == ST_TOO_LARGE);
    }
    CHECK(st == ST_OK);
    op->arena.limit_bytes = limit;
}

/* --- properties, and a model --- */

/* An operation as a client would write it. */
static struct json operation(struct op *op, const char *kind, struct slice path, struct slice from,
                             struct json value)
{
    struct json_builder b;

    json_builder_init(&b, &op->arena);
    json_begin_array(&b);
    json_begin_object(&b);
    json_add_name(&b, slice_of("op"));
    json_add_string(&b, slice_of(kind));
    json_add_name(&b, slice_of("path"));
    json_add_string(&b, path);
    if (from.data) {
        json_add_name(&b, slice_of("from"));
        json_add_string(&b, from);
    }
    if (value.at) {
        json_add_name(&b, slice_of("value"));
        json_add(&b, value);
    }
    json_end(&b);
    json_end(&b);
    return json_built(&b);
}

/* Where a pointer leads, found by hand. */
struct spot {
    struct slice text;
    struct json parent; /* undefined: there is none */
    struct slice name;
    size_t index;
    struct json value; /* undefined: nothing is there */
};

static struct slice pick_segment(struct op *op, struct json parent, struct json *value)
{
    size_t count = json_count(parent), wanted = test_random() % (count + 2), index = 0;
    struct buf out;

    buf_init(&out, &op->arena);
    *value = json_undefined;
    for (struct json_iter i = json_iter(parent); json_next(&i); index++)
        if (index == wanted) {
            *value = i.value;
            if (json_kind(parent) == JSON_OBJECT)
                return i.name;
        }
    if (json_kind(parent) == JSON_OBJECT)
        return slice_of(test_random() % 2 ? "new/~\"" : "0");
    if (wanted == count && test_random() % 2)
        return slice_of("-");
    buf_u64(&out, wanted);
    return buf_as_slice(&out);
}

static void add_segment(struct buf *text, struct slice segment)
{
    buf_byte(text, '/');
    for (size_t i = 0; i < segment.size; i++) {
        if (segment.data[i] == '~' || segment.data[i] == '/')
            buf_text(text, segment.data[i] == '~' ? "~0" : "~1");
        else
            buf_byte(text, segment.data[i]);
    }
}

static bool is_container(struct json value)
{
    return json_kind(value) == JSON_OBJECT || json_kind(value) == JSON_ARRAY;
}

static struct spot random_spot(struct op *op, struct json document)
{
    struct spot spot = { .value = document };
    struct buf text;

    buf_init(&text, &op->arena);
    do {
        spot.parent = is_container(spot.value) ? spot.value : json_undefined;
        spot.name = spot.parent.at ? pick_segment(op, spot.parent, &spot.value) : slice_of("lost");
        if (!spot.parent.at)
            spot.value = json_undefined;
        add_segment(&text, spot.name);
    } while (spot.parent.at && test_random() % 3);
    spot.text = buf_as_slice(&text);
    if (json_kind(spot.parent) == JSON_ARRAY) {
        uint64_t index = json_count(spot.parent);

        if (!slice_is(spot.name, "-"))
            CHECK(slice_to_u64(spot.name, &index));
        spot.index = index;
    }
    return spot;
}

/* What a copy changes on its way: a value put at a spot, a value left out. */
struct edit {
    struct spot spot;
    bool over;
    struct json put, skip;
};

static void copy(struct json_builder *b, struct json node, const struct edit *edit);

static void copy_array(struct json_builder *b, struct json node, const struct edit *edit)
{
    bool here = edit->put.at && node.at == edit->spot.parent.at;
    size_t index = 0;

    json_begin_array(b);
    for (struct json_iter i = json_iter(node); json_next(&i); index++) {
        if (here && index == edit->spot.index)
            json_add(b, edit->put);
        if (!(here && index == edit->spot.index && edit->over) && i.value.at != edit->skip.at)
            copy(b, i.value, edit);
    }
    if (here && index == edit->spot.index)
        json_add(b, edit->put);
    json_end(b);
}

static void copy_object(struct json_builder *b, struct json node, const struct edit *edit)
{
    bool here = edit->put.at && node.at == edit->spot.parent.at, done = false;

    json_begin_object(b);
    for (struct json_iter i = json_iter(node); json_next(&i);) {
        bool exchanged = here && slice_equal(i.name, edit->spot.name);

        if (!exchanged && i.value.at == edit->skip.at)
            continue;
        json_add_name(b, i.name);
        if (exchanged)
            json_add(b, edit->put);
        else
            copy(b, i.value, edit);
        done |= exchanged;
    }
    if (here && !done) {
        json_add_name(b, edit->spot.name);
        json_add(b, edit->put);
    }
    json_end(b);
}

static void copy(struct json_builder *b, struct json node, const struct edit *edit)
{
    if (json_kind(node) == JSON_OBJECT)
        copy_object(b, node, edit);
    else if (json_kind(node) == JSON_ARRAY)
        copy_array(b, node, edit);
    else
        json_add(b, node);
}

static bool can_put(const struct spot *spot)
{
    return spot->parent.at &&
           (json_kind(spot->parent) == JSON_OBJECT || spot->index <= json_count(spot->parent));
}

/* Undefined when the operation must be refused. */
static struct json model(struct op *op, const char *kind, struct json document, const struct edit *edit)
{
    bool needed = strcmp(kind, "replace") == 0 || strcmp(kind, "remove") == 0;
    struct json_builder b;

    if (needed ? !edit->spot.value.at : !can_put(&edit->spot))
        return json_undefined;
    json_builder_init(&b, &op->arena);
    copy(&b, document, edit);
    return json_built(&b);
}

static bool is_below(struct slice path, struct slice from)
{
    return path.size > from.size && path.data[from.size] == '/' &&
           slice_equal(slice_make(path.data, from.size), from);
}

static void compare(struct op *op, const char *kind, struct json document, struct json operations,
                    struct json expected)
{
    struct json got;
    enum status st = apply(op, document, operations, &got);
    struct buf text;

    if (st == ST_OK ? expected.at && slice_equal(json_bytes(got), json_bytes(expected)) : !expected.at)
        return;
    buf_init(&text, &op->arena);
    buf_printf(&text, "%s: ", kind);
    json_print(&text, document);
    json_print(&text, operations);
    buf_append(&text, "", 1);
    test_failed(__FILE__, __LINE__, text.data);
}

static struct json random_document(struct op *op)
{
    struct json document;

    do
        document = random_value(op, 4);
    while (json_kind(document) != JSON_OBJECT);
    return document;
}

TEST(random_operations_do_what_the_model_does)
{
    static const char *const kinds[] = { "add", "set", "replace", "remove" };
    struct op *op = test_op();

    for (int round = 0; round < 4000; round++) {
        struct arena_mark mark = arena_mark(&op->arena);
        const char *kind = kinds[test_random() % 4];
        struct json document = random_document(op), value = random_value(op, 2);
        struct edit edit = { .spot = random_spot(op, document), .over = kind[0] != 'a', .put = value };

        if (strcmp(kind, "remove") == 0) {
            value = edit.put = json_undefined;
            edit.skip = edit.spot.value;
        }
        compare(op, kind, document, operation(op, kind, edit.spot.text, (struct slice){ 0 }, value),
                model(op, kind, document, &edit));
        arena_rewind(&op->arena, mark);
    }
}

TEST(random_moves_do_what_the_model_does)
{
    struct op *op = test_op();

    for (int round = 0; round < 4000; round++) {
        struct arena_mark mark = arena_mark(&op->arena);
        struct json document = random_document(op), expected = json_undefined;
        struct spot from = random_spot(op, document);
        struct edit edit = { .spot = random_spot(op, document), .put = from.value, .skip = from.value };

        if (slice_equal(edit.spot.text, from.text))
            expected = from.value.at ? document : json_undefined;
        else if (from.value.at && !is_below(edit.spot.text, from.text))
            expected = model(op, "move", document, &edit);
        compare(op, "move", document, operation(op, "move", edit.spot.text, from.text, json_undefined),
                expected);
        arena_rewind(&op->arena, mark);
    }
}

TEST(what_is_added_and_then_removed_leaves_the_document_as_it_was)
{
    struct op *op = test_op();
    size_t done = 0;

    for (int round = 0; done < 300 && round < 20000; round++) {
        struct arena_mark mark = arena_mark(&op->arena);
        struct json document = random_document(op), got, again;
        struct spot spot = random_spot(op, document);
        struct slice none = { 0 };

        if (can_put(&spot) && !slice_is(spot.name, "-") &&
            (json_kind(spot.parent) == JSON_ARRAY || !spot.value.at)) {
            done++;
            CHECK(apply(op, document, operation(op, "add", spot.text, none, random_value(op, 3)), &got) ==
                      ST_OK &&
                  json_check(json_bytes(got)) &&
                  apply(op, got, operation(op, "remove", spot.text, none, json_undefined), &again) == ST_OK &&
                  slice_equal(json_bytes(again), json_bytes(document)));
        }
        arena_rewind(&op->arena, mark);
    }
    CHECK(done == 300);
}
