/*
 * src/store/memory.c - the backend that keeps all in memory: for tests, simulation and trying things out.
 * Each key has a chain of versions, newest first; a snapshot is a sequence number and sees the
 * newest version that is not newer than itself. What no snapshot can see is freed when its key
 * is written again or when the snapshot that held it goes.
 *
 * Locks. `lock` guards rows and versions; `snapshots_mutex` guards the list of snapshots, and
 * is taken inside `lock` or alone.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "store/backend.h"
#include "store/memory_runs.h"
#include "store/rows.h"
#include "store/sorted.h"

struct version {
    struct version *older;
    uint64_t sequence;
    bool deleted;
    size_t size;
    char bytes[];
};

struct memory_row {
    struct sorted_node node;
    struct version *newest;
    struct memory_row *next_waiting; /* in the list of rows with versions to free later */
    struct memory_row *next_touched; /* in the list of rows that were written since there are marks */
    bool waiting, touched;
    struct sorted_node *links[]; /* the key's bytes follow them */
};

struct backend_snapshot {
    struct backend_snapshot *older, *newer;
    uint64_t sequence;
    struct memory_runs_list *runs; /* of a mark; NULL: it is none */
};

struct memory {
    struct backend backend;
    pthread_rwlock_t lock;
    struct sorted rows;
    uint64_t sequence; /* of the last write */
    uint64_t bytes;
    struct memory_row *waiting;
    struct memory_row *touched; /* rows that a rewind may have to write: since the first of the marks */
    size_t marks;
    pthread_mutex_t snapshots_mutex;
    struct backend_snapshot snapshots; /* both ends of a ring: .newer is the oldest one */
    struct memory_runs *runs;
};

static struct memory *memory_of(struct backend *backend)
{
    return (struct memory *)backend; /* its first member */
}

/* What readers could still ask for: the oldest snapshot, or the present when there is none. */
static uint64_t oldest_visible(struct memory *memory)
{
    uint64_t sequence = memory->sequence;

    pthread_mutex_lock(&memory->snapshots_mutex);
    if (memory->snapshots.newer != &memory->snapshots)
        sequence = memory->snapshots.newer->sequence;
    assert(sequence <= memory->sequence); /* no snapshot is of the future */
    pthread_mutex_unlock(&memory->snapshots_mutex);
    return sequence;
}

/* The newest snapshot, 0 when there is none: what is newer than that and not the present, nobody can see. */
static uint64_t newest_snapshot(struct memory *memory)
{
    uint64_t sequence;

    pthread_mutex_lock(&memory->snapshots_mutex);
    sequence = memory->snapshots.older->sequence; /* the ring's own is 0 */
    pthread_mutex_unlock(&memory->snapshots_mutex);
    return sequence;
}

static void free_versions(struct memory *memory, struct version *version)
{
    while (version) {
        struct version *older = version->older;

        assert(memory->bytes >= version->size);
        memory->bytes -= version->size;
        free(version);
        version = older;
    }
}

static void free_row(struct memory *memory, struct memory_row *row)
{
    free_versions(memory, row->newest);
    memory->bytes -= row->node.key.size;
    free(row);
}

/* Frees what nobody can see; true when that was the whole row. The row may then be waiting no longer. */
static bool settle(struct memory *memory, struct memory_row *row, uint64_t oldest)
{
    struct version *version = row->newest;

    assert(version);       /* a row without versions is freed */
    assert(!row->waiting); /* else the list of those that wait would keep a row that is freed */
    while (version->sequence > oldest && version->older)
        version = version->older;
    free_versions(memory, version->older); /* the oldest reader stops at this version, if it gets so far */
    version->older = NULL;
    if (row->newest->older || !row->newest->deleted || row->newest->sequence > oldest || row->touched)
        return false;
    sorted_remove(&memory->rows, &row->node);
    free_row(memory, row);
    return true;
}

static void wait_if_unsettled(struct memory *memory, struct memory_row *row)
{
    if (row->waiting || (!row->newest->older && !row->newest->deleted))
        return;
    row->waiting = true;
    row->next_waiting = memory->waiting;
    memory->waiting = row;
}

/* After a snapshot has gone. */
static void settle_waiting(struct memory *memory)
{
    struct memory_row *row = memory->waiting;
    uint64_t oldest = oldest_visible(memory);

    memory->waiting = NULL;
    while (row) {
        struct memory_row *next = row->next_waiting;

        assert(row->waiting);
        row->waiting = false;
        if (!settle(memory, row, oldest))
            wait_if_unsettled(memory, row);
        row = next;
    }
}

