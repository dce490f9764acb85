/* test/unit/store/tidy_test.c - ranges are gone over one after another, in a thread that comes and goes. */
#include <sched.h>
#include <stdatomic.h>

#include "store/tidy.h"
#include "test.h"

struct seen {
    _Atomic unsigned count;
    bool in_order;
};

/* The n-th range begins with the byte n, and ends with the next. */
static void note(void *context, struct slice from, struct slice to)
{
    struct seen *seen = context;
    unsigned number = atomic_load(&seen->count);

    seen->in_order &= from.size == 1 && to.size == 1 && (uint8_t)from.data[0] == (uint8_t)number &&
                      (uint8_t)to.data[0] == (uint8_t)(number + 1);
    atomic_fetch_add(&seen->count, 1);
}

TEST(every_range_is_gone_over_once_and_in_order_though_the_thread_ends_in_between)
{
    struct seen seen = { .in_order = true };
    struct tidy *tidy = tidy_open(note, &seen);

    for (unsigned i = 0; i < 200; i++) {
        char keys[2] = { (char)i, (char)(i + 1) };

        tidy_add(tidy, slice_make(keys, 1), slice_make(keys + 1, 1));
        while (i % 50 == 0 && atomic_load(&seen.count) <= i)
            sched_yield();
    }
    while (atomic_load(&seen.count) < 200)
        sched_yield();
    tidy_close(tidy);
    CHECK(seen.in_order && atomic_load(&seen.count) == 200);
}

TEST(closing_forgets_what_was_not_begun_and_one_that_did_nothing_closes)
{
    struct seen seen = { .in_order = true };
    struct tidy *tidy = tidy_open(note, &seen);

    for (unsigned i = 0; i < 100; i++) {
        char keys[2] = { (char)i, (char)(i + 1) };

        tidy_add(tidy, slice_make(keys, 1), slice_make(keys + 1, 1));
    }
    tidy_close(tidy);
    CHECK(seen.in_order && atomic_load(&seen.count) <= 100);
    tidy_close(tidy_open(note, &seen));
}
