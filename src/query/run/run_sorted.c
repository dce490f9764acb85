/*
 * src/query/run/run_sorted.c - ORDER BY without an index: of all rows behind the last page's, the least.
 * No more are kept than a page can hold: past twice that, they are sorted and the rest let go, and the
 * greatest one left is a bound for all that follow. Without sort keys the order is that of creation.
 */
#include <stdlib.h>

#include "query/run/run_private.h"

enum { SPARE_ROWS = 64, KEPT_ROWS_MAX = 100000, KEPT_BYTES_MAX = 8 * 1024 * 1024 };

struct entry {
    const struct select *select;
    uint64_t tie; /* the item's number; without keys, its counter */
    uint32_t index;
    struct hash128 hash; /* under DISTINCT */
    struct slice row;
    size_t bytes; /* of all of it, keys included */
    struct value key[];
};

struct sorted {
    struct run *run;
    struct arena memory[2]; /* what is kept is copied from one to the other, and the first is reset */
    int active;
    struct entry **list;
    size_t count, capacity, bytes;
    size_t rows_max, bytes_max;
    struct entry *bound; /* nothing at or behind it is wanted */
    struct entry *next;  /* the row in the slots */
    struct hashes given; /* under DISTINCT: the rows of earlier pages */
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

static int compare_keys(const struct entry *a, const struct entry *b)
{
    int order = 0;

    for (size_t i = 0; order == 0 && i < a->select->order_count; i++)
        order = sign_of(a->select, i) * value_compare(a->key[i], b->key[i]);
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

/* Whether the row was on an earlier page. */
static bool is_before_page(const struct run *run, const struct entry *entry)
{
    const struct position *at = &run->at;
    int order = 0;

    if (run->first)
        return false;
    for (size_t i = 0; order == 0 && i < at->key_count; i++)
        order = sign_of(run->select, i) * position_compare_key(at, i, entry->key[i]);
    if (order == 0 && is_cut(at))
        return false;
    if (order == 0)
        order = sign_of(run->select, 0) * compare_u64(entry->tie, at->number);
    return order ? order < 0 : entry->index <= at->index;
}

/* Under DISTINCT a row counts where it comes first. */
static bool is_repeated(struct sorted *sorted, struct hashes *seen, const struct entry *entry)
{
    int added = sorted->run->select->distinct ? hashes_add(seen, entry->hash) : 1;

    if (added < 0)
        eval_fail(&sorted->run->eval, ST_QUERY_MEMORY);
    return added <= 0;
}

/* Sorted, each distinct row once, no more than a page holds. */
static void cut(struct sorted *sorted)
{
    struct arena_mark mark = arena_mark(&sorted->run->eval.op->arena);
    struct hashes seen = { .memory = &sorted->run->eval.op->arena };
    size_t kept = 0, bytes = 0, given = 0, i;

    if (sorted->count > 1)
        qsort(sorted->list, sorted->count, sizeof(*sorted->list), by_entry);
    for (i = 0; i < sorted->count; i++) {
        struct entry *entry = sorted->list[i];

        if (is_repeated(sorted, &seen, entry))
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
    arena_rewind(&sorted->run->eval.op->arena, mark);
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

static bool compact(struct sorted *sorted)
{
    struct arena *to = &sorted->memory[!sorted->active];

    cut(sorted);
    for (size_t i = 0; i < sorted->count; i++) {
        sorted->list[i] = copy_entry(to, sorted->list[i]);
        if (!sorted->list[i])
            return false;
    }
    if (sorted->bound) { /* which need not be in the list: it may be a row that came again, earlier */
        sorted->bound = copy_entry(to, sorted->bound);
        if (!sorted->bound)
            return false;
    }
    arena_reset(&sorted->memory[sorted->active]);
    sorted->active = !sorted->active;
    return true;
}

static bool grow(struct sorted *sorted)
{
    size_t capacity = sorted->capacity ? 2 * sorted->capacity : 256;
    struct entry **list = run_alloc(sorted->run, capacity * sizeof(*list));

    if (!list)
        return false;
    if (sorted->count)
        memcpy(list, sorted->list, sorted->count * sizeof(*list));
    sorted->list = list;
    sorted->capacity = capacity;
    return true;
}

static bool is_behind_bound(const struct sorted *sorted, const struct entry *entry)
{
    return sorted->bound && compare_entries(entry, sorted->bound) >= 0;
}

static bool add(struct sorted *sorted, const struct entry *entry)
{
    struct entry *copy;

    if (sorted->count >= 2 * sorted->rows_max + SPARE_ROWS || sorted->bytes > 2 * KEPT_BYTES_MAX)
        if (!compact(sorted))
            return false;
    if (is_behind_bound(sorted, entry)) /* which has only now come so near */
        return true;
    if (sorted->count == sorted->capacity && !grow(sorted))
        return false;
    copy = copy_entry(&sorted->memory[sorted->active], entry);
    if (!copy)
        return false;
    sorted->list[sorted->count++] = copy;
    sorted->bytes += copy->bytes;
    return true;
}

static struct entry *new_entry(struct run *run)
{
    size_t bytes = sizeof(struct entry) + run->select->order_count * sizeof(struct value);
    struct entry *entry = arena_alloc(&run->page->memory, bytes);

    memset(entry, 0, bytes);
    return entry;
}

/* The row in the slots, but for its text. */
static void read_entry(struct run *run, struct entry *entry)
{
    const struct select *select = run->select;

    entry->select = select;
    entry->tie = select->order_count ? run->item.number : run->item.counter;
    entry->index = run->index;
    for (size_t i = 0; i < select->order_count; i++)
        entry->key[i] = eval_plain(&run->eval, eval_expr(&run->eval, select->order[i].expr));
    if (select->distinct)
        entry->hash = value_hash(run->eval.op, eval_plain(&run->eval, rows_project(&run->eval, select)));
}

static bool take_row(struct eval *eval, void *context)
{
    struct sorted *sorted = context;
    struct run *run = sorted->run;
    struct entry *entry = sorted->next;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    run->index++;
    read_entry(run, entry);
    if (is_before_page(run, entry)) {
        is_repeated(sorted, &sorted->given, entry);
        goto out;
    }
    if (is_behind_bound(sorted, entry))
        goto out;
    if (!run_print(run))
        goto out;
    entry->row = slice_make(run->text.data, run->text.size);
    if (!add(sorted, entry))
        eval_fail(eval, ST_QUERY_MEMORY);
out:
    arena_rewind(&eval->op->arena, mark);
    return eval->status == ST_OK;
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

/* The position's item, if it is still there and has the same keys, tells those that were cut. */
static bool recall_row(struct eval *eval, void *context)
{
    struct sorted *sorted = context;
    struct run *run = sorted->run;
    struct position *at = &run->at;

    if (run->item.number != at->number || ++run->index < at->index)
        return run->item.number == at->number;
    read_entry(run, sorted->next);
    if (hash_compare(hash_keys(eval->op, sorted->next), at->hash) != 0)
        return false;
    for (size_t i = 0; i < at->key_count; i++)
        if (at->cut[i]) {
            at->key[i].string = run_copy(run, sorted->next->key[i].string);
            at->cut[i] = false;
        }
    return false;
}

static void recall_keys(struct sorted *sorted)
{
    struct run *run = sorted->run;
    enum status st;

    if (!run->at.any_cut)
        return;
    st = run->source->seek(run->eval.op, run->source, run->at.number - 1);
    if (st == ST_OK)
        run_items(run, 1, recall_row, sorted);
    if (st == ST_OK && run->eval.status == ST_OK)
        st = run->source->seek(run->eval.op, run->source, 0);
    if (st != ST_OK)
        eval_fail(&run->eval, st);
}

static void go_on_after(struct run *run, const struct entry *last)
{
    struct position next = { .order = run->select->order_count ? ORDER_SORTED : ORDER_CREATION,
                             .number = last->tie,
                             .index = last->index,
                             .hash = hash_keys(run->eval.op, last),
                             .key_count = run->select->order_count };

    memcpy(next.key, last->key, next.key_count * sizeof(struct value));
    run_goes_on(run, &next);
}

void run_goes_on_sorted(struct run *run)
{
    struct entry *last = new_entry(run);

    read_entry(run, last);
    go_on_after(run, last);
}

static void give_all(struct sorted *sorted)
{
    struct run *run = sorted->run;
    size_t i;

    cut(sorted);
    for (i = 0; i < sorted->count && run->at.take; i++) {
        const struct entry *entry = sorted->list[i];

        if (run->select->distinct && hashes_has(&sorted->given, entry->hash))
            continue;
        if (!run_skips(run) && !run_give(run, run_copy(run, entry->row)))
            break;
    }
    if (run->at.take && i && (i < sorted->count || sorted->bound))
        go_on_after(run, sorted->list[i - 1]);
    else if (run->at.take && sorted->count && i == 0) /* the page was full before */
        run->page->next = run->begun;
}

void run_sorted(struct run *run)
{
    struct sorted sorted = { .run = run, .bytes_max = run->limits->bytes };
    uint64_t wanted = run->at.take < run->limits->rows ? run->at.take : run->limits->rows;

    wanted = wanted + run->at.skip;
    sorted.rows_max = wanted < KEPT_ROWS_MAX ? (size_t)wanted : KEPT_ROWS_MAX;
    for (int i = 0; i < 2; i++)
        run_memory(run, &sorted.memory[i]);
    sorted.next = new_entry(run);
    sorted.given.memory = &run->page->memory;
    recall_keys(&sorted);
    if (run->eval.status == ST_OK)
        run_items(run, 0, take_row, &sorted);
    if (run->eval.status == ST_OK)
        give_all(&sorted);
    for (int i = 0; i < 2; i++)
        arena_free(&sorted.memory[i]);
}