static enum status memory_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot)
{
    struct memory *memory = memory_of(backend);
    struct backend_snapshot *taken = heap_allocate_unset(sizeof(*taken));

    (void)op;
    pthread_rwlock_rdlock(&memory->lock);
    pthread_mutex_lock(&memory->snapshots_mutex);
    taken->sequence = memory->sequence;
    taken->newer = &memory->snapshots;
    taken->older = memory->snapshots.older;
    assert(taken->older->sequence <= taken->sequence); /* the ring is in the order of age */
    taken->older->newer = taken;
    memory->snapshots.older = taken;
    pthread_mutex_unlock(&memory->snapshots_mutex);
    pthread_rwlock_unlock(&memory->lock);
    taken->runs = NULL;
    *snapshot = taken;
    return ST_OK;
}

static void memory_release(struct backend *backend, struct backend_snapshot *snapshot)
{
    struct memory *memory = memory_of(backend);
    bool was_oldest;

    pthread_mutex_lock(&memory->snapshots_mutex);
    assert(snapshot->older->newer == snapshot); /* it is in the ring: nobody has released it before */
    assert(snapshot->newer->older == snapshot);
    was_oldest = snapshot->older == &memory->snapshots;
    snapshot->older->newer = snapshot->newer;
    snapshot->newer->older = snapshot->older;
    pthread_mutex_unlock(&memory->snapshots_mutex);
    free(snapshot);
    if (!was_oldest)
        return;
    if (thread_may_block())
        pthread_rwlock_wrlock(&memory->lock);
    else if (pthread_rwlock_trywrlock(&memory->lock) != 0)
        return; /* the next snapshot that goes settles for this one, too */
    settle_waiting(memory);
    pthread_rwlock_unlock(&memory->lock);
}

/* False when the snapshot has no such row. */
static bool visible(const struct sorted_node *node, uint64_t sequence, struct slice *value)
{
    const struct version *version = ((const struct memory_row *)node)->newest;

    while (version && version->sequence > sequence)
        version = version->older;
    if (!version || version->deleted)
        return false;
    *value = slice_make(version->bytes, version->size);
    return true;
}

static enum status memory_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                                   const struct slice *keys, size_t count, struct slice *values)
{
    struct memory *memory = memory_of(backend);
    uint64_t sequence = snapshot ? snapshot->sequence : UINT64_MAX;
    enum status st = ST_OK;

    pthread_rwlock_rdlock(&memory->lock);
    for (size_t i = 0; i < count; i++) {
        struct sorted_node *node = sorted_find(&memory->rows, keys[i]);
        struct slice value;

        values[i] = (struct slice){ 0 };
        if (node && visible(node, sequence, &value))
            TRY(row_copy_value(op, value, &values[i]));
    }
out:
    pthread_rwlock_unlock(&memory->lock);
    return st;
}

static struct sorted_node *scan_first(const struct memory *memory, const struct range *range)
{
    return range->reverse ? sorted_before(&memory->rows, range->to)
                          : sorted_at_or_after(&memory->rows, range->from);
}

static bool in_range(const struct sorted_node *node, const struct range *range)
{
    if (!node)
        return false;
    return range->reverse ? slice_compare(node->key, range->from) >= 0
                          : slice_compare(node->key, range->to) < 0;
}

enum { PASSED_OVER_IN_A_STEP = 4 };

static enum status memory_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                               struct range range, struct scan_limit limit, struct rows *rows)
{
    struct memory *memory = memory_of(backend);
    struct row_block block;
    struct slice value;
    unsigned passed_over = 0;
    enum status st = ST_OK;

    assert(snapshot); /* only get_many() reads what is there now */
    row_block_init(&block, op, limit, rows);
    pthread_rwlock_rdlock(&memory->lock);
    for (struct sorted_node *node = scan_first(memory, &range); in_range(node, &range);
         node = range.reverse ? node->before : node->after[0]) {
        if (!visible(node, snapshot->sequence, &value)) {
            TRY(op_spend_often(op, ++passed_over % PASSED_OVER_IN_A_STEP == 0));
            continue;
        }
        if (!row_block_takes(&block, node->key, value))
            break;
        TRY(row_block_copy(&block, node->key, value));
    }
out:
    pthread_rwlock_unlock(&memory->lock);
    return st;
}

static struct memory_row *row_for(struct memory *memory, struct slice key)
{
    struct sorted_place place;
    struct sorted_node *node = sorted_look(&memory->rows, key, &place);
    size_t height, links_bytes;
    struct memory_row *row;
    char *key_bytes;

