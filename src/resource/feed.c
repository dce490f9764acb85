/* src/resource/feed.c - the change feed: where it begins, what a page has, what a change looks like. */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "partition/feed.h"
#include "reply/feed.h"
#include "resource/feed.h"
#include "resource/item.h"
#include "resource/places.h"
#include "resource/scope.h"
#include "resource/usage.h"

/* --- what is asked for --- */

static enum status read_mode(struct op *op, const struct call *call, enum feed_mode *mode)
{
    struct slice header = slice_trim(call_header(call, HEADER_A_IM));

    if (slice_is_nocase(header, "Incremental Feed"))
        *mode = FEED_LATEST;
    else if (slice_is_nocase(header, "Full-Fidelity Feed"))
        *mode = FEED_ALL;
    else
        return op_fail(op, ST_BAD_HEADER, "The A-IM header '%.*s' names no change feed mode.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    return ST_OK;
}

static struct slice without_quotes(struct slice text)
{
    if (text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
        return slice_make(text.data + 1, text.size - 2);
    return text;
}

/* LSN, or LSN.POSITION of a page that ended within a transaction. */
static bool read_etag(struct slice etag, struct log_place *place, bool *is_within)
{
    struct slice text = without_quotes(etag);
    const char *dot = text.size ? memchr(text.data, '.', text.size) : NULL;
    uint64_t position = 0;

    *is_within = dot != NULL;
    if (dot && (!slice_to_u64(slice_after(text, (size_t)(dot - text.data) + 1), &position) ||
                position >= UINT32_MAX))
        return false;
    if (dot)
        text.size = (size_t)(dot - text.data);
    place->position = (uint32_t)position;
    return slice_to_u64(text, &place->lsn) && !(dot && place->lsn == 0);
}

static enum status malformed(struct op *op, struct slice etag)
{
    return op_fail(op, ST_BAD_HEADER, "The change feed continuation '%.*s' is malformed.",
                   etag.size > 200 ? 200 : (int)etag.size, etag.data);
}

static enum status seek_etag(struct op *op, struct slice etag, struct partition_feed *feed)
{
    struct log_place place;
    bool is_within;

    if (!read_etag(etag, &place, &is_within))
        return malformed(op, etag);
    if (place.lsn > feed->head_lsn) /* nothing is behind it; its reader goes on with the next change */
        partition_feed_after(feed, feed->head_lsn);
    else if (is_within)
        partition_feed_behind(feed, place);
    else
        partition_feed_after(feed, place.lsn);
    return ST_OK;
}

static enum status seek_time(struct op *op, struct slice header, struct partition_feed *feed)
{
    int64_t ms;

    if (!http_date_parse(slice_trim(header), &ms))
        return op_fail(op, ST_BAD_HEADER, "The If-Modified-Since header '%.*s' is no date.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    return partition_feed_since(op, feed, ms + 999); /* the whole second: clients know no smaller times */
}

static struct slice etag_of(const struct call *call)
{
    return slice_trim(call_header(call, HEADER_IF_NONE_MATCH));
}

/* SDKs keep sending the time at which they began. So an etag comes before a time, and a time before "now". */
static enum status seek(struct op *op, const struct call *call, struct slice etag,
                        struct partition_feed *feed)
{
    struct slice since = call_header(call, HEADER_IF_MODIFIED_SINCE);

