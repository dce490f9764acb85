/* src/store/memory_runs.c - the rows of runs in one ordered list; a reader copies the row it reads. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "store/backend.h"
#include "store/memory_runs.h"
#include "store/sorted.h"

struct run_line {
    struct sorted_node node;
    struct run_line *next; /* in its writer */
    size_t value_bytes;
    const char *value;
    struct sorted_node *links[]; /* key and value follow them */
};

struct memory_runs {
    struct run_space space;
    struct backend *backend; /* whose runs they are */
    pthread_rwlock_t lock;   /* guards the rest */
    struct sorted rows;
    uint64_t bytes;
};

static const struct run_space_ops memory_run_ops;

struct run_writer {
    struct run_line *first, **last;
};

struct run_cursor {
    struct slice key; /* of the row where it is */
    char *memory;
    size_t capacity;
};

static struct memory_runs *runs_of(struct run_space *space)
{
    return (struct memory_runs *)space; /* its first member */
}

struct memory_runs *memory_runs_new(struct backend *backend)
{
    struct memory_runs *runs = heap_allocate_unset(sizeof(*runs));

    *runs = (struct memory_runs){ .space = { .ops = &memory_run_ops }, .backend = backend };
    pthread_rwlock_init(&runs->lock, NULL);
    return runs;
}

struct run_space *memory_runs_space(struct memory_runs *runs)
{
    return &runs->space;
}

void memory_runs_free(struct memory_runs *runs)
{
    struct sorted_node *node = runs->rows.first[0];

    while (node) {
        struct sorted_node *after = node->after[0];

        free(node);
        node = after;
    }
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

/* ---- writing ---- */

static enum status begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    (void)op, (void)space;
    *writer = heap_allocate_unset(sizeof(**writer));
    **writer = (struct run_writer){ .last = &(*writer)->first };
    return ST_OK;
}

static enum status add(struct op *op, struct run_space *space, struct run_writer *writer, struct slice key,
                       struct slice value)
{
    size_t links_bytes = sorted_height(key) * sizeof(struct sorted_node *);
    struct run_line *line = heap_allocate_unset(sizeof(*line) + links_bytes + key.size + value.size);
    char *bytes = (char *)line + sizeof(*line) + links_bytes;

    (void)op, (void)space;
    memcpy(bytes, key.data, key.size);
    memcpy(bytes + key.size, value.data, value.size);
    *line = (struct run_line){ .node = { .key = slice_make(bytes, key.size), .after = line->links },
                               .value = bytes + key.size,
                               .value_bytes = value.size };
    assert(!*writer->last); /* it points behind the last line */
    *writer->last = line;
    writer->last = &line->next;
    return ST_OK;
}

static enum status finish(struct op *op, struct run_space *space, struct run_writer *writer)
{
    struct memory_runs *runs = runs_of(space);

    (void)op;
    pthread_rwlock_wrlock(&runs->lock);
    for (struct run_line *line = writer->first; line; line = line->next) {
        sorted_insert(&runs->rows, &line->node);
        runs->bytes += line->node.key.size + line->value_bytes;
    }
    pthread_rwlock_unlock(&runs->lock);
    free(writer);
    return ST_OK;
}

static void give_up(struct run_space *space, struct run_writer *writer)
{
    (void)space;
    for (struct run_line *line = writer->first, *next; line; line = next) {
        next = line->next;
        free(line);
    }
    free(writer);
}

static enum status remove_rows(struct op *op, struct run_space *space, struct slice from, struct slice to)
{
    struct memory_runs *runs = runs_of(space);
    struct sorted_node *node;

    (void)op;
    pthread_rwlock_wrlock(&runs->lock);
    while ((node = sorted_at_or_after(&runs->rows, from)) && slice_compare(node->key, to) < 0) {
        sorted_remove(&runs->rows, node);
        runs->bytes -= node->key.size + ((struct run_line *)node)->value_bytes;
        free(node);
    }
    pthread_rwlock_unlock(&runs->lock);
    return ST_OK;
}

/* ---- reading ---- */

static enum status open_cursor(struct op *op, struct run_space *space, bool once, struct run_cursor **cursor)
{
    (void)op, (void)space, (void)once;
    *cursor = heap_allocate_unset(sizeof(**cursor));
    **cursor = (struct run_cursor){ 0 };
    return ST_OK;
}

static void close_cursor(struct run_space *space, struct run_cursor *cursor)
{
    (void)space;
    free(cursor->memory);
    free(cursor);
}

static void stand_at(struct run_cursor *cursor, struct slice key)
{
    if (key.size > cursor->capacity) {
        cursor->capacity = 2 * key.size;
        free(cursor->memory);
        cursor->memory = heap_allocate_unset(cursor->capacity);
    }
    memcpy(cursor->memory, key.data, key.size);
    cursor->key = slice_make(cursor->memory, key.size);
}

static struct sorted_node *after(const struct memory_runs *runs, struct slice key)
{
    struct sorted_node *node = sorted_at_or_after(&runs->rows, key);

    return node && slice_equal(node->key, key) ? node->after[0] : node;
}

static struct sorted_node *find(const struct memory_runs *runs, const struct run_cursor *cursor,
                                enum run_move move, struct slice key)
{
    switch (move) {
    case RUN_AT_OR_AFTER:
        return sorted_at_or_after(&runs->rows, key);
    case RUN_BEFORE:
        return sorted_before(&runs->rows, key);
    case RUN_NEXT:
        return after(runs, cursor->key);
    case RUN_PREVIOUS:
        return sorted_before(&runs->rows, cursor->key);
    }
    return NULL;
}

static enum status read_row(struct op *op, struct run_space *space, struct run_cursor *cursor,
                            enum run_move move, struct slice key, struct run_row *row)
{
    struct memory_runs *runs = runs_of(space);
    struct sorted_node *node;

    (void)op;
    pthread_rwlock_rdlock(&runs->lock);
    node = find(runs, cursor, move, key);
    if (node) {
        const struct run_line *line = (const struct run_line *)node;

        stand_at(cursor, node->key);
        run_row_copy(row, node->key, slice_make(line->value, line->value_bytes));
    } else {
        row->key = (struct slice){ 0 };
    }
    pthread_rwlock_unlock(&runs->lock);
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