    if (node)
        return (struct memory_row *)node;
    height = sorted_height(key);
    links_bytes = height * sizeof(struct sorted_node *);
    row = heap_allocate_unset(sizeof(*row) + links_bytes + key.size);
    key_bytes = (char *)row + sizeof(*row) + links_bytes;
    memcpy(key_bytes, key.data, key.size);
    *row = (struct memory_row){ .node = { .key = slice_make(key_bytes, key.size), .after = row->links } };
    sorted_insert_at(&memory->rows, &row->node, height, &place);
    memory->bytes += key.size;
    return row;
}

/* What a write needs to know of the snapshots that there are. */
struct seen {
    uint64_t oldest, newest;
};

/*
 * Newer than the row's other versions, or instead of one of the same write, or of one that no snapshot is late enough to
 * see: a row that is written over and over while somebody keeps an old snapshot has two versions.
 */
static void set_version(struct memory *memory, struct memory_row *row, struct version *version,
                        struct slice value, uint64_t newest)
{
    uint64_t sequence = memory->sequence;
    struct version *older = row->newest;

    assert(!older || older->sequence <= sequence);
    if (older && (older->sequence == sequence || older->sequence > newest)) {
        row->newest = older->older;
        older->older = NULL;
        free_versions(memory, older);
    }
    *version = (struct version){ row->newest, sequence, !value.data, value.size };
    if (value.data)
        memcpy(version->bytes, value.data, value.size);
    row->newest = version;
    memory->bytes += value.size;
}

static void touch(struct memory *memory, struct memory_row *row)
{
    if (!memory->marks || row->touched)
        return;
    row->touched = true;
    row->next_touched = memory->touched;
    memory->touched = row;
}

/* A row in the waiting list is left to settle_waiting(), which must still find it there. */
static void mutate(struct memory *memory, const struct mutation *mutation, struct version *version,
                   struct seen seen)
{
    struct memory_row *row = row_for(memory, mutation->key);

    touch(memory, row);
    set_version(memory, row, version, mutation->value, seen.newest);
    if (!row->waiting && !settle(memory, row, seen.oldest))
        wait_if_unsettled(memory, row);
}

/* A write begins, under the lock. */
static struct seen next_sequence(struct memory *memory)
{
    memory->sequence++;
    return (struct seen){ oldest_visible(memory), newest_snapshot(memory) };
}

static void free_unused(struct version **versions, size_t count)
{
    for (size_t i = 0; versions && i < count; i++)
        free(versions[i]);
    free(versions);
}

/* Room for every value of a write, whose sizes clients chose, before any of it is done. NULL: there is not enough. */
static struct version **versions_for(const struct mutation *mutations, size_t count)
{
    struct version **versions = calloc(count ? count : 1, sizeof(struct version *));

    for (size_t i = 0; versions && i < count; i++) {
        versions[i] = malloc(sizeof(struct version) + mutations[i].value.size);
        if (versions[i])
            continue;
        free_unused(versions, i);
        return NULL;
    }
    return versions;
}

/* By the committer and by the packed index, which settles: the lock puts them in a row. */
static enum status memory_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                                size_t count, bool sync)
{
    struct version **versions = versions_for(mutations, count);
    struct memory *memory = memory_of(backend);
    struct seen seen;

    (void)sync;
    if (!versions)
        return op_fail(op, ST_UNAVAILABLE, "There is no memory for what would be written.");
    pthread_rwlock_wrlock(&memory->lock);
    seen = next_sequence(memory);
    for (size_t i = 0; i < count; i++)
        mutate(memory, &mutations[i], versions[i], seen);
    pthread_rwlock_unlock(&memory->lock);
    free(versions);
    return ST_OK;
}

static enum status memory_remove_range(struct op *op, struct backend *backend, struct slice from,
                                       struct slice to)
{
    struct memory *memory = memory_of(backend);
    struct sorted_node *node;
    struct seen seen;

    (void)op;
    pthread_rwlock_wrlock(&memory->lock);
    seen = next_sequence(memory);
    node = sorted_at_or_after(&memory->rows, from);
    while (node && slice_compare(node->key, to) < 0) {
        struct sorted_node *after = node->after[0];

        mutate(memory, &(struct mutation){ .key = node->key }, heap_allocate_unset(sizeof(struct version)),
               seen);
        node = after;
    }
    pthread_rwlock_unlock(&memory->lock);
    return ST_OK;
}

/*
 * A mark is a snapshot, the runs of its moment, and a note of the rows that are written after it. A run is there before the
 * manifest, which is a row, lists it, and goes after one that does not: so the mark has all runs that its rows speak of.
 */
