/*
 * src/store/memory_runs.c - runs in memory: each is an array of rows that never changes, counted by those who hold it.
 * The space has a list of them in the order of their keys, which do not overlap. A mark holds such a list too, so going
 * back to one is to have its list again.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "store/backend.h"
#include "store/memory_runs.h"

struct run_line {
    size_t key_bytes, value_bytes;
    char bytes[]; /* the key's, the value's */
};

struct memory_run {
    atomic_size_t holders; /* lists, and cursors that stand in it */
    uint64_t bytes;
    size_t count;
    struct run_line **line;
};

struct memory_runs_list {
    size_t count;
    struct memory_run *run[];
};

struct memory_runs {
    struct run_space space;
    struct backend *backend; /* whose runs they are */
    pthread_rwlock_t lock;   /* guards the rest */
    struct memory_run **run;
    size_t count, capacity;
    uint64_t bytes;
};

static const struct run_space_ops memory_run_ops;

struct run_writer {
    struct run_line **line;
    size_t count, capacity;
    uint64_t bytes;
};

struct run_cursor {
    struct memory_run *run; /* where it is; NULL: nowhere yet */
    size_t at;
};

static struct memory_runs *runs_of(struct run_space *space)
{
    return (struct memory_runs *)space; /* its first member */
}

/* ---- a run ---- */

static struct slice key_of(const struct run_line *line)
{
    return slice_make(line->bytes, line->key_bytes);
}

static struct slice value_of(const struct run_line *line)
{
    return slice_make(line->bytes + line->key_bytes, line->value_bytes);
}

static struct slice first_key(const struct memory_run *run)
{
    return key_of(run->line[0]);
}

static struct slice last_key(const struct memory_run *run)
{
    return key_of(run->line[run->count - 1]);
}

static void free_lines(struct run_line **line, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(line[i]);
    free(line);
}

static struct memory_run *hold(struct memory_run *run)
{
    atomic_fetch_add_explicit(&run->holders, 1, memory_order_relaxed);
    return run;
}

static void let_go(struct memory_run *run)
{
    if (!run || atomic_fetch_sub_explicit(&run->holders, 1, memory_order_acq_rel) > 1)
        return;
    free_lines(run->line, run->count);
    free(run);
}

