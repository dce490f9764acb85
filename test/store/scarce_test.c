/*
 * test/store/scarce_test.c - the machine refuses: memory for a value that a client made large, a thread for the store.
 * The linker has this program call the functions below instead (--wrap, CMakeLists.txt).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "fixture.h"

enum { LARGE_BYTES = 512 * 1024 };

static _Atomic size_t bytes_max = SIZE_MAX;
static atomic_int threads_left = -1; /* that can be started; -1: as many as anybody wants */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context);

void *__wrap_malloc(size_t bytes)
{
    return bytes > bytes_max ? NULL : __real_malloc(bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, how, run, context);
}

static struct batch *large_batch(struct fixture *f)
{
    char *text = arena_alloc(&f->op->arena, LARGE_BYTES);

    memset(text, 'x', LARGE_BYTES - 1);
    text[LARGE_BYTES - 1] = '\0';
    return batch_putting(f, 2, text);
}

CONTRACT(a_value_that_the_store_in_memory_has_no_room_for_is_a_status)
{
    struct batch *batch = large_batch(f);
    struct commit_stamp stamp;
    enum status st;

    if (f->durable || f->faulty)
        return;
    CHECK(put(f, 1, "old", NULL) == ST_OK);
    bytes_max = LARGE_BYTES - 1;
    st = store_commit(f->op, f->bucket, batch, &stamp);
    bytes_max = SIZE_MAX;
    CHECK(st == ST_UNAVAILABLE);
    CHECK(slice_is(get(f, 1), "old") && !get(f, 2).data);
    CHECK(put(f, 1, "new", NULL) == ST_OK && slice_is(get(f, 1), "new"));
    CHECK(store_commit(f->op, f->bucket, large_batch(f), &stamp) == ST_OK &&
          get(f, 2).size == LARGE_BYTES - 1);
}

/* The index's thread comes first, and then the committer's. */
TEST(a_store_whose_threads_cannot_be_started_is_not_opened)
{
    for (int i = 0; i < 2; i++) {
        struct store_options options = { .kind = STORE_MEMORY, .threads = true, .entries = ENTRIES_PACKED };
        struct store *store = NULL;

        threads_left = i;
        CHECK(store_open(test_op(), &options, &store) == ST_UNAVAILABLE && !store);
        threads_left = -1;
        CHECK(strstr(test_op()->error, "thread"));
    }
}
