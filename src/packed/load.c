/* src/packed/load.c - what the packed index finds when it is opened: the manifest's runs, and those that nobody lists. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed/packed_private.h"

static enum status read_manifest(struct op *op, struct packed *packed, struct manifest *manifest)
{
    struct slice key = key_runs(&op->arena), value;
    enum status st;

    TRY(packed->space->ops->get(op, packed->space, key, &value));
    TRY(manifest_decode(op, value, manifest));
out:
    return st;
}

static bool is_listed(const struct manifest *manifest, uint64_t id)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->run[i].id == id)
            return true;
    return false;
}

/* Goes from run to run, removes those that nobody lists, and counts the others. */
static enum status remove_orphans(struct op *op, struct packed *packed, const struct manifest *manifest,
                                  size_t *listed)
{
    const struct run_space_ops *runs = packed->space->ops;
    struct run_cursor *cursor = NULL;
    struct run_row row = { 0 };
    uint8_t from[RUN_ID_BYTES] = { 0 };
    enum status st;

    TRY(runs->open(op, packed->space, true, &cursor));
    for (;;) {
        uint64_t id;

        TRY(runs->read(op, packed->space, cursor, RUN_AT_OR_AFTER, slice_make(from, sizeof(from)), &row));
        if (!row.key.data || row.key.size < RUN_ID_BYTES)
            goto out;
        id = get_be(row.key.data, RUN_ID_BYTES);
        if (is_listed(manifest, id))
            ++*listed;
        else if (!packed->options.read_only)
            TRY(upkeep_remove_run(op, packed->space, id));
        if (packed->next_run <= id)
            packed->next_run = id + 1;
        run_key(from, id + 1);
    }
out:
    if (cursor)
        runs->close(packed->space, cursor);
    free(row.memory);
    return st;
}

/* The newest first: a small run that lacks the term is passed over most often. */
static enum status open_runs(struct op *op, struct packed *packed, const struct manifest *manifest)
{
    struct run **run = heap_allocate((manifest->count + 1) * sizeof(struct run *));
    uint64_t bytes = 0;
    size_t opened = manifest->count;
    enum status st = ST_OK;

    while (opened > 0) {
        const struct run_facts *facts = &manifest->run[opened - 1];
        struct filter *filter = NULL;

        bytes += facts->filter_bytes;
        if (bytes <= packed->options.filter_bytes)
            TRY(run_read_filter(op, packed->space, facts, &filter));
        run[--opened] = run_new(facts, filter, upkeep_run_gone, packed);
    }
    layers_release(packed->layers);
    packed->layers = layers_new(packed->active, NULL, run, manifest->count);
out:
    for (size_t i = opened; i < manifest->count; i++)
        run_release(run[i]);
    free(run);
    return st;
}

enum status packed_load(struct op *op, struct packed *packed)
{
    struct manifest manifest;
    size_t listed = 0;
    enum status st;

    assert(!packed->is_running); /* nobody else looks at the layers yet */
    assert(packed->layers->run_count == 0);
    TRY(read_manifest(op, packed, &manifest));
    packed->next_run = manifest.next_run;
    TRY(remove_orphans(op, packed, &manifest, &listed));
    if (listed != manifest.count)
        TRY(op_fail(op, ST_CORRUPT, "The index has lost a run: %zu of %zu are there.", listed,
                    manifest.count));
    TRY(open_runs(op, packed, &manifest));
out:
    return st;
}
