/*
 * test/fuzz/token_fuzz.c - everything small that comes from outside as text or as bytes.
 * The first byte picks the parser; the rest is its input. Beyond not crashing, what a parser
 * takes must come back as it was when it is printed again.
 */
#include <assert.h>
#include <string.h>

#include "base/encode.h"
#include "keys/ordered.h"
#include "keys/record.h"
#include "token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_continuation(struct op *op, struct slice input)
{
    static const struct rid account = { 0 };
    struct rid container = { RID_CONTAINER_BYTES, { 0, 0, 0, 7, 0x80, 0, 0, 9 } };
    struct continuation got;
    struct buf out;

    buf_init(&out, &op->arena);
    if (continuation_parse(op, input, CONTINUATION_DOCUMENTS, &container, &got) == ST_OK ||
        continuation_parse(op, input, CONTINUATION_CATALOG, &account, &got) == ST_OK ||
        continuation_parse(op, input, CONTINUATION_QUERY, &container, &got) == ST_OK) {
        continuation_print(&out, &got);
        assert(slice_equal(buf_as_slice(&out), input));
    }
}

static void fuzz_session_token(struct op *op, struct slice input)
{
    static const uint32_t id[] = { 0, 7, 3 };
    struct session_ranges ranges = { .asked = { id, 2 }, .live = { id, 3 }, .next_id = 9 };
    uint64_t lsn, again;
    struct buf out;

    if (session_token_lsn(op, input, &ranges, &lsn) != ST_OK)
        return;
    buf_init(&out, &op->arena);
    session_token_print(&out, id[0], lsn, lsn % 2);
    assert(session_token_lsn(op, buf_as_slice(&out), &ranges, &again) == ST_OK && again == lsn);
}

static void fuzz_etag(struct op *op, struct slice input)
{
    (void)op;
    (void)etag_matches(input, 0xd826, 1700000000000);
}

static void fuzz_rid(struct op *op, struct slice input)
{
    struct rid rid;
    struct buf out;

    if (!rid_parse(input, &rid))
        return;
    buf_init(&out, &op->arena);
    rid_print(&out, &rid);
    assert(slice_equal(buf_as_slice(&out), input));
}

static void fuzz_percent(struct op *op, struct slice input)
{
    struct slice decoded, again;
    struct buf out;

    if (!percent_decode(&op->arena, input, &decoded))
        return;
    buf_init(&out, &op->arena);
    percent_encode(&out, decoded);
    assert(percent_decode(&op->arena, buf_as_slice(&out), &again) && slice_equal(again, decoded));
}

static void fuzz_date(struct op *op, struct slice input)
{
    char date[HTTP_DATE_SIZE + 1];
    int64_t ms, again;

    (void)op;
    if (!http_date_parse(input, &ms) || ms < 0 || ms > 253402300799000)
        return;
    http_date_format(ms, date);
    assert(http_date_parse(slice_of(date), &again) && again == ms);
}

static void fuzz_ordered(struct op *op, struct slice input)
{
    size_t size = ordered_size(input);
    struct json value = ordered_decode(op, input);

    assert(size <= input.size);
    assert(size > 0 || !value.at);
}

static void fuzz_record(struct op *op, struct slice input)
{
    struct record record;
    struct change change;
    struct head head;

    if (record_decode(op, input, &record) == ST_OK)
        assert(record.epk.size < input.size);
    if (change_decode(op, input, &change) == ST_OK)
        assert(change.old_record.size < input.size);
    if (head_decode(op, input, &head) == ST_OK)
        assert(input.size == 0 || input.size == (head.counts ? HEAD_BYTES : 32));
}

static void (*const parsers[])(struct op *op, struct slice input) = {
    fuzz_continuation, fuzz_session_token, fuzz_etag,    fuzz_rid,
    fuzz_percent,      fuzz_date,          fuzz_ordered, fuzz_record,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op op;

    if (size == 0)
        return 0;
    op_init(&op, env_system(), 1 << 20);
    parsers[data[0] % (sizeof(parsers) / sizeof(parsers[0]))](&op, slice_make(data + 1, size - 1));
    op_free(&op);
    return 0;
}
