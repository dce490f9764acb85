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
    struct slice between_rids; /* of the text of what follows a body */
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

static void print_rid(struct buf *out, const struct container *container, const struct record *item)
{
    struct rid rid = container_item_rid(container, item->number);

    rid_print(out, &rid);
}

static void print_self(struct buf *out, const struct container *container, const struct record *item)
{
    buf_text(out, "dbs/");
    rid_print(out, &container->database->rid);
    buf_text(out, "/colls/");
    rid_print(out, &container->rid);
    buf_text(out, "/docs/");
    print_rid(out, container, item);
    buf_byte(out, '/');
}

static void print_etag(struct buf *out, const struct container *container, const struct record *item)
{
    (void)container;
    etag_print(out, item->etag, item->ts_ms);
}

static void print_attachments(struct buf *out, const struct container *container, const struct record *item)
{
    (void)container, (void)item;
    buf_text(out, "attachments/");
}

/* In the order in which clients see them. */
static const struct system_member {
    const char *name;
    void (*print)(struct buf *out, const struct container *container,
                  const struct record *item); /* NULL: _ts */
} members[] = {
    { "_rid", print_rid },   { "_self", print_self },
    { "_etag", print_etag }, { "_attachments", print_attachments },
    { "_ts", NULL },
};

enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

/* As text, in that order, and with what lies between two rids made beforehand. */
enum { SYSTEM_TEXT_MAX = 320 };

static void print_between(struct buf *out, const struct container *container)
{
    buf_text(out, "\",\"_self\":\"dbs/");
    rid_print(out, &container->database->rid);
    buf_text(out, "/colls/");
    rid_print(out, &container->rid);
    buf_text(out, "/docs/");
}

static void print_text(struct buf *out, struct slice between, const struct container *container,
                       const struct record *item)
{
    size_t rid_at, rid_size;

    if (!buf_reserve(out, SYSTEM_TEXT_MAX)) /* from here on it does not move */
        return;
    buf_text(out, "\"_rid\":\"");
    rid_at = out->size;
    print_rid(out, container, item);
    rid_size = out->size - rid_at;
    buf_slice(out, between);
    buf_append(out, out->data + rid_at, rid_size);
    buf_text(out, "/\",\"_etag\":\"\\");
    etag_print(out, item->etag, item->ts_ms);
    out->size--; /* its last quote, which wants its escape first */
    buf_text(out, "\\\"\",\"_attachments\":\"attachments/\",\"_ts\":");
    buf_u64(out, (uint64_t)(item->ts_ms / 1000));
    assert(out->size <= rid_at + SYSTEM_TEXT_MAX);
}

/* The text is whole before anything is built, so that neither moves the other. */
static void print_member(struct buf *text, struct arena *memory, const struct system_member *member,
                         const struct container *container, const struct record *item)
{
    buf_init(text, memory);
    if (member->print)
        member->print(text, container, item);
}

static void add_member(struct json_builder *out, const struct system_member *member, const struct buf *text,
                       const struct record *item)
{
    if (member->print)
        json_add_string(out, buf_as_slice(text));
    else
        json_add_int(out, item->ts_ms / 1000);
}

struct json item_system_members(struct arena *memory, const struct container *container,
                                const struct record *item)
{
    struct json_builder out;
    struct buf text[MEMBERS];

    for (size_t i = 0; i < MEMBERS; i++)
        print_member(&text[i], memory, &members[i], container, item);
    json_builder_init(&out, memory);
    json_begin_object(&out);
    for (size_t i = 0; i < MEMBERS; i++) {
        json_add_name(&out, slice_of(members[i].name));
        add_member(&out, &members[i], &text[i], item);
    }
    json_end(&out);
    return json_built(&out);
}

bool item_system_member(struct arena *memory, const struct container *container, const struct record *item,
                        struct slice name, struct json *value)
{
    struct json_builder out;
    struct buf text;
    size_t i = 0;

    *value = json_undefined;
    while (i < MEMBERS && !slice_is(name, members[i].name))
        i++;
    if (i == MEMBERS)
        return true;
    print_member(&text, memory, &members[i], container, item);
    json_builder_init(&out, memory);
    add_member(&out, &members[i], &text, item);
    *value = json_built(&out);
    return !text.failed && json_kind(*value) != JSON_UNDEFINED;
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

static bool scan_system_one(struct query_source *source, const struct query_row *row, struct slice name,
                            struct arena *memory, struct json *value)
{
    struct item_source *items = (struct item_source *)source;

    assert(row->number == items->record.number);
    return item_system_member(memory, items->scan.container, &items->record, name, value);
}

static void scan_print_system(struct query_source *source, const struct query_row *row, struct buf *out)
{
    struct item_source *items = (struct item_source *)source;

    assert(row->number == items->record.number);
    print_text(out, items->between_rids, items->scan.container, &items->record);
}

/* What the query learns of the container, once the scan is open. */
static enum status describe(struct op *op, struct item_source *items)
{
    struct buf between;

    buf_init(&between, &op->arena);
    print_between(&between, items->scan.container);
    items->between_rids = buf_as_slice(&between);
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

    *items = (struct item_source){ .base = { .next = scan_next,
                                             .seek = scan_seek,
                                             .system = scan_system,
                                             .system_one = scan_system_one,
                                             .print_system = scan_print_system,
                                             .pick = scan_pick } };
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
