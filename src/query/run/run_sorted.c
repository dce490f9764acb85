/*
 * src/query/run/run_sorted.c - ORDER BY without an index: of all rows behind the last page's, the least.
 * No more are kept than a page can hold: past twice that, they are sorted and the rest let go, and the
 * greatest one left is a bound for all that follow. Without sort keys the order is that of creation.
 */
#include <stdlib.h>

#include "query/eval/builtin.h"
#include "query/run/run_private.h"

enum { SPARE_ROWS = 64, KEPT_ROWS_MAX = 100000, KEPT_BYTES_MAX = 8 * 1024 * 1024 };

struct entry {
    const struct select *select;
    uint64_t number; /* the item's */
    uint64_t tie;    /* fill_tie() of it; without keys, its counter */
    uint32_t index;
    struct hash128 hash; /* under DISTINCT */
    struct slice row;
    size_t bytes; /* of all of it, keys included */
    struct value key[];
};

struct sorted {
    struct fill *fill;
    struct arena memory[2]; /* what is kept is copied from one to the other, and the first is reset */
    int active;
    struct entry **list;
    size_t count, capacity, bytes;
    size_t rows_max, bytes_max;
    struct entry *bound; /* nothing at or behind it is wanted */
    struct entry *next;  /* the row in the slots */
    struct hashes given; /* under DISTINCT: the rows of earlier pages */
    struct lead *lead;   /* who is told of rows, and says which items are next; NULL: all are looked at */
};

