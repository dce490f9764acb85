/*
 * test/fuzz/query_fuzz.c - any bytes as a query.
 * What is refused is refused with a JSON body whose place lies in the text. What parses prints to text
 * that parses again and prints the same: no tree is lost or changed on the way a planner sends it.
 */
#include <stdlib.h>

#include "query/text/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct slice printed(struct op *op, const struct select *select)
{
    struct buf out;

    buf_init(&out, &op->arena);
    query_print(&out, select);
    require(!out.failed);
    return buf_as_slice(&out);
}

static void check_refused(struct op *op, struct slice text)
{
    struct json body, location;
    int64_t start, end;

    require(json_parse(op, slice_of(op->error), &body) == ST_OK);
    location = json_get(json_element(json_get(body, "errors"), 0), "location");
    start = json_int(json_get(location, "start"));
    end = json_int(json_get(location, "end"));
    require(0 <= start && start <= end && (size_t)end <= text.size);
}

static void check_parsed(struct op *op, const struct select *select)
{
    struct slice text = printed(op, select);
    struct select *again;

    if (text.size > QUERY_BYTES_MAX) /* it has blanks and parentheses of its own */
        return;
    require(query_parse(op, text, &again) == ST_OK);
    require(slice_equal(text, printed(op, again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_make(data, size);
    struct select *select;
    struct op op;
    enum status st;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    st = query_parse(&op, text, &select);
    require(st == ST_OK || st == ST_BAD_QUERY);
    if (st == ST_OK)
        check_parsed(&op, select);
    else
        check_refused(&op, text);
    op_free(&op);
    return 0;
}
