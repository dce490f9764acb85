/* src/partition/history.c - the first change of each item above an LSN, and what it found. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/heap.h"
#include "base/limits.h"
#include "keys/keys.h"
#include "partition/history.h"

enum { BLOCK_ROWS = 4096, BLOCK_BYTES = 4 * 1024 * 1024 };

/* ---- moments ---- */

static bool read_digits(const char **at, int count, int *number)
{
    *number = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return true;
}

static bool read_sign(const char **at, char sign)
{
    return *(*at)++ == sign;
}

/* The part of a second; what is finer than milliseconds is cut off. */
static bool read_fraction(const char **at, int *ms)
{
    int digits = 0;

    *ms = 0;
    if (**at != '.')
        return true;
    for ((*at)++; **at >= '0' && **at <= '9'; (*at)++, digits++)
        if (digits < 3)
            *ms = *ms * 10 + (**at - '0');
    for (int i = digits; i < 3; i++)
        *ms *= 10;
    return digits > 0;
}

/* Z, or +02:00 */
static bool read_offset(const char **at, int *minutes)
{
    int hours, rest, sign = **at == '-' ? -1 : 1;

    *minutes = 0;
    if (**at == 'Z' || **at == 'z') {
        (*at)++;
        return true;
    }
    if (**at != '+' && **at != '-')
        return false;
    (*at)++;
    if (!read_digits(at, 2, &hours) || !read_sign(at, ':') || !read_digits(at, 2, &rest) || hours > 23 ||
        rest > 59)
        return false;
    *minutes = sign * (60 * hours + rest);
    return true;
}

/* RFC 3339, such as 2026-11-17T02:42:00.5Z */
static bool read_time(const char *text, int64_t *ts_ms)
{
    struct tm tm = { 0 };
    int ms, offset;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_sign(&text, '-') || !read_digits(&text, 2, &tm.tm_mon) ||
        !read_sign(&text, '-') || !read_digits(&text, 2, &tm.tm_mday) ||
        (*text != 'T' && *text != 't' && *text != ' '))
        return false;
    text++;
    if (!read_digits(&text, 2, &tm.tm_hour) || !read_sign(&text, ':') || !read_digits(&text, 2, &tm.tm_min) ||
        !read_sign(&text, ':') || !read_digits(&text, 2, &tm.tm_sec) || !read_fraction(&text, &ms) ||
        !read_offset(&text, &offset) || *text)
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_year < 1970)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    *ts_ms = ((int64_t)timegm(&tm) - 60 * (int64_t)offset) * 1000 + ms;
    return true;
}

enum status history_parse(struct op *op, struct slice text, struct moment *moment)
{
    text = slice_trim(text);
    *moment = (struct moment){ 0 };
    if (slice_to_u64(text, &moment->lsn))
        return ST_OK;
    moment->is_time = true;
    if (text.size < 64 && !memchr(text.data, '\0', text.size) &&
        read_time(arena_text(&op->arena, text), &moment->ts_ms))
        return ST_OK;
    return op_fail(
        op, ST_BAD_HEADER,
        "Value '%.*s' specified for the header 'x-orrery-as-of' is invalid: it is an LSN, or a time such as "
        "2026-11-17T02:42:00Z.",
        text.size > 100 ? 100 : (int)text.size, text.data);
}

/* ---- where it lies in the log ---- */

/* The last change at or below that LSN; its LSN is 0 when there is none. */
static enum status change_before(struct op *op, const struct history *history, uint64_t lsn,
                                 struct change *change)
{
    uint64_t bucket = history->container->bucket_id;
    struct range range = { key_kind_first(&op->arena, bucket, KEY_LOG),
                           key_log(&op->arena, bucket, lsn + 1, 0), true };
    struct rows rows;
    enum status st;

    *change = (struct change){ 0 };
    TRY(view_scan(op, history->view, range, (struct scan_limit){ 1, BLOCK_BYTES }, &rows));
    if (rows.count)
        TRY(change_decode(op, rows.row[0].value, change));
out:
    return st;
}

