/*
 * test/fuzz/page_fuzz.c - pages of the index and lists of its runs, as a disk may give them back.
 * What is taken for a page is read to its end, looked into, and packed again.
 */
#include <assert.h>
#include <stdlib.h>

#include "packed/manifest.h"
#include "packed/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repack(const struct page *page, size_t record, const struct marks *marks)
{
    struct page_writer *writer = malloc(sizeof(*writer));
    struct slice place = page_place(page, record);
    size_t put;

    if (!writer)
        abort();
    page_begin(writer, page->before, page->ordinal);
    put = page_put(writer, slice_after(place, PAGE_BUCKET_BYTES), marks->number,
                   marks->any_gone ? marks->gone : NULL, marks->count);
    assert(put > 0 && put <= marks->count);
    free(writer);
}

static void fuzz_page(struct op *op, struct slice input)
{
    struct page page = { 0 };
    struct marks marks;

    if (page_read(op, &page, slice_make("bucket", PAGE_BUCKET_BYTES), input) == ST_OK) {
        assert(page.count > 0);
        for (size_t i = 0; i < page.count; i++) {
            assert(page_find(&page, page_place(&page, i)) <= i);
            if (page_marks(op, &page, i, &marks) == ST_OK && marks.number[marks.count - 1] >> 62 == 0)
                repack(&page, i, &marks);
        }
    }
    page_free(&page);
}

static void fuzz_manifest(struct op *op, struct slice input)
{
    struct manifest manifest;
    uint64_t lsn;

    if (manifest_decode(op, input, &manifest) == ST_OK)
        assert(slice_equal(manifest_encode(op, &manifest), input));
    if (settled_decode(op, input, &lsn) == ST_OK)
        assert(slice_equal(settled_encode(op, lsn), input));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_make(data, size);
    struct op op;

    op_init(&op, env_system(), 1 << 20);
    op_begin(&op, 1000);
    fuzz_page(&op, input);
    fuzz_manifest(&op, input);
    op_free(&op);
    return 0;
}
