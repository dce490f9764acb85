/* src/store/local_transfer.c - the local store as rows: past the committer, which gives LSNs, straight to the backend. */
#include "keys/keys.h"
#include "store/local_private.h"

enum status local_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                              struct bucket_found *found, bool *is_there)
{
    struct slice end = key_bucket_first(&op->arena, BUCKET_ID_END), key, value;
    struct scan_limit first = { .rows = 1, .bytes = 1 };
    struct rows rows;
    enum status st;

    *is_there = false;
    do {
        TRY(local_scan(op, snapshot, (struct range){ key_bucket_first(&op->arena, from), end, false }, first,
                       &rows));
        if (!rows.count)
            break;
        found->id = key_bucket(rows.row[0].key);
        key = key_head(&op->arena, found->id);
        TRY(local_get_many(op, snapshot, &key, 1, &value));
        *is_there = value.data != NULL; /* rows without a head are of a copy that is under way */
        TRY(head_decode(op, value, &found->head));
        found->dropped = false;
        from = found->id + 1;
    } while (!*is_there);
out:
    return st;
}

bool local_entries_are_rows(const struct store *store)
{
    return !((const struct local *)store)->packed;
}

/* The committer has nothing to do: whoever loads has the store to itself. */
enum status local_load(struct op *op, struct store *store, const struct row *rows, size_t count)
{
    struct mutation *mutations = arena_alloc(&op->arena, count * sizeof(*mutations));
    struct backend *backend = local_of(store)->backend;

    for (size_t i = 0; i < count; i++)
        mutations[i] = (struct mutation){ rows[i].key, rows[i].value };
    local_begin_turns(store);
    return backend->ops->write(op, backend, mutations, count, local_of(store)->sync);
}

enum status local_clear(struct op *op, struct store *store, uint64_t id)
{
    struct backend *backend = local_of(store)->backend;

    local_begin_turns(store);
    return backend->ops->remove_range(op, backend, key_bucket_first(&op->arena, id),
                                      key_bucket_end(&op->arena, id));
}