static int sign_of(const struct select *select, size_t key)
{
    return key < select->order_count && select->order[key].descending ? -1 : 1;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ties(const struct entry *a, const struct entry *b)
{
    int order = sign_of(a->select, 0) * compare_u64(a->tie, b->tie);

    return order ? order : compare_u64(a->index, b->index);
}

/* By one key. What has no distance is behind all that have one, whichever way the nearest come first. */
static int turn(const struct select *select, size_t key, struct value a, struct value b, int order)
{
    const struct expr *expr = select->order[key].expr;
    bool a_lacks = a.kind == JSON_UNDEFINED, b_lacks = b.kind == JSON_UNDEFINED;

    if (a_lacks != b_lacks && expr->kind == EXPR_CALL && expr->builtin->flags & RANKS)
        return a_lacks ? 1 : -1;
    return sign_of(select, key) * order;
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
    int order = 0;

    for (size_t i = 0; order == 0 && i < a->select->order_count; i++)
        order = turn(a->select, i, a->key[i], b->key[i], value_compare(a->key[i], b->key[i]));
    return order;
}

static int compare_entries(const struct entry *a, const struct entry *b)
{
    int order = compare_keys(a, b);

    return order ? order : compare_ties(a, b);
}

static int by_entry(const void *a, const void *b)
{
    return compare_entries(*(struct entry *const *)a, *(struct entry *const *)b);
}

/*
 * A string of the position's is not whole, and its item is gone or has changed: rows that are alike as far
 * as it goes may come again, rather than be lost.
 */
static bool is_cut(const struct position *at)
{
    for (size_t i = 0; i < at->key_count; i++)
        if (at->cut[i])
            return true;
    return false;
}

static bool is_before(const struct fill *fill, const struct position *at, const struct entry *entry)
{
    uint64_t tie = entry->select->order_count ? fill_tie(fill, at->number) : at->number;
    int order = 0;

    for (size_t i = 0; order == 0 && i < at->key_count; i++)
        order = turn(entry->select, i, entry->key[i], at->key[i], position_compare_key(at, i, entry->key[i]));
    if (order == 0 && is_cut(at))
        return false;
    if (order == 0)
        order = sign_of(entry->select, 0) * compare_u64(entry->tie, tie);
    return order ? order < 0 : entry->index <= at->index;
}

/* Whether the row was on an earlier page. */
static bool is_before_page(const struct fill *fill, const struct entry *entry)
{
    return !fill->first && is_before(fill, &fill->at, entry);
}

/* Under DISTINCT a row counts where it comes first. */
static enum status find_repeated(struct sorted *sorted, struct hashes *seen, const struct entry *entry,
                                 bool *repeated)
{
    int added = entry->select->distinct ? hashes_add(seen, entry->hash) : 1;

    *repeated = added <= 0;
    return added < 0 ? cursor_fail(sorted->fill->cursor, ST_QUERY_MEMORY) : ST_OK;
}

/* Sorted, each distinct row once, no more than a page holds. */
static enum status cut(struct sorted *sorted)
{
    struct arena *memory = &sorted->fill->cursor->eval.op->arena;
    struct arena_mark mark = arena_mark(memory);
    struct hashes seen = { .memory = memory };
    size_t kept = 0, bytes = 0, given = 0, i;
    bool repeated;
    enum status st = ST_OK;

    if (sorted->count > 1)
        qsort(sorted->list, sorted->count, sizeof(*sorted->list), by_entry);
    for (i = 0; i < sorted->count; i++) {
        struct entry *entry = sorted->list[i];

        TRY(find_repeated(sorted, &seen, entry, &repeated));
        if (repeated)
            continue;
        if (kept && (kept >= sorted->rows_max || given + entry->row.size > sorted->bytes_max ||
                     bytes + entry->bytes > KEPT_BYTES_MAX))
            break;
        sorted->list[kept++] = entry;
        given += entry->row.size;
        bytes += entry->bytes;
    }
    if (i < sorted->count)
        sorted->bound = sorted->list[kept - 1];
    sorted->count = kept;
    sorted->bytes = bytes;
out:
    arena_rewind(memory, mark);
    return st;
}

static char *copy_bytes(struct arena *memory, struct slice bytes)
{
    char *copy = arena_try_alloc(memory, bytes.size + 1);

    if (copy)
        memcpy(copy, bytes.data, bytes.size);
    return copy;
}

/* Everything an entry points to, so that it outlives its row. */
static struct entry *copy_entry(struct arena *memory, const struct entry *entry)
{
    size_t keys = entry->select->order_count, before = memory->used_bytes;
    struct entry *copy = arena_try_alloc(memory, sizeof(*copy) + keys * sizeof(struct value));

    if (!copy)
        return NULL;
    memcpy(copy, entry, sizeof(*copy) + keys * sizeof(struct value));
    for (size_t i = 0; i < keys; i++) {
        struct value *key = &copy->key[i];

        if (key->kind == JSON_STRING)
            key->string.data = copy_bytes(memory, key->string);
        else if (key->kind >= JSON_ARRAY)
            key->json.at = (const uint8_t *)copy_bytes(memory, json_bytes(key->json));
        else
            continue;
        if (!key->string.data)
            return NULL;
    }
    copy->row.data = copy_bytes(memory, entry->row);
    copy->bytes = memory->used_bytes - before;
    return copy->row.data ? copy : NULL;
}

static enum status move_entry(struct sorted *sorted, struct entry **entry)
{
    *entry = copy_entry(&sorted->memory[!sorted->active], *entry);
    return *entry ? ST_OK : cursor_fail(sorted->fill->cursor, ST_QUERY_MEMORY);
}

static enum status compact(struct sorted *sorted)
{
    enum status st;

    TRY(cut(sorted));
    for (size_t i = 0; i < sorted->count; i++)
        TRY(move_entry(sorted, &sorted->list[i]));
    if (sorted->bound) /* which need not be in the list: it may be a row that came again, earlier */
        TRY(move_entry(sorted, &sorted->bound));
    arena_reset(&sorted->memory[sorted->active]);
    sorted->active = !sorted->active;
out:
    return st;
}

static enum status grow(struct sorted *sorted)
{
    size_t capacity = sorted->capacity ? 2 * sorted->capacity : 256;
    struct entry **list;
    enum status st;

    TRY(fill_alloc(sorted->fill, capacity * sizeof(*list), &list));
    if (sorted->count)
        memcpy(list, sorted->list, sorted->count * sizeof(*list));
    sorted->list = list;
    sorted->capacity = capacity;
out:
    return st;
}

static bool is_behind_bound(const struct sorted *sorted, const struct entry *entry)
{
    return sorted->bound && compare_entries(entry, sorted->bound) >= 0;
}

static enum status add(struct sorted *sorted, const struct entry *entry)
{
    struct entry *copy;
    enum status st = ST_OK;

    if (sorted->count >= 2 * sorted->rows_max + SPARE_ROWS || sorted->bytes > 2 * KEPT_BYTES_MAX)
        TRY(compact(sorted));
    if (is_behind_bound(sorted, entry)) /* which has only now come so near */
        goto out;
    if (sorted->count == sorted->capacity)
        TRY(grow(sorted));
    copy = copy_entry(&sorted->memory[sorted->active], entry);
    if (!copy) {
        st = cursor_fail(sorted->fill->cursor, ST_QUERY_MEMORY);
        goto out;
    }
    sorted->list[sorted->count++] = copy;
    sorted->bytes += copy->bytes;
out:
    return st;
}

static struct entry *new_entry(struct fill *fill)
{
    size_t bytes = sizeof(struct entry) + fill->cursor->select->order_count * sizeof(struct value);
    struct entry *entry = arena_alloc(&fill->page->memory, bytes);

    memset(entry, 0, bytes);
    return entry;
}

/* The row in the slots, but for its text. */
static void read_entry(const struct fill *fill, struct entry *entry)
{
    struct cursor *cursor = fill->cursor;
    const struct select *select = cursor->select;
    struct eval *eval = &cursor->eval;

    entry->select = select;
    entry->number = cursor->item.number;
    entry->tie = select->order_count ? fill_tie(fill, entry->number) : cursor->item.counter;
    entry->index = cursor->index;
    for (size_t i = 0; i < select->order_count; i++)
        entry->key[i] = eval_plain(eval, eval_expr(eval, select->order[i].expr));
    if (select->distinct)
        entry->hash = value_hash(eval->op, eval_plain(eval, rows_project(eval, select)));
}

/* Of a row that counts: one that is undefined is none. */
static enum status tell_lead(struct sorted *sorted, const struct entry *entry)
{
    bool defined = true;
    enum status st = ST_OK;

    if (entry->select->value)
        TRY(fill_print(sorted->fill, &defined));
    if (defined)
        sorted->lead->saw(sorted->lead, entry->key[0]);
out:
    return st;
}

static enum status take_entry(struct sorted *sorted, struct entry *entry)
{
    struct fill *fill = sorted->fill;
    bool repeated, defined;
    enum status st = ST_OK;

    if (fill->resume && is_before(fill, fill->resume, entry))
        return ST_OK;
    if (sorted->lead)
        TRY(tell_lead(sorted, entry));
    if (is_before_page(fill, entry)) {
        st = find_repeated(sorted, &sorted->given, entry, &repeated);
        goto out;
    }
    if (is_behind_bound(sorted, entry))
        goto out;
    TRY(fill_print(fill, &defined));
    if (!defined)
        goto out;
    entry->row = buf_as_slice(&fill->text);
    TRY(add(sorted, entry));
out:
    return st;
}

static bool take_row(struct eval *eval, void *context)
{
    struct sorted *sorted = context;
    struct cursor *cursor = sorted->fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    enum status st;

    cursor->index++;
    read_entry(sorted->fill, sorted->next);
    st = take_entry(sorted, sorted->next);
    arena_rewind(&eval->op->arena, mark);
    return cursor_goes_on(cursor, st);
}

/* Of whole keys, which a position need not hold. */
static struct hash128 hash_keys(struct op *op, const struct entry *entry)
{
    struct hash128 hash = { 0, 0 };

    for (size_t i = 0; i < entry->select->order_count; i++) {
        struct hash128 parts[2] = { hash, value_hash(op, entry->key[i]) };

        hash = murmur3_128(parts, sizeof(parts));
    }
    return hash;
}

/* The keys that were cut, from the row in the slots. */
static enum status recall_cut(struct sorted *sorted)
{
    struct position *at = &sorted->fill->at;
    enum status st = ST_OK;

    for (size_t i = 0; i < at->key_count; i++)
        if (at->cut[i] && sorted->next->key[i].kind == JSON_STRING) { /* clients can make positions up */
            TRY(fill_copy(sorted->fill, sorted->next->key[i].string, &at->key[i].string));
            at->cut[i] = false;
        }
out:
    return st;
}

/* The position's item, if it is still there and has the same keys, tells those that were cut. */
static bool recall_row(struct eval *eval, void *context)
{
    struct sorted *sorted = context;
    struct cursor *cursor = sorted->fill->cursor;
    struct position *at = &sorted->fill->at;

    if (cursor->item.number != at->number || ++cursor->index < at->index)
        return cursor->item.number == at->number;
    read_entry(sorted->fill, sorted->next);
    if (hash_compare(hash_keys(eval->op, sorted->next), at->hash) == 0)
        (void)cursor_goes_on(cursor, recall_cut(sorted));
    return false;
}

static enum status recall_keys(struct sorted *sorted)
{
    struct cursor *cursor = sorted->fill->cursor;
    bool ended;
    enum status st = ST_OK;

    if (!sorted->fill->at.any_cut)
        return ST_OK;
    TRY(cursor_seek(cursor, cursor_before(cursor, sorted->fill->at.number)));
    TRY(cursor_walk(cursor, 1, recall_row, sorted, &ended));
    TRY(cursor_seek(cursor, 0));
out:
    return st;
}

static void go_on_after(struct fill *fill, const struct entry *last)
{
    size_t keys = last->select->order_count;
    struct position next = { .order = keys ? ORDER_SORTED : ORDER_CREATION,
                             .number = keys ? last->number : last->tie,
                             .index = last->index,
                             .hash = hash_keys(fill->cursor->eval.op, last),
                             .key_count = keys };

    memcpy(next.key, last->key, next.key_count * sizeof(struct value));
    fill_goes_on(fill, &next);
}

enum status run_goes_on_sorted(struct fill *fill)
{
    struct entry *last = new_entry(fill);

    read_entry(fill, last);
    go_on_after(fill, last);
    return cursor_status(fill->cursor);
}

static enum status give_entry(struct fill *fill, const struct entry *entry, bool *given)
{
    struct slice row;
    enum status st = ST_OK;

    *given = true;
    if (fill_skips(fill))
        return ST_OK;
    TRY(fill_copy(fill, entry->row, &row));
    TRY(fill_give(fill, row, given));
out:
    return st;
}

/* Rows in the order of creation are rows as they come, from the second page on. */
static bool ends_full(const struct fill *fill)
{
    return fill->at.order == ORDER_CREATION && fill_ends_full(fill);
}

static enum status give_all(struct sorted *sorted)
{
    struct fill *fill = sorted->fill;
    bool given = true;
    enum status st;
    size_t i;

    TRY(cut(sorted));
    for (i = 0; i < sorted->count && fill->at.take; i++) {
        const struct entry *entry = sorted->list[i];

        if (entry->select->distinct && hashes_has(&sorted->given, entry->hash))
            continue;
        TRY(give_entry(fill, entry, &given));
        if (!given)
            break;
    }
    if (fill->at.take && i && (i < sorted->count || sorted->bound || ends_full(fill)))
        go_on_after(fill, sorted->list[i - 1]);
    else if (fill->at.take && sorted->count && i == 0) /* the page was full before */
        fill->page->next = fill->begun;
out:
    return st;
}

static void begin(struct sorted *sorted, struct fill *fill)
{
    uint64_t wanted = fill->at.take < fill->limits->rows ? fill->at.take : fill->limits->rows;

    *sorted = (struct sorted){ .fill = fill, .bytes_max = fill->limits->bytes };
    wanted = wanted + fill->at.skip;
    sorted->rows_max = wanted < KEPT_ROWS_MAX ? (size_t)wanted : KEPT_ROWS_MAX;
    for (int i = 0; i < 2; i++)
        cursor_memory(fill->cursor, &sorted->memory[i]);
    sorted->next = new_entry(fill);
    sorted->given.memory = &fill->page->memory;
}

static void end(struct sorted *sorted)
{
    for (int i = 0; i < 2; i++)
        arena_free(&sorted->memory[i]);
}

enum status run_sorted(struct fill *fill)
{
    struct sorted sorted;
    bool ended;
    enum status st;

    begin(&sorted, fill);
    TRY(recall_keys(&sorted));
    TRY(cursor_walk(fill->cursor, 0, take_row, &sorted, &ended));
    TRY(give_all(&sorted));
out:
    end(&sorted);
    return st;
}

enum status run_led(struct fill *fill, struct lead *lead, bool *unfinished)
{
    struct sorted sorted;
    const uint64_t *number;
    size_t count;
    bool ended;
    enum status st;

    begin(&sorted, fill);
    sorted.lead = lead;
    for (;;) {
        TRY(lead->next(lead, &number, &count));
        if (count == 0)
            break;
        TRY(cursor_pick(fill->cursor, number, count));
        TRY(cursor_walk(fill->cursor, 0, take_row, &sorted, &ended));
    }
    *unfinished = !lead->suffices(lead);
    if (!*unfinished)
        TRY(give_all(&sorted));
out:
    end(&sorted);
    return st;
}
