/* src/advise/lookup.c - SELECT VALUE c FROM c WHERE c.id IN (...). */
#include <assert.h>
#include <stdio.h>

#include "advise/lookup.h"
#include "query/query.h"
#include "source/items.h"

/* SELECT VALUE c FROM c WHERE c.id IN (@i0,@i1) */
static struct slice print_text(struct op *op, bool whole, size_t count)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_printf(&text, "SELECT %s FROM c WHERE c.id IN (", whole ? "VALUE c" : "c.id");
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s@i%zu", i ? "," : "", i);
    buf_byte(&text, ')');
    return buf_as_slice(&text);
}

/* [{"name":"@i0","value":"..."}] */
static struct json build_parameters(struct op *op, const struct slice *id, size_t count)
{
    struct json_builder builder;
    char name[24];

    json_builder_init(&builder, &op->arena);
    json_begin_array(&builder);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "@i%zu", i);
        json_begin_object(&builder);
        json_add_name(&builder, slice_of("name"));
        json_add_string(&builder, slice_of(name));
        json_add_name(&builder, slice_of("value"));
        json_add_string(&builder, id[i]);
        json_end(&builder);
    }
    json_end(&builder);
    return json_built(&builder);
}

static enum status keep_rows(struct op *op, const struct query_page *page, struct lookup *found)
{
    const size_t room = sizeof(found->item) / sizeof(found->item[0]);

    for (size_t i = 0; i < page->count && found->count < room; i++) {
        char *copy = arena_try_alloc(&op->arena, page->row[i].size + 1);

        if (!copy)
            return op_fail_as(op, ST_TOO_LARGE);
        memcpy(copy, page->row[i].data, page->row[i].size);
        found->item[found->count++] = json_from_bytes(slice_make(copy, page->row[i].size));
    }
    return ST_OK;
}

enum status lookup_items(struct op *op, const struct container *container, const struct lookup_ids *ids,
                         struct lookup *found)
{
    const struct query_options options = { .rows_as_values = true };
    const struct query_limits limits = { .rows = LOOKUP_IDS_MAX * 2,
                                         .bytes = PAGE_BYTES_MAX,
                                         .scanned_rows = SIZE_MAX };
    const struct partition_scope everything = { 0 };
    struct item_source *items = NULL;
    struct query_page page = { 0 };
    struct query *query;
    enum status st;

    assert(ids->count > 0 && ids->count <= LOOKUP_IDS_MAX);
    found->count = 0;
    TRY(query_compile(op, print_text(op, ids->whole, ids->count), build_parameters(op, ids->id, ids->count),
                      &options, &query));
    TRY(item_source_open(op, container, &everything, &items));
    TRY(query_run(op, query, item_source_rows(items), (struct slice){ 0 }, &limits, &page));
    TRY(keep_rows(op, &page, found));
out:
    query_page_free(&page);
    item_source_close(items);
    return st;
}

struct json lookup_one(const struct lookup *found, struct slice id, bool *several)
{
    struct json one = json_undefined;

    *several = false;
    for (size_t i = 0; i < found->count; i++) {
        if (!slice_equal(json_string(json_get(found->item[i], "id")), id))
            continue;
        *several = json_kind(one) != JSON_UNDEFINED;
        one = found->item[i];
    }
    return *several ? json_undefined : one;
}