/* Times never fall while LSNs rise: the last LSN whose change is not after that time. */
static enum status lsn_at(struct op *op, const struct history *history, int64_t ts_ms, uint64_t head_lsn,
                          uint64_t *lsn)
{
    uint64_t low = 0, high = head_lsn; /* changes up to `low` are not after it, those above `high` are */
    enum status st = ST_OK;

    while (low < high) {
        struct arena_mark mark = arena_mark(&op->arena);
        uint64_t middle = low + (high - low + 1) / 2;
        struct change change;

        TRY(change_before(op, history, middle, &change));
        arena_rewind(&op->arena, mark);
        if (change.lsn <= low) /* nothing between: what is up to `middle` is as what is up to `low` */
            low = middle;
        else if (change.ts_ms <= ts_ms)
            low = middle;
        else
            high = change.lsn - 1;
    }
    *lsn = low;
out:
    return st;
}

static enum status find_moment(struct op *op, const struct moment *moment, struct history *history)
{
    struct slice key = key_trimmed(&op->arena, history->container->bucket_id), value;
    struct trimmed trimmed;
    struct change last;
    struct head head;
    enum status st;

    TRY(store_snapshot_head(op, history->view->snapshot, &head));
    TRY(view_get(op, history->view, key, &value));
    TRY(trimmed_decode(op, value, &trimmed));
    history->lsn = moment->lsn;
    history->ts_ms = moment->ts_ms;
    if (moment->is_time && moment->ts_ms > op->now_ms)
        TRY(op_fail(op, ST_BAD_HEADER, "The time that x-orrery-as-of names has not come yet."));
    if (moment->is_time)
        TRY(lsn_at(op, history, moment->ts_ms, head.lsn, &history->lsn));
    if (history->lsn > head.lsn)
        TRY(op_fail(op, ST_BAD_HEADER, "The container has no LSN %llu yet: its last one is %llu.",
                    (unsigned long long)history->lsn, (unsigned long long)head.lsn));
    if (history->lsn < trimmed.lsn || (moment->is_time && moment->ts_ms < trimmed.ts_ms))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The log does not reach back so far: it keeps what was changed after LSN %llu "
                    "(--change-retention-hours, or the container's changeFeedPolicy).",
                    (unsigned long long)trimmed.lsn));
    if (moment->is_time)
        goto out;
    TRY(change_before(op, history, history->lsn, &last));
    history->ts_ms = last.ts_ms;
out:
    return st;
}

/* ---- the first change of each item ---- */

/* Grows as it is filled; the numbers that are there already are in a table. */
struct noted {
    struct history_change *list;
    size_t count, capacity;
    uint64_t *slot; /* numbers; 0: free */
    size_t slots;   /* a power of two, more than twice `count` */
};

static uint64_t *slot_of(const struct noted *noted, uint64_t number)
{
    size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (noted->slots - 1);

    while (noted->slot[at] && noted->slot[at] != number)
        at = (at + 1) & (noted->slots - 1);
    return &noted->slot[at];
}

static enum status grow(struct op *op, struct noted *noted)
{
    struct noted larger = { .capacity = noted->capacity ? 2 * noted->capacity : 256, .count = noted->count };

    larger.slots = 4 * larger.capacity;
    larger.list = arena_try_alloc(&op->arena, larger.capacity * sizeof(*larger.list));
    larger.slot = arena_try_alloc(&op->arena, larger.slots * sizeof(*larger.slot));
    if (!larger.list || !larger.slot)
        return op_fail(op, ST_QUERY_MEMORY,
                       "Too many items were changed since the moment that x-orrery-as-of names.");
    memset(larger.slot, 0, larger.slots * sizeof(*larger.slot));
    for (size_t i = 0; i < noted->count; i++) {
        larger.list[i] = noted->list[i];
        *slot_of(&larger, noted->list[i].number) = noted->list[i].number;
    }
    *noted = larger;
    return ST_OK;
}

