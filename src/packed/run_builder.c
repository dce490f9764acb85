/* src/packed/run_builder.c - fills a page, writes it, begins the next one. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/page.h"
#include "packed/run_builder.h"

enum { FILTER_ROW_BYTES = 32 * 1024, PLACE_BYTES_MAX = PAGE_BUCKET_BYTES + PAGE_TERM_BYTES_MAX };

struct run_builder {
    struct run_space *space;
    struct run_writer *writer;
    struct run_facts facts;
    struct filter *filter;
    uint64_t last_hash;
    bool has_terms;
    size_t place_bytes;
    char place[PLACE_BYTES_MAX]; /* the last one */
    struct page_writer page;
};

enum status run_builder_begin(struct op *op, struct run_space *space, uint64_t id, uint64_t terms_max,
                              struct run_builder **builder)
{
    struct run_builder *begun = heap_allocate_unset(sizeof(*begun));
    enum status st;

    begun->space = space;
    begun->writer = NULL;
    begun->facts = (struct run_facts){ .id = id };
    begun->filter = filter_new(terms_max);
    begun->last_hash = 0;
    begun->has_terms = false;
    begun->place_bytes = 0;
    page_begin(&begun->page, 0, 0);
    TRY(space->ops->begin(op, space, &begun->writer));
    *builder = begun;
out:
    if (st != ST_OK)
        run_builder_abort(begun);
    return st;
}

void run_builder_abort(struct run_builder *builder)
{
    if (!builder)
        return;
    if (builder->writer)
        builder->space->ops->abort(builder->space, builder->writer);
    filter_free(builder->filter);
    free(builder);
}

static enum status add_row(struct op *op, struct run_builder *builder, struct slice key, struct slice value)
{
    assert(builder->writer); /* it is begun, and not finished */
    builder->facts.bytes += key.size + value.size;
    return builder->space->ops->add(op, builder->space, builder->writer, key, value);
}

static enum status write_page(struct op *op, struct run_builder *builder)
{
    uint8_t key[RUN_ID_BYTES + PLACE_BYTES_MAX + 8];
    struct page_writer *page = &builder->page;
    enum status st = ST_OK;

    if (page->records == 0)
        goto out;
    assert(builder->place_bytes >= PAGE_TERM_AT);
    run_key(key, builder->facts.id);
    memcpy(key + RUN_ID_BYTES, builder->place, builder->place_bytes);
    put_be(key + RUN_ID_BYTES + builder->place_bytes, page->last, 8);
    TRY(add_row(op, builder, slice_make(key, RUN_ID_BYTES + builder->place_bytes + 8),
                slice_make(page->bytes, page->size)));
    builder->facts.pages++;
    builder->facts.net += page->net;
    page_begin(page, builder->facts.net, (uint32_t)builder->facts.pages);
out:
    return st;
}

/* Terms with one first value follow one another, and go into the filter once. */
static void add_to_filter(struct run_builder *builder, struct slice place)
{
    uint64_t bucket = get_be(place.data, PAGE_BUCKET_BYTES), hash;

    builder->facts.terms++;
    if (!filter_hash(bucket, slice_after(place, PAGE_BUCKET_BYTES), &hash))
        return;
    if (!builder->has_terms || hash != builder->last_hash)
        filter_add(builder->filter, hash);
    builder->last_hash = hash;
    builder->has_terms = true;
}

/* A page has terms of one bucket only. */
static enum status begin_term(struct op *op, struct run_builder *builder, struct slice place)
{
    enum status st = ST_OK;

    if (memcmp(builder->place, place.data, PAGE_BUCKET_BYTES) != 0)
        TRY(write_page(op, builder));
    assert(place.size <= sizeof(builder->place));
    memcpy(builder->place, place.data, place.size);
    builder->place_bytes = place.size;
    add_to_filter(builder, place);
out:
    return st;
}

/* A page is written before its last place is overwritten by the next one. */
static enum status make_room(struct op *op, struct run_builder *builder, struct slice place)
{
    enum status st = ST_OK;

    if (slice_equal(place, slice_make(builder->place, builder->place_bytes)))
        goto out;
    if (!page_has_room(&builder->page, slice_after(place, PAGE_BUCKET_BYTES)))
        TRY(write_page(op, builder));
    TRY(begin_term(op, builder, place));
out:
    return st;
}

enum status run_builder_add(struct op *op, struct run_builder *builder, struct slice place,
                            const uint64_t *number, const bool *gone, size_t count)
{
    enum status st;

    assert(place.size >= PAGE_TERM_AT); /* bucket and path */
    assert(count > 0);
    TRY(make_room(op, builder, place));
    for (size_t done = 0; done < count;) {
        size_t put = page_put(&builder->page, slice_after(place, PAGE_BUCKET_BYTES), number + done,
                              gone ? gone + done : NULL, count - done);

        if (put == 0)
            TRY(write_page(op, builder));
        done += put;
    }
    builder->facts.marks += count;
out:
    return st;
}

static enum status write_filter(struct op *op, struct run_builder *builder)
{
    uint8_t key[RUN_PREFIX_BYTES + 4];
    struct slice bytes;
    enum status st = ST_OK;

    if (!builder->has_terms)
        goto out;
    filter_shrink(builder->filter);
    bytes = filter_bytes(builder->filter);
    builder->facts.filter_bytes = bytes.size;
    run_key(key, builder->facts.id);
    put_be(key + RUN_ID_BYTES, RUN_FILTER_BUCKET, PAGE_BUCKET_BYTES);
    for (size_t at = 0; at < bytes.size; at += FILTER_ROW_BYTES) {
        size_t size = bytes.size - at < FILTER_ROW_BYTES ? bytes.size - at : FILTER_ROW_BYTES;

        put_be(key + RUN_PREFIX_BYTES, at / FILTER_ROW_BYTES, 4);
        TRY(add_row(op, builder, slice_make(key, sizeof(key)), slice_make(bytes.data + at, size)));
    }
out:
    return st;
}

enum status run_builder_finish(struct op *op, struct run_builder *builder, struct run_facts *facts,
                               struct filter **filter)
{
    struct run_space *space = builder->space;
    struct run_writer *writer = builder->writer;
    enum status st = ST_OK;

    *facts = builder->facts;
    *filter = NULL;
    if (facts->marks == 0)
        goto out;
    TRY(write_page(op, builder));
    TRY(write_filter(op, builder));
    builder->writer = NULL;
    TRY(space->ops->finish(op, space, writer));
    *facts = builder->facts;
    if (builder->has_terms) {
        *filter = builder->filter;
        builder->filter = NULL;
    }
out:
    run_builder_abort(builder);
    return st;
}
