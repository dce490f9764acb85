/* src/source/items.c - items as rows: from a scan of their container, or one by itself. */
#include <assert.h>

#include "source/item_index_private.h"
#include "source/items.h"
#include "source/items_private.h"
#include "token/token.h"

struct item_source {
    struct query_source base; /* first: the query knows no more of it */
    struct partition_scan scan;
    struct record record; /* of the row */
    struct item_index index;
};

void item_row(struct op *op, const struct record *item, struct query_row *row)
{
    work_scanned(&op->work, item->stored.size);
    row->number = item->number;
    row->counter = number_counter(item->number);
    row->body = item->document;
    row->behind = item->behind;
}

/* ---- the members that follow a body ---- */

static void add_text(struct json_builder *out, const char *name, const struct buf *text)
{
    json_add_name(out, slice_of(name));
    json_add_string(out, buf_as_slice(text));
}

static void print_self(struct buf *out, const struct container *container, const struct buf *rid)
{
    buf_text(out, "dbs/");
    rid_print(out, &container->database->rid);
    buf_text(out, "/colls/");
    rid_print(out, &container->rid);
    buf_text(out, "/docs/");
    buf_slice(out, buf_as_slice(rid));
    buf_byte(out, '/');
}

struct json item_system_members(struct arena *memory, const struct container *container,
                                const struct record *item)
{
    struct rid rid = container_item_rid(container, item->number);
    struct json_builder out;
    struct buf rid_text, self, etag;

    buf_init(&rid_text, memory);
    rid_print(&rid_text, &rid);
    buf_init(&self, memory);
    print_self(&self, container, &rid_text);
    buf_init(&etag, memory);
    etag_print(&etag, item->etag, item->ts_ms);
    json_builder_init(&out, memory);
    json_begin_object(&out);
    add_text(&out, "_rid", &rid_text);
    add_text(&out, "_self", &self);
    add_text(&out, "_etag", &etag);
    json_add_name(&out, slice_of("_attachments"));
    json_add_string(&out, slice_of("attachments/"));
    json_add_name(&out, slice_of("_ts"));
    json_add_int(&out, item->ts_ms / 1000);
    json_end(&out);
    return json_built(&out);
}

/* ---- the items of a container ---- */

static enum status scan_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct item_source *items = (struct item_source *)source;
    enum status st = partition_scan_next(op, &items->scan, &items->record, found);

    if (st == ST_OK && *found)
        item_row(op, &items->record, row);
    return st;
}

static enum status scan_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    partition_scan_seek(&((struct item_source *)source)->scan, after);
    return ST_OK;
}

static enum status scan_pick(struct op *op, struct query_source *source, const uint64_t *number, size_t count)
{
    (void)op;
    partition_scan_pick(&((struct item_source *)source)->scan, number, count);
    return ST_OK;
}

/* The members of the row that was given last. */
static struct json scan_system(struct query_source *source, const struct query_row *row, struct arena *memory)
{
    struct item_source *items = (struct item_source *)source;

    assert(row->number == items->record.number);
    return item_system_members(memory, items->scan.container, &items->record);
}

/* What the query learns of the container, once the scan is open. */
static enum status describe(struct op *op, struct item_source *items)
{
    items->base.seed = items->scan.container->seed;
    items->base.ties_by_creation = items->scan.container->rids_by_creation;
    if (items->scan.parts.whole) { /* each part has an index of its own */
        items->base.apart = items->scan.parts.whole->part_count;
        return ST_OK;
    }
    return item_index_offer(op, &items->scan, &items->index, &items->base.index);
}

static struct item_source *new_source(struct op *op)
{
    struct item_source *items = arena_alloc(&op->arena, sizeof(*items));

    *items = (struct item_source){ .base = { scan_next, scan_seek, scan_system, scan_pick } };
    return items;
}

enum status item_source_open(struct op *op, const struct container *container,
                             const struct partition_scope *scope, struct item_source **items)
{
    struct item_source *made = *items = new_source(op);
    enum status st;

    TRY(partition_scan_open(op, container, scope, &made->scan));
    TRY(describe(op, made));
out:
    return st;
}

enum status item_source_open_in(struct op *op, const struct partition_txn *txn,
                                const struct partition_scope *scope, struct item_source **items)
{
    struct item_source *made = *items = new_source(op);
    enum status st;

    TRY(partition_scan_open_in(op, txn, scope, &made->scan));
    TRY(describe(op, made));
out:
    return st;
}

struct query_source *item_source_rows(struct item_source *items)
{
    assert(items->scan.container); /* it was opened */
    return &items->base;
}

void item_source_close(struct item_source *items)
{
    if (!items)
        return;
    item_words_end(&items->index);
    partition_scan_close(&items->scan);
}

/* ---- one item ---- */

struct one_item {
    struct query_source base;
    const struct container *container;
    const struct record *item;
    bool given;
};

static enum status one_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct one_item *one = (struct one_item *)source;

    *found = !one->given;
    if (*found)
        item_row(op, one->item, row);
    one->given = true;
    return ST_OK;
}

static enum status one_seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct one_item *one = (struct one_item *)source;

    (void)op;
    one->given = after >= one->item->number;
    return ST_OK;
}

static struct json one_system(struct query_source *source, const struct query_row *row, struct arena *memory)
{
    struct one_item *one = (struct one_item *)source;

    assert(row->number == one->item->number);
    return item_system_members(memory, one->container, one->item);
}

struct query_source *item_source_of_one(struct op *op, const struct container *container,
                                        const struct record *item)
{
    struct one_item *one = arena_alloc(&op->arena, sizeof(*one));

    *one =
        (struct one_item){ .base = { one_next, one_seek, one_system }, .container = container, .item = item };
    return &one->base;
}
