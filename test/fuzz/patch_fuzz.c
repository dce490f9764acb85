/*
 * test/fuzz/patch_fuzz.c - any text as a patch of one document.
 * What is taken leaves a document that is whole, and that means the same after printing and parsing.
 */
#include <assert.h>

#include "json/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char document_text[] =
    "{\"id\":\"1\",\"n\":1,\"f\":0.5,\"o\":{\"a\":{\"b\":[]},\"x/y\":null,\"m~n\":true},"
    "\"l\":[1,[2,3],{\"k\":\"v\"},\"\\n\"],\"\":{\"\":0}}";

static void check(struct op *op, struct json patched)
{
    struct json again;
    struct buf text;

    assert(json_check(json_bytes(patched)));
    buf_init(&text, &op->arena);
    json_print(&text, patched);
    assert(json_parse(op, buf_as_slice(&text), &again) == ST_OK);
    assert(slice_equal(json_bytes(again), json_bytes(patched)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json document, operations, patched;
    struct patch patch;
    struct op op;

    op_init(&op, env_system(), 4 << 20);
    if (json_parse(&op, slice_of(document_text), &document) == ST_OK &&
        json_parse(&op, slice_make(data, size), &operations) == ST_OK &&
        patch_parse(&op, operations, &patch) == ST_OK &&
        patch_apply(&op, &patch, document, &patched) == ST_OK)
        check(&op, patched);
    op_free(&op);
    return 0;
}