    if (etag.size && !slice_is(etag, "*"))
        return seek_etag(op, etag, feed);
    if (since.data)
        return seek_time(op, since, feed);
    partition_feed_after(feed, etag.size ? feed->head_lsn : 0);
    return ST_OK;
}

static bool starts_at_etag_or_now(const struct call *call)
{
    struct slice etag = etag_of(call);

    return etag.size && !(slice_is(etag, "*") && call_header(call, HEADER_IF_MODIFIED_SINCE).data);
}

/* Readers of all versions begin at "now" or at an etag, and read only as far back as old versions are kept. */
static enum status check_all_versions(struct op *op, const struct call *call,
                                      const struct partition_feed *feed)
{
    assert(feed->mode == FEED_ALL);
    if (call->container->retention_minutes == RETENTION_NONE)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The container's change feed policy keeps nothing for the all versions and deletes mode.");
    if (!starts_at_etag_or_now(call))
        return op_fail(op, ST_BAD_REQUEST, "You must read the change feed from within the retention period.");
    if (feed->lsn < feed->trimmed_lsn)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The change feed continuation is older than what the container's change feed policy keeps.");
    return ST_OK;
}

/* A reader may end at an LSN, such as that of a moment that it has noted. */
static enum status read_until(struct op *op, const struct call *call, const struct container *part,
                              uint64_t *lsn)
{
    struct slice until = slice_trim(call_header(call, HEADER_UNTIL));

    *lsn = UINT64_MAX;
    if (!until.data || slice_to_u64(places_of(without_quotes(until), part), lsn))
        return ST_OK;
    return op_fail(
        op, ST_BAD_HEADER,
        "Value '%.*s' specified for the header 'x-orrery-until' is invalid: it is an LSN, or one for "
        "each bucket.",
        until.size > 200 ? 200 : (int)until.size, until.data);
}

/* --- what is answered --- */

static void print_path(struct buf *body, const struct key_path *path)
{
    struct buf name;

    buf_init(&name, body->arena);
    for (size_t i = 0; i < path->count; i++) {
        buf_text(&name, i ? "/" : "");
        buf_slice(&name, path->segment[i]);
    }
    json_print_string(body, buf_as_slice(&name));
}

/* A level that the item does not have is left out. */
static void print_key(struct buf *body, const struct container *container, const struct record *item)
{
    struct partition_key key;
    bool any = false;

    partition_key_extract(container, item->document, &key);
    buf_text(body, ",\"partitionKey\":{");
    for (size_t i = 0; i < key.count && i < container->key_path_count; i++) {
        if (json_kind(key.component[i]) == JSON_UNDEFINED)
            continue;
        buf_text(body, any ? "," : "");
        print_path(body, &container->key_path[i]);
        buf_byte(body, ':');
        json_print(body, key.component[i]);
        any = true;
    }
    buf_byte(body, '}');
}

static const char *operation_of(const struct change *change)
{
    return change->kind == CHANGE_CREATE ? "create" : change->kind == CHANGE_REPLACE ? "replace" : "delete";
}

static void print_metadata(struct buf *body, const struct container *container,
                           const struct feed_entry *entry)
{
    const struct change *change = &entry->change;

    buf_printf(body,
               "\"metadata\":{\"operationType\":\"%s\",\"lsn\":%llu,\"crts\":%lld,\"previousImageLSN\":%llu",
               operation_of(change), (unsigned long long)change->lsn, (long long)(change->ts_ms / 1000),
               (unsigned long long)change->previous_lsn);
    if (change->kind == CHANGE_DELETE) {
        buf_printf(body, ",\"timeToLiveExpired\":%s,\"id\":", change->expired ? "true" : "false");
        json_print(body, json_get(entry->previous.document, "id"));
        print_key(body, container, &entry->previous);
    }
    buf_byte(body, '}');
}

/* The service tells what an item was only when it was deleted; x-orrery-previous asks for it with every change. */
static void print_change_of(struct buf *body, const struct container *container,
                            const struct feed_entry *entry, bool has_previous)
{
    buf_text(body, "{\"current\":");
    if (entry->change.kind == CHANGE_DELETE)
        buf_text(body, "{}");
    else
        item_print(body, container, &entry->item);
    if (has_previous) {
        buf_text(body, ",\"previous\":");
        item_print(body, container, &entry->previous);
    }
    buf_byte(body, ',');
    print_metadata(body, container, entry);
    buf_byte(body, '}');
}

static void print_change(struct buf *body, const struct container *container, const struct feed_entry *entry)
{
    print_change_of(body, container, entry, entry->change.kind == CHANGE_DELETE);
}

static void print_change_with_previous(struct buf *body, const struct container *container,
                                       const struct feed_entry *entry)
{
    print_change_of(body, container, entry, entry->change.kind != CHANGE_CREATE);
}

/* What a page prints of a change. */
typedef void print_entry(struct buf *body, const struct container *container, const struct feed_entry *entry);

static void print_item(struct buf *body, const struct container *container, const struct feed_entry *entry)
{
    item_print_with_lsn(body, container, &entry->item);
}

/* A reader of latest versions is not told the operation: several may have led to this version. */
static void print_latest(struct buf *body, const struct container *container, const struct feed_entry *entry)
{
    buf_text(body, "{\"current\":");
    item_print_with_lsn(body, container, &entry->item);
    buf_printf(body, ",\"metadata\":{\"lsn\":%llu,\"crts\":%lld}}", (unsigned long long)entry->change.lsn,
               (long long)(entry->change.ts_ms / 1000));
}

/* Java's processor and the SDK for Rust want metadata apart from the item for latest versions, too. */
static print_entry *printer_of(const struct call *call, enum feed_mode mode)
{
    if (mode == FEED_ALL)
        return slice_is(slice_trim(call_header(call, HEADER_PREVIOUS)), "true") ? print_change_with_previous
                                                                                : print_change;
    return slice_is(slice_trim(call_header(call, HEADER_CHANGE_FEED_FORMAT)), "2021-09-15") ? print_latest
                                                                                            : print_item;
}

struct page {
    struct feed feed;
    size_t limit;          /* of changes */
    uint64_t until;        /* the last LSN that is wanted */
    struct log_place last; /* that the page has */
    size_t began_bytes;    /* how much was printed before the last change's transaction */
    bool ends_within;      /* the transaction */
};

/* A page that is full ends before the next transaction. It ends within one only if that is larger than any of the service. */
static bool ends_before(struct page *page, const struct feed_entry *entry)
{
    size_t bytes = reply_body(page->feed.reply)->size;

    if (entry->place.lsn != page->last.lsn)
        return page->feed.count >= page->limit || bytes >= PAGE_BYTES_MAX;
    page->ends_within = bytes - page->began_bytes >= FEED_TRANSACTION_BYTES_MAX;
    return page->ends_within;
}

static enum status fill(struct op *op, const struct call *call, struct partition_feed *changes,
                        struct page *page)
{
    print_entry *print = printer_of(call, changes->mode);
    struct buf *body = reply_body(page->feed.reply);
    struct feed_entry entry;
    bool found;
    enum status st;

