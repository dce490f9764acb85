/*
 * src/index/set.c - walking and counting entries: those of the snapshot, under those of the view's own writes.
 * The snapshot's come from the store (store/entries.h), in blocks of one term. A view without entries of its own passes
 * the blocks on as they are.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "index/set.h"
#include "keys/keys.h"
#include "store/entries.h"

/* Entries that the view's own batch adds or removes, as far as the walk is about them. */
struct own {
    const struct batch_index_entry *entry; /* in key order */
    size_t count;
    size_t at; /* so many are done, from the walk's end of the list */
};

struct index_cursor {
    struct index_walk walk;
    struct entries_cursor *entries; /* the snapshot's */
    struct entries_block base;      /* their latest block, of which `base_at` are done */
    size_t base_at;
    bool base_ended;
    struct own own;
    uint64_t *number; /* of a block that was put together */
    size_t number_count, number_capacity;
};

struct own_entry {
    struct slice term;
    uint64_t number;
    bool present;
};

/* ---- the view's own entries ---- */

static size_t first_at_or_after(const struct batch_index_entry *entry, size_t count, struct slice key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (slice_compare(entry[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those with terms in [from, to). */
static struct own own_in(struct op *op, const struct view *view, struct slice from, struct slice to)
{
    uint64_t bucket = bucket_id(view->bucket);
    struct own own = { 0 };
    size_t first, end;

    assert(view->snapshot); /* the view is open */
    if (!view->writes)
        return own;
    own.entry = batch_index_entries(view->writes, &own.count);
    if (own.count == 0)
        return own;
    first = first_at_or_after(own.entry, own.count, key_index_term(&op->arena, bucket, from));
    end = first_at_or_after(own.entry, own.count, key_index_term(&op->arena, bucket, to));
    return (struct own){ .entry = own.entry + first, .count = end > first ? end - first : 0 };
}

/* The next one; false when there is none. */
static bool own_peek(struct index_cursor *cursor, struct own_entry *next)
{
    struct own *own = &cursor->own;

    for (; own->at < own->count; own->at++) {
        const struct batch_index_entry *entry =
            &own->entry[cursor->walk.reverse ? own->count - 1 - own->at : own->at];
        struct key_parts parts;
        bool parsed = key_parse(entry->key, &parts) && key_parse_index(&parts, &next->term, &next->number);

        assert(parsed); /* it was made by this program */
        next->present = entry->present;
        if (next->number >= cursor->walk.first && next->number <= cursor->walk.last)
            return true;
    }
    return false;
}

/* ---- the snapshot's entries ---- */

static enum status open_base(struct op *op, const struct view *view, struct index_cursor *cursor)
{
    const struct index_walk *walk = &cursor->walk;
    struct entries_walk base = { walk->from, walk->to, walk->first, walk->last, walk->reverse };
    int64_t began_us = op_clock_us(op);
    enum status st = store_entries_open(op, view->snapshot, &base, &cursor->entries);

    op->spent.index_us += op_clock_us(op) - began_us;
    return st;
}

/* Makes sure that there is something left of a block, unless the snapshot has no more. */
static enum status fill_base(struct op *op, struct index_cursor *cursor)
{
    int64_t began_us;
    enum status st = ST_OK;

    if (cursor->base_ended || cursor->base_at < cursor->base.count)
        return ST_OK;
    assert(cursor->entries);
    began_us = op_clock_us(op);
    TRY(store_entries_next(op, cursor->entries, &cursor->base));
    cursor->base_at = 0;
    cursor->base_ended = cursor->base.count == 0;
    op->spent.index_us += op_clock_us(op) - began_us;
out:
    return st;
}

/* ---- the walk ---- */

enum status index_cursor_open(struct op *op, const struct view *view, const struct index_walk *walk,
                              struct index_cursor **cursor)
{
    struct index_cursor *made = heap_allocate(sizeof(*made));
    enum status st;

    made->walk = *walk;
    made->own = own_in(op, view, walk->from, walk->to);
    TRY(open_base(op, view, made));
    *cursor = made;
    made = NULL;
out:
    index_cursor_close(made);
    return st;
}

void index_cursor_close(struct index_cursor *cursor)
{
    if (!cursor)
        return;
    store_entries_end(cursor->entries);
    free(cursor->number);
    free(cursor);
}

/* Below 0 when the first comes first in the walk's order. */
static int term_order(const struct index_cursor *cursor, struct slice a, struct slice b)
{
    int order = slice_compare(a, b);

    return cursor->walk.reverse ? -order : order;
}

static int number_order(const struct index_cursor *cursor, uint64_t a, uint64_t b)
{
    int order = a < b ? -1 : a > b;

    return cursor->walk.reverse ? -order : order;
}

static void put_number(struct index_cursor *cursor, uint64_t number)
{
    heap_list_reserve(&cursor->number, &cursor->number_capacity, cursor->number_count + 1,
                      sizeof(*cursor->number));
    cursor->number[cursor->number_count++] = number;
}

static struct index_block rest_of_base(struct index_cursor *cursor)
{
    struct index_block block = { cursor->base.term, cursor->base.number + cursor->base_at,
                                 cursor->base.count - cursor->base_at };

    assert(cursor->base_at < cursor->base.count); /* fill_base() has seen to it */
    cursor->base_at = cursor->base.count;
    return block;
}

/* A term that the snapshot's walk does not have, or has no more: there is nothing to remove from it. */
static struct index_block own_term(struct index_cursor *cursor, struct slice term)
{
    struct own_entry next;

    while (own_peek(cursor, &next) && slice_equal(next.term, term)) {
        if (next.present)
            put_number(cursor, next.number);
        cursor->own.at++;
    }
    return (struct index_block){ term, cursor->number, cursor->number_count };
}

/* Below 0 when the batch has something to say before the number, 0 when it is about the number itself. */
static int own_order(struct index_cursor *cursor, struct slice term, uint64_t number, struct own_entry *next)
{
    if (!own_peek(cursor, next) || !slice_equal(next->term, term))
        return 1;
    return number_order(cursor, next->number, number);
}

/* The rest of the snapshot's block with what the batch does to it. The term may go on in the next block. */
static struct index_block merged(struct index_cursor *cursor)
{
    const struct entries_block *base = &cursor->base;

    assert(cursor->number_count == 0);
    while (cursor->base_at < base->count) {
        uint64_t number = base->number[cursor->base_at];
        struct own_entry next;
        int order = own_order(cursor, base->term, number, &next);

        if (order > 0)
            put_number(cursor, number);
        else if (next.present)
            put_number(cursor, next.number);
        cursor->base_at += order >= 0;
        cursor->own.at += order <= 0;
    }
    return (struct index_block){ base->term, cursor->number, cursor->number_count };
}

enum status index_cursor_next(struct op *op, struct index_cursor *cursor, struct index_block *block)
{
    struct own_entry next;
    enum status st = ST_OK;

    do {
        bool has_own;
        int order;

        cursor->number_count = 0;
        *block = (struct index_block){ 0 };
        TRY(fill_base(op, cursor));
        has_own = own_peek(cursor, &next);
        if (cursor->base_ended && !has_own)
            break;
        order = cursor->base_ended ? 1 : !has_own ? -1 : term_order(cursor, cursor->base.term, next.term);
        *block = order < 0 ? rest_of_base(cursor) : order > 0 ? own_term(cursor, next.term) : merged(cursor);
    } while (block->count == 0);
out:
    return st;
}

/* Below 0 when (term, number) comes before the target in the walk's order. */
static int entry_order(const struct index_cursor *cursor, struct slice term, uint64_t number,
                       struct slice target_term, uint64_t target_number)
{
    int order = term_order(cursor, term, target_term);

    return order ? order : number_order(cursor, number, target_number);
}

enum status index_cursor_seek(struct op *op, struct index_cursor *cursor, struct slice term, uint64_t number)
{
    const struct entries_block *base = &cursor->base;
    struct own_entry next;
    enum status st = ST_OK;

    while (cursor->base_at < base->count &&
           entry_order(cursor, base->term, base->number[cursor->base_at], term, number) < 0)
        cursor->base_at++;
    if (cursor->base_at == base->count && !cursor->base_ended)
        TRY(store_entries_seek(op, cursor->entries, term, number));
    while (own_peek(cursor, &next) && entry_order(cursor, next.term, next.number, term, number) < 0)
        cursor->own.at++;
out:
    return st;
}

/* ---- counting ---- */

static int64_t own_balance(struct op *op, const struct view *view, struct slice from, struct slice to)
{
    struct own own = own_in(op, view, from, to);
    int64_t balance = 0;

    for (size_t i = 0; i < own.count; i++)
        balance += own.entry[i].present ? 1 : -1;
    return balance;
}

/* A guess may be so far off that more are removed than it says there were. */
static uint64_t with_balance(uint64_t count, int64_t balance)
{
    return balance < 0 && (uint64_t)-balance > count ? 0 : count + (uint64_t)balance;
}

enum status index_count(struct op *op, const struct view *view, struct slice from, struct slice to,
                        uint64_t *count)
{
    enum status st;

    TRY(store_entries_count(op, view->snapshot, from, to, false, count));
    *count = with_balance(*count, own_balance(op, view, from, to));
out:
    return st;
}

enum status index_estimate(struct op *op, const struct view *view, struct slice from, struct slice to,
                           uint64_t *count)
{
    enum status st;

    TRY(store_entries_count(op, view->snapshot, from, to, true, count));
    *count = with_balance(*count, own_balance(op, view, from, to));
out:
    return st;
}

struct slice index_prefix_end(struct arena *arena, struct slice prefix)
{
    char *end = arena_alloc(arena, prefix.size + 1);
    size_t size = prefix.size;

    memcpy(end, prefix.data, size);
    while (size > 0 && (uint8_t)end[size - 1] == 0xff)
        size--;
    if (size > 0) {
        end[size - 1]++;
        return slice_make(end, size);
    }
    end[prefix.size] = (char)0xff; /* with which no value begins */
    return slice_make(end, prefix.size + 1);
}
