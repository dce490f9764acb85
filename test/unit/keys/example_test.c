/*
 * test/unit/keys/example_test.c - the worked example of docs/keys.md, made again and compared.
 * When a layout changes this fails and prints what the page must say.
 */
#include <stdarg.h>

#include "base/encode.h"
#include "index/term.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "keys/ordered.h"
#include "keys/record.h"
#include "keys/rid.h"
#include "test.h"

enum { REST = 1000 };

static struct buf page;

/* One line: a name, then the bytes in hexadecimal, a blank between the fields whose sizes follow; REST ends them. */
static void line(const char *name, struct slice bytes, ...)
{
    va_list sizes;

    buf_printf(&page, "%-16s", name);
    va_start(sizes, bytes);
    while (bytes.size) {
        size_t size = (size_t)va_arg(sizes, int);

        if (size > bytes.size)
            size = bytes.size;
        buf_byte(&page, ' ');
        hex_encode_upper(&page, slice_make(bytes.data, size));
        bytes = slice_after(bytes, size);
    }
    va_end(sizes);
    buf_byte(&page, '\n');
}

static struct json parse(const char *text)
{
    struct json value;

    return json_parse(test_op(), slice_of(text), &value) == ST_OK ? value : json_undefined;
}

static void ordered_line(const char *name, const char *text, int second_field)
{
    uint8_t bytes[ORDERED_BYTES_MAX];
    size_t size = ordered_encode(parse(text), bytes);

    line(name, slice_make(bytes, size), 1, second_field, REST);
}

/* Of a unique key with one path. */
static struct hash128 hash_of_values(const char *text)
{
    struct hash128 value = json_hash(parse(text));
    uint8_t bytes[16];

    put_be(bytes, value.h1, 8);
    put_be(bytes + 8, value.h2, 8);
    return murmur3_128(bytes, sizeof(bytes));
}

/* That the city is redmond: the path /city, the value, the document. */
static struct slice entry_key(uint64_t bucket, uint64_t number)
{
    uint8_t term[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    size_t size = TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES, parse("\"redmond\""), false);

    term_put_path(term, path_member((struct hash_seed){ 1, 2 }, path_root(TERM_RANGE), slice_of("city")));
    return key_index(&test_op()->arena, bucket, slice_make(term, size), number);
}

static void write_keys(const struct epk *epk, uint64_t bucket, uint64_t number, const struct rid *container)
{
    struct arena *arena = &test_op()->arena;

    line("key of record", key_document(arena, bucket, number), 6, 1, REST);
    line("key of id", key_id(arena, bucket, epk_slice(epk), slice_of("42")), 6, 1, 16, REST);
    line("key of unique", key_unique(arena, bucket, epk_slice(epk), 0, hash_of_values("\"redmond\"")), 6, 1,
         16, 1, REST);
    line("key of entry", entry_key(bucket, number), 6, 1, 8, 1, 8, REST);
    line("key of change", key_log(arena, bucket, 7, 0), 6, 1, 8, REST);
    line("key of head", key_head(arena, bucket), 6, REST);
    line("key in catalog", key_catalog(arena, rid_slice(container)), 6, 1, 4, REST);
}

static void write_values(const struct epk *epk, uint64_t number)
{
    struct record record = { .etag = 0xd826, .number = number, .policy_version = 1, .epk = epk_slice(epk) };
    struct change change = { .kind = CHANGE_CREATE, .token = 0xabcd, .number = number };
    uint8_t head[HEAD_BYTES], *value;
    size_t size, record_bytes;

    record.document = parse("{\"id\":\"42\",\"city\":\"redmond\"}");
    value = record_encode(test_op(), &record, &size);
    value_stamp(value, size, 7, 1700000000000);
    record_bytes = size;
    line("record", slice_make(value, 24), 1, 1, 2, 4, 8, REST);
    line("  goes on", slice_make(value + 24, 26), 8, 8, 4, 4, REST);
    line("  EPK", slice_make(value + 50, 16), REST);
    line("  document", slice_make(value + 66, size - 66), 9, 3, 3, 5, REST);
    value = change_encode(test_op(), &change, &size);
    value_stamp(value, size, 7, 1700000000000);
    line("change", slice_make(value, 24), 1, 1, 2, 4, 8, REST);
    line("  goes on", slice_make(value + 24, size - 24), 8, 8, REST);
    line("unique", holders_with(&test_op()->arena, (struct slice){ 0 }, number), 1, 8, REST);
    size = head_encode(&(struct head){ 7, 1700000000000, 1, true, 1, record_bytes }, head);
    line("head", slice_make(head, 24), 1, 3, 4, 8, REST);
    line("  goes on", slice_make(head + 24, size - 24), 8, 8, REST);
}

/* Document 42 of the container 5 in the database 1, whose partition key is its city. */
static void write_example(void)
{
    struct partition_key key = { 1, { parse("\"redmond\"") } };
    struct rid database = rid_database(1), container = rid_container(&database, 5), document;
    uint64_t number;
    struct epk epk;

    epk_compute(EPK_V2, &key, &epk);
    number = number_make(epk_number_bits(EPK_V2, 1, &epk), 1);
    document = rid_child(&container, RID_DOCUMENT, number_by_creation(number));
    line("EPK", epk_slice(&epk), REST);
    buf_printf(&page, "%-16s %05X %010X\n", "number", number_epk_bits(number),
               (unsigned)number_counter(number));
    line("rid", rid_slice(&document), 4, 4, REST);
    buf_printf(&page, "%-16s ", "rid as text");
    rid_print(&page, &document);
    buf_byte(&page, '\n');
    write_keys(&epk, bucket_make(5, 0), number, &container);
    write_values(&epk, number);
    ordered_line("ordered 1", "1", 8);
    ordered_line("ordered 2^53+1", "9007199254740993", 8);
    ordered_line("ordered \"ab\"", "\"ab\"", 2);
}

static struct slice read_page(void)
{
    char text[64 * 1024];
    FILE *file = fopen(test_source_path("docs/keys.md"), "r");
    size_t size;

    if (!file)
        return slice_of("");
    size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    return arena_copy(&test_op()->arena, slice_make(text, size));
}

TEST(the_example_in_docs_keys_md_is_what_the_code_writes)
{
    struct slice text = read_page();

    buf_init(&page, &test_op()->arena);
    write_example();
    buf_byte(&page, '\0');
    if (!strstr(text.data, page.data))
        printf("docs/keys.md should have:\n%s", page.data);
    CHECK(strstr(text.data, page.data));
}