    for (;;) {
        TRY(partition_feed_next(op, changes, &entry, &found));
        if (!found || entry.place.lsn > page->until || ends_before(page, &entry))
            break;
        assert(entry.place.lsn >= page->last.lsn); /* changes come in the order of their commits */
        if (entry.place.lsn != page->last.lsn)
            page->began_bytes = body->size;
        page->last = entry.place;
        feed_next(&page->feed);
        print(body, call->container, &entry);
        if (body->failed)
            TRY(op_fail_as(op, ST_TOO_LARGE));
    }
out:
    return st;
}

static void print_place(struct buf *etag, const struct page *page, uint64_t lsn)
{
    if (page->ends_within)
        buf_printf(etag, "%llu.%u", (unsigned long long)page->last.lsn, page->last.position);
    else
        buf_u64(etag, lsn < page->until ? lsn : page->until);
}

/*
 * 304 tells SDKs that there is nothing more: they wait, or end. A page may also be empty because the reader's next
 * change is far away. Then the answer is 200, so that they go on. `place` is where the reader goes on.
 */
static enum status conclude(struct op *op, const struct call *call, struct reply *reply, struct page *page,
                            struct slice place, bool paused)
{
    struct buf etag;

    buf_init(&etag, &op->arena);
    buf_byte(&etag, '"');
    buf_slice(&etag, place);
    buf_byte(&etag, '"');
    reply_header(reply, "etag", buf_as_slice(&etag));
    usage_of_items(reply, call);
    if (page->feed.count == 0 && !paused) {
        reply_header_u64(reply, "x-ms-item-count", 0); /* .NET reads it from every answer of a feed */
        return op_fail(op, ST_NOT_MODIFIED, "There are no changes.");
    }
    feed_end(&page->feed);
    return ST_OK;
}

/* What is asked for, and the page that answers it. */
struct reading {
    struct partition_scope scope;
    enum feed_mode mode;
    struct page page;
};

/* ---- of one part of the container: the log of a bucket ---- */

/* `changes` are open, and go to where the reader is. */
static enum status begin_part(struct op *op, const struct call *call, const struct container *part,
                              struct slice etag, struct reading *reading, struct partition_feed *changes)
{
    uint64_t *until = &reading->page.until;
    enum status st;