static enum status note(struct op *op, struct noted *noted, const struct change *change,
                        struct log_place place)
{
    enum status st = ST_OK;
    uint64_t *slot;

    if (noted->count == noted->capacity)
        TRY(grow(op, noted));
    slot = slot_of(noted, change->number);
    if (*slot)
        goto out; /* an earlier change was the first */
    *slot = change->number;
    noted->list[noted->count++] =
        (struct history_change){ change->number, place, change->kind == CHANGE_CREATE };
out:
    return st;
}

static enum status note_rows(struct op *op, struct noted *noted, const struct number_span *span,
                             const struct rows *rows, struct log_place *from)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < rows->count; i++) {
        struct log_place place;
        struct change change;
        struct key_parts key;

        TRY(change_decode(op, rows->row[i].value, &change));
        if (!key_parse(rows->row[i].key, &key) || !key_parse_log(&key, &place.lsn, &place.position))
            TRY(op_fail(op, ST_CORRUPT, "the log has a malformed key"));
        if (change.kind != CHANGE_REINDEX && change.number >= span->from && change.number < span->to)
            TRY(note(op, noted, &change, place));
        *from = (struct log_place){ place.lsn, place.position + 1 };
    }
out:
    return st;
}

/* A block's rows lie in memory of their own: what is noted outlives them. */
static enum status read_block(struct op *op, const struct history *history, struct noted *noted,
                              struct arena *block, const struct number_span *span, struct log_place *from,
                              bool *more)
{
    uint64_t bucket = history->container->bucket_id;
    struct arena ours = op->arena;
    struct rows rows = { 0 };
    enum status st;

    arena_reset(block);
    op->arena = *block;
    st = view_scan(op, history->view,
                   (struct range){ key_log(&op->arena, bucket, from->lsn, from->position),
                                   key_kind_end(&op->arena, bucket, KEY_LOG), false },
                   (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows);
    *block = op->arena;
    op->arena = ours;
    if (st != ST_OK) {
        op->error = op->error ? arena_text(&op->arena, slice_of(op->error)) : NULL;
        return st;
    }
    *more = rows.more;
    return note_rows(op, noted, span, &rows, from);
}

static int by_number(const void *a, const void *b)
{
    const struct history_change *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

enum status history_open(struct op *op, const struct container *container, const struct view *view,
                         const struct moment *moment, const struct number_span *span, struct history *history)
{
    struct noted noted = { 0 };
    struct log_place from;
    struct arena block;
    bool more = true;
    enum status st;

    *history = (struct history){ .container = container, .view = view };
    op_arena(op, &block, OP_MEMORY_BYTES_MAX);
    TRY(find_moment(op, moment, history));
    from = (struct log_place){ history->lsn + 1, 0 };
    while (more) {
        TRY(op_check(op));
        TRY(read_block(op, history, &noted, &block, span, &from, &more));
    }
    if (noted.count)
        qsort(noted.list, noted.count, sizeof(*noted.list), by_number);
    history->change = noted.list;
    history->count = noted.count;
out:
    arena_free(&block);
    return st;
}

size_t history_at(const struct history *history, uint64_t number)
{
    size_t low = 0, high = history->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (history->change[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum status history_item(struct op *op, const struct history *history, size_t index, struct record *item)
{
    const struct history_change *noted = &history->change[index];
    struct slice value;
    struct change change;
    enum status st;

    assert(index < history->count);
    assert(!noted->is_create);
    TRY(view_get(op, history->view,
                 key_log(&op->arena, history->container->bucket_id, noted->place.lsn, noted->place.position),
                 &value));
    if (!value.data)
        TRY(op_fail(op, ST_CORRUPT, "the log has lost a change"));
    TRY(change_decode(op, value, &change));
    TRY(record_decode(op, change.old_record, item));
out:
    return st;
}