/* How many of its rows come before the key. */
static size_t rows_before(const struct memory_run *run, struct slice key)
{
    size_t low = 0, high = run->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(key_of(run->line[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the space ---- */

struct memory_runs *memory_runs_new(struct backend *backend)
{
    struct memory_runs *runs = heap_allocate_unset(sizeof(*runs));

    *runs = (struct memory_runs){ .space = { .ops = &memory_run_ops }, .backend = backend };
    thread_rwlock_init(&runs->lock);
    return runs;
}

struct run_space *memory_runs_space(struct memory_runs *runs)
{
    return &runs->space;
}

static void let_all_go(struct memory_run **run, size_t count)
{
    for (size_t i = 0; i < count; i++)
        let_go(run[i]);
}

void memory_runs_free(struct memory_runs *runs)
{
    let_all_go(runs->run, runs->count);
    free(runs->run);
    pthread_rwlock_destroy(&runs->lock);
    free(runs);
}

uint64_t memory_runs_bytes(struct memory_runs *runs)
{
    uint64_t bytes;

    pthread_rwlock_rdlock(&runs->lock);
    bytes = runs->bytes;
    pthread_rwlock_unlock(&runs->lock);
    return bytes;
}

/* Under the lock: how many runs end before the key. */
static size_t runs_before(const struct memory_runs *runs, struct slice key)
{
    size_t count = 0;

    while (count < runs->count && slice_compare(last_key(runs->run[count]), key) < 0)
        count++;
    return count;
}

/* ---- marks ---- */

void memory_runs_freeze(struct memory_runs *runs)
{
    pthread_rwlock_rdlock(&runs->lock);
}

void memory_runs_thaw(struct memory_runs *runs)
{
    pthread_rwlock_unlock(&runs->lock);
}

struct memory_runs_list *memory_runs_list(struct memory_runs *runs)
{
    struct memory_runs_list *list =
        heap_allocate_unset(sizeof(*list) + runs->count * sizeof(struct memory_run *));

    list->count = runs->count;
    for (size_t i = 0; i < runs->count; i++)
        list->run[i] = hold(runs->run[i]);
    return list;
}

void memory_runs_release(struct memory_runs_list *list)
{
    if (list)
        let_all_go(list->run, list->count);
    free(list);
}

void memory_runs_restore(struct memory_runs *runs, const struct memory_runs_list *list)
{
    pthread_rwlock_wrlock(&runs->lock);
    let_all_go(runs->run, runs->count); /* the list has its own hold on those that stay */
    heap_list_reserve(&runs->run, &runs->capacity, list->count, sizeof(struct memory_run *));
    runs->count = list->count;
    runs->bytes = 0;
    for (size_t i = 0; i < list->count; i++) {
        runs->run[i] = hold(list->run[i]);
        runs->bytes += list->run[i]->bytes;
    }
    pthread_rwlock_unlock(&runs->lock);
}

/* ---- writing ---- */

static enum status begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    (void)op, (void)space;
    *writer = heap_allocate(sizeof(**writer));
    return ST_OK;
}

static enum status add(struct op *op, struct run_space *space, struct run_writer *writer, struct slice key,
                       struct slice value)
{
    struct run_line *line = heap_allocate_unset(sizeof(*line) + key.size + value.size);

    (void)op, (void)space;
    assert(writer->count == 0 || slice_compare(key_of(writer->line[writer->count - 1]), key) < 0);
    *line = (struct run_line){ key.size, value.size };
    memcpy(line->bytes, key.data, key.size);
    memcpy(line->bytes + key.size, value.data, value.size);
    heap_list_reserve(&writer->line, &writer->capacity, writer->count + 1, sizeof(struct run_line *));
    writer->line[writer->count++] = line;
    writer->bytes += key.size + value.size;
    return ST_OK;
}

/* Takes the writer's rows. */
static struct memory_run *new_run(const struct run_writer *writer)
{
    struct memory_run *run = heap_allocate_unset(sizeof(*run));

    *run = (struct memory_run){ 1, writer->bytes, writer->count,
                                heap_grow(writer->line, writer->count * sizeof(struct run_line *)) };
    return run;
}

static void put_in_order(struct memory_runs *runs, struct memory_run *run)
{
    size_t at = runs_before(runs, first_key(run));

    assert(at == runs->count ||
           slice_compare(last_key(run), first_key(runs->run[at])) < 0); /* none overlaps */
    heap_list_reserve(&runs->run, &runs->capacity, runs->count + 1, sizeof(struct memory_run *));
    memmove(&runs->run[at + 1], &runs->run[at], (runs->count - at) * sizeof(struct memory_run *));
    runs->run[at] = run;
    runs->count++;
    runs->bytes += run->bytes;
}

static enum status finish(struct op *op, struct run_space *space, struct run_writer *writer)
{
    struct memory_runs *runs = runs_of(space);

    (void)op;
    if (writer->count > 0) {
        pthread_rwlock_wrlock(&runs->lock);
        put_in_order(runs, new_run(writer));
        pthread_rwlock_unlock(&runs->lock);
    }
    free(writer);
    return ST_OK;
}

static void give_up(struct run_space *space, struct run_writer *writer)
{
    (void)space;
    free_lines(writer->line, writer->count);
    free(writer);
}

static enum status remove_rows(struct op *op, struct run_space *space, struct slice from, struct slice to)
{
    struct memory_runs *runs = runs_of(space);
    size_t at, end;

    (void)op;
    pthread_rwlock_wrlock(&runs->lock);
    at = end = runs_before(runs, from);
    while (end < runs->count && slice_compare(first_key(runs->run[end]), to) < 0) {
        assert(slice_compare(first_key(runs->run[end]), from) >= 0); /* whole runs go */
        assert(slice_compare(last_key(runs->run[end]), to) < 0);
        runs->bytes -= runs->run[end]->bytes;
        let_go(runs->run[end++]);
    }
    memmove(&runs->run[at], &runs->run[end], (runs->count - end) * sizeof(struct memory_run *));
    runs->count -= end - at;
    pthread_rwlock_unlock(&runs->lock);
    return ST_OK;
}

/* ---- reading ---- */

static enum status open_cursor(struct op *op, struct run_space *space, bool once, struct run_cursor **cursor)
{
    (void)op, (void)space, (void)once;
    *cursor = heap_allocate(sizeof(**cursor));
    return ST_OK;
}

static void close_cursor(struct run_space *space, struct run_cursor *cursor)
{
    (void)space;
    let_go(cursor->run);
    free(cursor);
}

/* Under the lock: the first row at or after the key, or the last one before it. */
static bool find(const struct memory_runs *runs, bool before, struct slice key, struct run_cursor *found)
{
    size_t which = runs_before(runs, key), at = 0;

    if (which < runs->count)
        at = rows_before(runs->run[which], key);
    if (before && at == 0) { /* it is the last of the run before */
        if (which-- == 0)
            return false;
        at = runs->run[which]->count;
    }
    if (which == runs->count)
        return false;
    *found = (struct run_cursor){ runs->run[which], before ? at - 1 : at };
    return true;
}

static bool look_up(struct memory_runs *runs, bool before, struct slice key, struct run_cursor *cursor)
{
    struct run_cursor found;
    bool is_there;

    pthread_rwlock_rdlock(&runs->lock);
    is_there = find(runs, before, key, &found);
    if (is_there)
        hold(found.run);
    pthread_rwlock_unlock(&runs->lock);
    if (!is_there)
        return false;
    let_go(cursor->run);
    *cursor = found;
    return true;
}

/* The row behind the run's last one has the least key above that. */
static bool step_out(struct memory_runs *runs, struct run_cursor *cursor)
{
    struct slice last = last_key(cursor->run);
    char *above = heap_allocate(last.size + 1);
    bool is_there;

    memcpy(above, last.data, last.size);
    is_there = look_up(runs, false, slice_make(above, last.size + 1), cursor);
    free(above);
    return is_there;
}

static bool move_to(struct memory_runs *runs, struct run_cursor *cursor, enum run_move move, struct slice key)
{
    switch (move) {
    case RUN_AT_OR_AFTER:
        return look_up(runs, false, key, cursor);
    case RUN_BEFORE:
        return look_up(runs, true, key, cursor);
    case RUN_NEXT:
        if (cursor->at + 1 == cursor->run->count)
            return step_out(runs, cursor);
        cursor->at++;
        return true;
    case RUN_PREVIOUS:
        if (cursor->at == 0)
            return look_up(runs, true, first_key(cursor->run), cursor);
        cursor->at--;
        return true;
    }
    return false;
}

static enum status read_row(struct op *op, struct run_space *space, struct run_cursor *cursor,
                            enum run_move move, struct slice key, struct run_row *row)
{
    (void)op;
    if (move_to(runs_of(space), cursor, move, key)) {
        const struct run_line *line = cursor->run->line[cursor->at];

        run_row_copy(row, key_of(line), value_of(line));
    } else {
        row->key = (struct slice){ 0 };
    }
    return ST_OK;
}

/* ---- settling ---- */

static uint64_t reopens(struct run_space *space)
{
    (void)space;
    return 0; /* nothing here is ever in doubt */
}

static enum status settle(struct op *op, struct run_space *space, uint64_t since,
                          const struct settled_row *rows, size_t count)
{
    struct backend *backend = runs_of(space)->backend;
    struct mutation *mutations = arena_alloc(&op->arena, count * sizeof(*mutations));

    (void)since;
    for (size_t i = 0; i < count; i++)
        mutations[i] = (struct mutation){ rows[i].key, rows[i].value };
    return backend->ops->write(op, backend, mutations, count, true);
}

static enum status get(struct op *op, struct run_space *space, struct slice key, struct slice *value)
{
    struct backend *backend = runs_of(space)->backend;

    return backend->ops->get_many(op, backend, NULL, &key, 1, value);
}

static const struct run_space_ops memory_run_ops = {
    .begin = begin,
    .add = add,
    .finish = finish,
    .abort = give_up,
    .remove = remove_rows,
    .open = open_cursor,
    .read = read_row,
    .close = close_cursor,
    .get = get,
    .reopens = reopens,
    .settle = settle,
};
