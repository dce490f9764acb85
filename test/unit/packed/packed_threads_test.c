/*
 * test/unit/packed/packed_threads_test.c - one writer, several readers, and its own thread behind them.
 * Commit n adds number n to one term, and in another one puts n in the place of n - 1: a reader of any LSN
 * knows what it must see.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed/packed.h"
#include "store/backend.h"
#include "test.h"

enum { COMMITS = 300, READERS = 3, BUCKET = 9 << BUCKET_BITS, KEY_ROOM = 64 };

struct shared {
    struct packed *packed;
    _Atomic uint64_t visible;
    atomic_bool done;
    atomic_int wrong;
    atomic_int looked;
};

static struct slice term_key(uint8_t *to, char which)
{
    put_be(to, BUCKET, BUCKET_KEY_BYTES);
    to[BUCKET_KEY_BYTES] = KEY_INDEX;
    memcpy(to + BUCKET_KEY_BYTES + 1, "pathpath\x06", 9);
    to[BUCKET_KEY_BYTES + 10] = (uint8_t)which;
    to[BUCKET_KEY_BYTES + 11] = 0;
    return slice_make(to, BUCKET_KEY_BYTES + 12);
}

static struct packed_entry entry_of(uint8_t *to, char which, uint64_t number, bool present)
{
    struct slice key = term_key(to, which);

    put_be(to + key.size, number, 8);
    return (struct packed_entry){ slice_make(key.data, key.size + 8), present };
}

static void commit(struct shared *shared, struct op *op, uint64_t lsn)
{
    uint8_t key[3][KEY_ROOM];
    struct packed_entry entry[3] = { entry_of(key[0], 'a', lsn, true), entry_of(key[1], 'b', lsn, true),
                                     entry_of(key[2], 'b', lsn - 1, false) };

    if (packed_append(op, shared->packed, BUCKET, lsn, entry, lsn > 1 ? 3 : 2) != ST_OK)
        atomic_fetch_add(&shared->wrong, 1);
    atomic_store(&shared->visible, lsn);
    packed_committed(shared->packed);
}

/* As store_snapshot() does it. */
static struct packed_pin *look(struct shared *shared, uint64_t *lsn)
{
    for (;;) {
        struct packed_pin *pin = packed_pin(shared->packed);

        *lsn = atomic_load(&shared->visible);
        if (packed_pin_is_current(shared->packed, pin))
            return pin;
        packed_unpin(shared->packed, pin);
    }
}

/* Whether the term has exactly the numbers from `first` to the LSN. */
static bool has(struct shared *shared, struct op *op, struct packed_pin *pin, char which, uint64_t first,
                uint64_t lsn, bool reverse)
{
    uint8_t from[KEY_ROOM], to[KEY_ROOM];
    struct packed_walk walk = { term_key(from, which), term_key(to, which + 1), 0, UINT64_MAX, lsn, reverse };
    struct packed_cursor *cursor;
    struct packed_block block;
    uint64_t next = reverse ? lsn : first, count = 0, counted;
    bool right = true;

    if (packed_cursor_open(op, shared->packed, pin, &walk, &cursor) != ST_OK)
        return false;
    do {
        right = right && packed_cursor_next(op, cursor, &block) == ST_OK;
        for (size_t i = 0; right && i < block.count; i++, next += reverse ? -1 : 1)
            right = block.number[i] == next;
        count += block.count;
    } while (right && block.count > 0);
    packed_cursor_end(cursor);
    return right && count == lsn - first + 1 &&
           packed_count(op, shared->packed, pin, walk.from, walk.to, lsn, &counted) == ST_OK &&
           counted == count;
}

static void *read_on(void *argument)
{
    struct shared *shared = argument;
    struct op op;

    op_init(&op, env_system(), 1 << 20);
    while (!atomic_load(&shared->done) && atomic_load(&shared->wrong) == 0) {
        uint64_t lsn;
        struct packed_pin *pin;

        op_begin(&op, 60000);
        pin = look(shared, &lsn);
        if (lsn > 0 &&
            !(has(shared, &op, pin, 'a', 1, lsn, false) && has(shared, &op, pin, 'b', lsn, lsn, false) &&
              has(shared, &op, pin, 'a', 1, lsn, true)))
            atomic_fetch_add(&shared->wrong, 1);
        atomic_fetch_add(&shared->looked, 1);
        packed_unpin(shared->packed, pin);
    }
    op_free(&op);
    return NULL;
}

static void write_and_read(size_t delta_bytes)
{
    struct packed_options options = { .delta_bytes = delta_bytes,
                                      .filter_bytes = 1 << 20,
                                      .page_bytes = 1 << 18,
                                      .merge_runs = 3,
                                      .threads = true };
    struct backend *backend = memory_backend();
    struct shared shared = { 0 };
    pthread_t reader[READERS];

    REQUIRE(packed_open(test_op(), backend->runs, &options, &shared.packed) == ST_OK);
    for (size_t i = 0; i < READERS; i++)
        REQUIRE(pthread_create(&reader[i], NULL, read_on, &shared) == 0);
    for (uint64_t lsn = 1; lsn <= COMMITS; lsn++)
        commit(&shared, test_op(), lsn);
    while (atomic_load(&shared.looked) < READERS && atomic_load(&shared.wrong) == 0)
        sched_yield();
    atomic_store(&shared.done, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(reader[i], NULL);
    CHECK(atomic_load(&shared.wrong) == 0);
    packed_close(shared.packed);
    backend->ops->close(backend);
}

TEST(readers_see_exactly_their_lsn_while_others_write_and_runs_come_and_go)
{
    write_and_read(1);
    write_and_read(75000);
    write_and_read(SIZE_MAX);
}