static enum status memory_mark(struct op *op, struct backend *backend, struct backend_snapshot **mark)
{
    struct memory *memory = memory_of(backend);
    enum status st;

    pthread_rwlock_wrlock(&memory->lock);
    memory->marks++; /* what is written before the snapshot is noted for nothing */
    pthread_rwlock_unlock(&memory->lock);
    memory_runs_freeze(memory->runs);
    st = memory_snapshot(op, backend, mark);
    assert(st == ST_OK);
    (*mark)->runs = memory_runs_list(memory->runs);
    memory_runs_thaw(memory->runs);
    return st;
}

/* Those that nobody sees any more wait for the snapshot to go. */
static void forget_touched(struct memory *memory)
{
    for (struct memory_row *row = memory->touched; row; row = row->next_touched)
        row->touched = false;
    memory->touched = NULL;
}

static void memory_unmark(struct backend *backend, struct backend_snapshot *mark)
{
    struct memory *memory = memory_of(backend);

    pthread_rwlock_wrlock(&memory->lock);
    assert(memory->marks > 0);
    memory->marks--;
    if (memory->marks == 0)
        forget_touched(memory);
    pthread_rwlock_unlock(&memory->lock);
    memory_runs_release(mark->runs);
    memory_release(backend, mark);
}

/* Writes what the mark sees of the row, if somebody has written something else since. */
static void rewind_row(struct memory *memory, struct memory_row *row, uint64_t sequence, struct seen seen)
{
    struct slice value = { 0 };

    if (row->newest->sequence <= sequence)
        return;
    visible(&row->node, sequence, &value);
    mutate(memory, &(struct mutation){ .key = row->node.key, .value = value },
           heap_allocate_unset(sizeof(struct version) + value.size), seen);
}

static void memory_rewind(struct backend *backend, const struct backend_snapshot *mark)
{
    struct memory *memory = memory_of(backend);
    struct seen seen;

    pthread_rwlock_wrlock(&memory->lock);
    seen = next_sequence(memory);
    for (struct memory_row *row = memory->touched; row; row = row->next_touched)
        rewind_row(memory, row, mark->sequence, seen);
    pthread_rwlock_unlock(&memory->lock);
    memory_runs_restore(memory->runs, mark->runs);
}

/* Nothing here is ever in doubt. */
static enum status memory_reopen(struct op *op, struct backend *backend)
{
    (void)op, (void)backend;
    return ST_OK;
}

static uint64_t memory_disk_bytes(struct backend *backend)
{
    struct memory *memory = memory_of(backend);
    uint64_t bytes;

    pthread_rwlock_rdlock(&memory->lock);
    bytes = memory->bytes;
    pthread_rwlock_unlock(&memory->lock);
    return bytes + memory_runs_bytes(memory->runs);
}

static enum status memory_backup(struct op *op, struct backend *backend, const char *directory)
{
    (void)backend;
    return op_fail(op, ST_NOT_BUILT, "The memory store cannot be copied to %s: it has no files.", directory);
}

static void memory_close(struct backend *backend)
{
    struct memory *memory = memory_of(backend);
    struct sorted_node *node = memory->rows.first[0];

    assert(memory->snapshots.newer == &memory->snapshots); /* all were released */
    while (node) {
        struct sorted_node *after = node->after[0];

        free_row(memory, (struct memory_row *)node);
        node = after;
    }
    memory_runs_free(memory->runs);
    pthread_mutex_destroy(&memory->snapshots_mutex);
    pthread_rwlock_destroy(&memory->lock);
    free(memory);
}

static const struct backend_ops memory_ops = {
    .snapshot = memory_snapshot,
    .release = memory_release,
    .get_many = memory_get_many,
    .scan = memory_scan,
    .write = memory_write,
    .remove_range = memory_remove_range,
    .reopen = memory_reopen,
    .disk_bytes = memory_disk_bytes,
    .backup = memory_backup,
    .mark = memory_mark,
    .unmark = memory_unmark,
    .rewind = memory_rewind,
    .close = memory_close,
};

struct backend *memory_backend(void)
{
    struct memory *memory = heap_allocate_unset(sizeof(*memory));

    *memory = (struct memory){ .backend = { .ops = &memory_ops, .is_fleeting = true } };
    memory->runs = memory_runs_new(&memory->backend);
    memory->backend.runs = memory_runs_space(memory->runs);
    memory->snapshots.older = memory->snapshots.newer = &memory->snapshots;
    thread_rwlock_init(&memory->lock);
    pthread_mutex_init(&memory->snapshots_mutex, NULL);
    return &memory->backend;
}
