/* test/store/fixture.c - the stores that the contract is tested on. */
#include <stdlib.h>

#include "fixture.h"
#include "packed/packed.h"

static enum status make_memory(struct fixture *f, struct backend **backend)
{
    (void)f;
    *backend = memory_backend();
    return ST_OK;
}

#ifdef ORRERY_ROCKSDB
static enum status make_rocksdb(struct fixture *f, struct backend **backend)
{
    struct store_options options = { .directory = f->directory, .cache_bytes = 8 << 20 };

    return rocksdb_backend(f->op, &options, backend);
}
#endif

/* Every commit becomes a run, or some of them together. */
enum { AT_ONCE = 1, NOW_AND_THEN = 90000 }; /* bytes of the delta */

static const struct maker {
    const char *name;
    bool durable, faulty;
    size_t delta_bytes; /* of the packed index; 0: entries are plain keys */
    enum status (*make)(struct fixture *f, struct backend **backend);
} makers[] = {
    { "memory", false, false, 0, make_memory },
    { "memory-faulty", false, true, 0, make_memory },
    { "memory-packed", false, false, NOW_AND_THEN, make_memory },
    { "memory-packed-faulty", false, true, AT_ONCE, make_memory },
#ifdef ORRERY_ROCKSDB
    { "rocksdb", true, false, 0, make_rocksdb },
    { "rocksdb-faulty", true, true, 0, make_rocksdb },
    { "rocksdb-packed", true, false, AT_ONCE, make_rocksdb },
    { "rocksdb-packed-faulty", true, true, NOW_AND_THEN, make_rocksdb },
#endif
};

static bool open_store(struct fixture *f, const struct maker *maker)
{
    struct packed_options packed = { .delta_bytes = maker->delta_bytes,
                                     .filter_bytes = 4096,
                                     .merge_runs = 3 };
    struct store_options options = { .sync = true,
                                     .threads = f->threads,
                                     .entries = maker->delta_bytes ? ENTRIES_PACKED : ENTRIES_PLAIN,
                                     .packed = &packed };
    struct backend *backend = NULL;

    if (maker->make(f, &backend) != ST_OK)
        return false;
    if (maker->faulty)
        backend = faulty_backend(backend, &f->controls);
    return store_open_over(f->op, backend, &options, &f->store) == ST_OK &&
           store_bucket(f->op, f->store, TEST_BUCKET, &f->bucket) == ST_OK;
}

static const struct maker *maker_named(const char *name)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (strcmp(makers[i].name, name) == 0)
            return &makers[i];
    abort();
}

void fixture_reopen(struct fixture *f)
{
    store_close(f->store);
    if (!open_store(f, maker_named(f->store_name)))
        abort();
}

static void over_one(const struct maker *maker, void (*body)(struct fixture *f), bool threads)
{
    struct fixture f = { .store_name = maker->name,
                         .durable = maker->durable,
                         .faulty = maker->faulty,
                         .threads = threads,
                         .op = test_op() };

    snprintf(f.directory, sizeof(f.directory), "%s/%s", test_directory(), maker->name);
    op_begin(f.op, INT64_MAX / 2);
    f.op->may_block = true;
    if (open_store(&f, maker))
        body(&f);
    else
        test_failed(__FILE__, __LINE__, f.op->error ? f.op->error : "the store cannot be opened");
    store_close(f.store);
}

void over_each_store(void (*body)(struct fixture *f), bool threads, bool packed)
{
    const char *only = getenv("ORRERY_TEST_STORE");

    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if ((packed || !makers[i].delta_bytes) && (!only || strstr(makers[i].name, only)))
            over_one(&makers[i], body, threads);
}

struct slice key_of(struct fixture *f, uint64_t number)
{
    return key_document(&f->op->arena, TEST_BUCKET, number);
}

struct range range_of(struct fixture *f, uint64_t from, uint64_t to, bool reverse)
{
    return (struct range){ key_of(f, from), key_of(f, to), reverse };
}

struct batch *batch_putting(struct fixture *f, uint64_t number, const char *text)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);

    batch_put(batch, key_of(f, number), arena_copy(&f->op->arena, slice_of(text)));
    return batch;
}

enum status put(struct fixture *f, uint64_t number, const char *text, struct commit_stamp *stamp)
{
    struct commit_stamp unused;

    return store_commit(f->op, f->bucket, batch_putting(f, number, text), stamp ? stamp : &unused);
}

struct slice get(struct fixture *f, uint64_t number)
{
    struct slice key = key_of(f, number), value = { 0 };
    struct snapshot *snapshot = NULL;
    enum status st;

    TRY(store_snapshot(f->op, f->bucket, &snapshot));
    TRY(store_get_many(f->op, snapshot, &key, 1, &value));
out:
    CHECK(st == ST_OK);
    store_release(snapshot);
    return value;
}

uint8_t *stampable(struct fixture *f, size_t *size)
{
    struct change change = { .kind = CHANGE_CREATE, .number = 1, .old_record = slice_of("") };

    return change_encode(f->op, &change, size);
}
