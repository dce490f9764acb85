/* test/unit/partition/key_test.c - partition keys: from headers, from documents, and that both agree. */
#include "items.h"

#define NESTED "{'id':'n','partitionKey':{'paths':['/a/\\\"b c\\\"'],'version':2}}"
#define LEVELS "{'id':'l','partitionKey':{'paths':['/a','/b','/c'],'kind':'MultiHash'}}"
#define SYSTEM "{'id':'s'}"

#define UNSUPPORTED                                                                                  \
    "Unsupported PartitionKey value component. Numeric, string, bool, null, Undefined are the only " \
    "supported types."
#define MISMATCH                                                                                         \
    "Partition key provided either doesn't correspond to definition in the collection or doesn't match " \
    "partition key "                                                                                     \
    "field values specified in the document."
#define FEWER                                                                                              \
    "The partition key supplied in x-ms-partitionkey header has fewer components than defined in the the " \
    "collection."

static struct slice header_of(const char *text)
{
    return text ? rig_quoted(test_op(), text) : (struct slice){ 0 };
}

/* How many components come out of a header, or why none do. */
static const struct {
    const char *container, *header;
    enum key_use use;
    enum status status;
    size_t count;
    const char *error;
} headers[] = {
    { BY_PK, "['a']", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, " [ 'a' ] ", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "[null]", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "[true]", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "[1.5]", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "[{}]", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "['\\u00fc']", KEY_OF_ITEM, ST_OK, 1, NULL },
    { BY_PK, "[{'a':1}]", KEY_OF_ITEM, ST_BAD_HEADER, 0, UNSUPPORTED },
    { BY_PK, "[[]]", KEY_OF_ITEM, ST_BAD_HEADER, 0, UNSUPPORTED },
    { BY_PK, "[]", KEY_OF_ITEM, ST_BAD_HEADER, 0, MISMATCH },
    { BY_PK, "['a','b']", KEY_OF_ITEM, ST_BAD_HEADER, 0, MISMATCH },
    { BY_PK, "[1,2,3,4,5,6,7,8,9]", KEY_OF_ITEM, ST_BAD_HEADER, 0,
      "Partition key [1,2,3,4,5,6,7,8,9] is invalid." },
    { BY_PK, "a", KEY_OF_ITEM, ST_BAD_HEADER, 0, "Partition key a is invalid." },
    { BY_PK, "", KEY_OF_ITEM, ST_BAD_HEADER, 0, "Partition key  is invalid." },
    { BY_PK, "'a'", KEY_OF_ITEM, ST_BAD_HEADER, 0, "Partition key \"a\" is invalid." },
    { BY_PK, "{}", KEY_OF_ITEM, ST_BAD_HEADER, 0, "Partition key {} is invalid." },
    { BY_PK, NULL, KEY_OF_ITEM, ST_BAD_REQUEST, 0, FEWER },
    { BY_PK, NULL, KEY_OF_QUERY, ST_OK, 0, NULL },
    { BY_PK, "[]", KEY_OF_QUERY, ST_BAD_HEADER, 0, MISMATCH },
    { LEVELS, "['a','b','c']", KEY_OF_ITEM, ST_OK, 3, NULL },
    { LEVELS, "['a',1,null]", KEY_OF_ITEM, ST_OK, 3, NULL },
    { LEVELS, "['a','b']", KEY_OF_ITEM, ST_KEY_MISMATCH, 0, MISMATCH },
    { LEVELS, "['a','b']", KEY_OF_QUERY, ST_OK, 2, NULL },
    { LEVELS, "['a']", KEY_OF_QUERY, ST_OK, 1, NULL },
    { LEVELS, "['a','b','c','d']", KEY_OF_QUERY, ST_BAD_HEADER, 0, MISMATCH },
    { SYSTEM, NULL, KEY_OF_ITEM, ST_OK, 0, NULL },
    { SYSTEM, "[]", KEY_OF_ITEM, ST_OK, 0, NULL },
    { SYSTEM, "[{}]", KEY_OF_ITEM, ST_OK, 0, NULL },
    { SYSTEM, "['a']", KEY_OF_ITEM, ST_OK, 1, NULL },
    { SYSTEM, "['a','b']", KEY_OF_ITEM, ST_BAD_HEADER, 0, MISMATCH },
};

static struct container *named(struct rig *rig, const char *definition)
{
    struct json id = json_get(rig_json(rig->op, definition), "id");