    partition_feed_expect(changes, reading->page.limit + 1);
    TRY(seek(op, call, etag, changes));
    if (reading->mode == FEED_ALL)
        TRY(check_all_versions(op, call, changes));
    TRY(read_until(op, call, part, until));
    if (*until < changes->lsn) /* nobody is sent back */
        *until = changes->lsn;
out:
    return st;
}

static enum status read_part(struct op *op, struct call *call, struct reply *reply,
                             const struct container *part, struct reading *reading)
{
    struct partition_feed changes = { 0 };
    struct buf place;
    enum status st;

    buf_init(&place, &op->arena);
    TRY(partition_feed_open(op, part, &reading->scope, reading->mode, &changes));
    TRY(begin_part(op, call, part, etag_of(call), reading, &changes));
    TRY(fill(op, call, &changes, &reading->page));
    print_place(&place, &reading->page, changes.lsn);
    reply_session(reply, changes.head_lsn);
    TRY(conclude(op, call, reply, &reading->page, buf_as_slice(&place), changes.paused));
out:
    partition_feed_close(&changes);
    return st;
}

/* ---- of several parts: each page is of one, and the etag has a place in each ---- */

static enum status read_next_part(struct op *op, struct call *call, const struct container *part,
                                  struct partition_feed *changes, struct slice place, struct reading *reading,
                                  struct buf *next, bool *done)
{
    enum status st;

    TRY(begin_part(op, call, part, place, reading, changes));
    if (next->size)
        buf_byte(next, ',');
    if (*done && place.size && !slice_is(place, "*")) {
        buf_slice(next, place);
    } else if (*done) {
        buf_u64(next, changes->lsn);
    } else {
        TRY(fill(op, call, changes, &reading->page));
        print_place(next, &reading->page, changes->lsn);
        *done = reading->page.feed.count > 0 || changes->paused;
    }
out:
    return st;
}

/* All parts as of one moment: the etag of who begins with what is new is that moment. */
static enum status read_parts(struct op *op, struct call *call, struct reply *reply, struct reading *reading)
{
    const struct container *container = call->container;
    uint32_t count = container->part_count;
    struct partition_feed *changes = arena_alloc(&op->arena, count * sizeof(*changes));
    struct slice places = without_quotes(etag_of(call));
    struct buf next;
    bool done = false;
    enum status st = ST_OK;

    buf_init(&next, &op->arena);
    memset(changes, 0, count * sizeof(*changes));
    if (places.size && !slice_is(places, "*") && !places_fit(places, container))
        TRY(malformed(op, places));
    reply_session(reply, scope_lsn(call, reply));
    TRY(partition_feed_open_together(op, container, &reading->scope, reading->mode, changes));
    for (uint32_t i = 0; i < count; i++)
        TRY(read_next_part(op, call, container->part[i], &changes[i], places_at(places, i), reading, &next,
                           &done));
    TRY(conclude(op, call, reply, &reading->page, buf_as_slice(&next), done));
out:
    for (uint32_t i = 0; i < count; i++)
        partition_feed_close(&changes[i]);
    return st;
}

enum status feed_read(struct op *op, struct call *call, struct reply *reply)
{
    const struct container *part;
    struct reading reading = { 0 };
    enum status st;

    scope_all(reply, call);
    TRY(read_mode(op, call, &reading.mode));
    TRY(call_page_size(op, call, &reading.page.limit));
    TRY(scope_read(op, call, reply, &reading.scope));
    TRY(scope_check_session(op, call, reply));
    part = partition_scope_part(call->container, &reading.scope);
    feed_begin(&reading.page.feed, reply, &call->container->rid, "Documents");
    st = part ? read_part(op, call, reply, part, &reading) : read_parts(op, call, reply, &reading);
out:
    return st;
}
