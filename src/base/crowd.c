/* src/base/crowd.c - a count for each of some threads, and one word that has the last say. */
#include <assert.h>

#include "base/crowd.h"
#include "base/thread.h"

/*
 * While the crowd is spread, or on its way to or from it, some look at the exact count and some at their parts: it may fall
 * below what is there. With this much more in it nobody takes it for the end.
 */
enum { IS_EXACT = 1, ONE = 2 };

static const long long SPREAD = 1LL << 60;

void crowd_init(struct crowd *crowd)
{
    /* Not atomic_init(): whoever stands before a gate that opens is looking. */
    atomic_store(&crowd->exact, 1);
    for (int i = 0; i < CROWD_PARTS; i++)
        atomic_store(&crowd->part[i].word, IS_EXACT);
}

/* False where the thread's part is closed. */
static bool count_in_part(struct crowd *crowd, int change)
{
    atomic_llong *word = &crowd->part[thread_number() % CROWD_PARTS].word;
    long long now = atomic_load_explicit(word, memory_order_relaxed);

    do {
        if (now & IS_EXACT)
            return false;
    } while (!atomic_compare_exchange_weak(word, &now, now + change));
    return true;
}

bool crowd_more_while_spread(struct crowd *crowd)
{
    return count_in_part(crowd, ONE);
}

void crowd_more(struct crowd *crowd)
{
    long long before;

    if (count_in_part(crowd, ONE))
        return;
    before = atomic_fetch_add(&crowd->exact, 1);
    assert(before > 0); /* there is somebody who has one */
}

bool crowd_less(struct crowd *crowd)
{
    long long before;

    if (count_in_part(crowd, -ONE))
        return false;
    before = atomic_fetch_sub(&crowd->exact, 1);
    assert(before > 0);
    return before == 1;
}

void crowd_spread(struct crowd *crowd)
{
    long long before;

    if (atomic_load(&crowd->exact) >= SPREAD / 2)
        return;
    before = atomic_fetch_add(&crowd->exact, SPREAD);
    assert(before > 0); /* the caller's own */
    for (int i = 0; i < CROWD_PARTS; i++)
        atomic_store(&crowd->part[i].word, 0);
}

void crowd_gather(struct crowd *crowd)
{
    long long found = 0;

    if (atomic_load(&crowd->exact) < SPREAD / 2)
        return;
    for (int i = 0; i < CROWD_PARTS; i++) {
        long long word = atomic_exchange(&crowd->part[i].word, IS_EXACT);

        assert(!(word & IS_EXACT));
        found += word / ONE;
    }
    found += atomic_fetch_add(&crowd->exact, found - SPREAD) - SPREAD;
    assert(found > 0); /* the caller's own */
}

long long crowd_count(const struct crowd *crowd)
{
    long long count = atomic_load(&crowd->exact);

    assert(count < SPREAD / 2);
    return count;
}