    for (size_t i = 0; i < rig->made_count; i++)
        if (slice_equal(rig->made[i]->id, json_string(id)))
            return rig->made[i];
    return rig_container(rig, definition);
}

TEST(a_header_is_an_array_of_as_many_scalars_as_the_key_has_levels)
{
    struct rig rig;

    rig_open(&rig, false);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct slice header = header_of(headers[i].header);
        struct container *container = named(&rig, headers[i].container);
        struct partition_key key;
        bool present;
        enum status st = partition_key_read(rig.op, container, header, headers[i].use, &key, &present);

        if (st == headers[i].status && present == (header.data != NULL) &&
            (st == ST_OK ? key.count == headers[i].count : strcmp(rig.op->error, headers[i].error) == 0))
            continue;
        test_failed(__FILE__, __LINE__, headers[i].header ? headers[i].header : "no header");
        printf("    gave %s: %s\n", error_row(st)->name, st == ST_OK ? "" : rig.op->error);
    }
    rig_close(&rig);
}

static enum status read_long(struct rig *rig, size_t size)
{
    struct partition_key key;
    struct buf header;
    bool present;

    buf_init(&header, &rig->op->arena);
    buf_text(&header, "[\"");
    for (size_t i = 0; i < size; i++)
        buf_byte(&header, 'x');
    buf_text(&header, "\"]");
    return partition_key_read(rig->op, rig->made[0], buf_as_slice(&header), KEY_OF_ITEM, &key, &present);
}

TEST(a_key_has_at_most_two_kilobytes)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, BY_PK);
    CHECK(read_long(&rig, PARTITION_KEY_BYTES_MAX) == ST_OK);
    CHECK(read_long(&rig, PARTITION_KEY_BYTES_MAX + 1) == ST_BAD_HEADER);
    rig_close(&rig);
}

/* A document lies where the header says that looks for it. */
static const struct {
    const char *container, *document, *header;
} agreements[] = {
    { BY_PK, "{'pk':'a'}", "['a']" },
    { BY_PK, "{'pk':7}", "[7.0]" },
    { BY_PK, "{'pk':null}", "[null]" },
    { BY_PK, "{'pk':false}", "[false]" },
    { BY_PK, "{}", "[{}]" },
    { BY_PK, "{'pk':{'x':1}}", "[{}]" },
    { BY_PK, "{'pk':[1]}", "[{}]" },
    { BY_PK, "{'PK':'a'}", "[{}]" },
    { NESTED, "{'a':{'b c':'x'}}", "['x']" },
    { NESTED, "{'a':{'b':'x'}}", "[{}]" },
    { NESTED, "{'a':'x'}", "[{}]" },
    { NESTED, "{'a':[{'b c':'x'}]}", "[{}]" },
    { LEVELS, "{'a':1,'b':'2','c':true}", "[1,'2',true]" },
    { LEVELS, "{'a':1,'c':3}", "[1,{},3]" },
    { SYSTEM, "{'id':'1'}", "[]" },
    { SYSTEM, "{'id':'1'}", "[{}]" },
    { SYSTEM, "{'_partitionKey':'x'}", "['x']" },
};

TEST(the_key_in_a_document_is_the_key_in_the_header_that_means_it)
{
    struct rig rig;

    rig_open(&rig, false);
    for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++) {
        struct container *container = named(&rig, agreements[i].container);
        struct placed_key *extracted =
            key_of_document(rig.op, container, rig_json(rig.op, agreements[i].document));
        struct placed_key *read = key_of_header(rig.op, container, agreements[i].header);

        if (!slice_equal(epk_slice(&extracted->epk), epk_slice(&read->epk)) ||
            !partition_key_equal(&extracted->values, &read->values))
            test_failed(__FILE__, __LINE__, agreements[i].document);
    }
    rig_close(&rig);
}

TEST(null_undefined_and_an_empty_text_are_three_different_keys)
{
    struct container *container;
    struct slice null, undefined, empty;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    null = epk_slice(&key_of_header(rig.op, container, "[null]")->epk);
    undefined = epk_slice(&key_of_header(rig.op, container, "[{}]")->epk);
    empty = epk_slice(&key_of_header(rig.op, container, "['']")->epk);
    CHECK(!slice_equal(null, undefined) && !slice_equal(null, empty) && !slice_equal(undefined, empty));
    rig_close(&rig);
}
