/* src/base/reserve.c - pieces of memory that nobody touches. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "base/reserve.h"

static struct {
    pthread_mutex_t mutex;
    unsigned holders, count; /* pieces that are here */
    void *piece[RESERVE_PIECES];
    atomic_bool broken;
} reserve = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Pages that nobody has written to are promised by the system, and take none of its memory. */
static bool fill(void)
{
    while (reserve.count < RESERVE_PIECES) {
        void *piece =
            mmap(NULL, RESERVE_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (piece == MAP_FAILED)
            return false;
        reserve.piece[reserve.count++] = piece;
    }
    atomic_store_explicit(&reserve.broken, false, memory_order_relaxed);
    return true;
}

static bool give_back_one(void)
{
    if (reserve.count == 0)
        return false;
    munmap(reserve.piece[--reserve.count], RESERVE_PIECE_BYTES);
    return true;
}

static void give_back_all(void)
{
    while (give_back_one())
        continue;
    atomic_store_explicit(&reserve.broken, false, memory_order_relaxed);
}

bool reserve_open(void)
{
    bool is_filled;

    pthread_mutex_lock(&reserve.mutex);
    is_filled = fill();
    if (is_filled)
        reserve.holders++;
    else if (reserve.holders == 0)
        give_back_all();
    pthread_mutex_unlock(&reserve.mutex);
    return is_filled;
}

void reserve_close(void)
{
    pthread_mutex_lock(&reserve.mutex);
    assert(reserve.holders > 0);
    if (--reserve.holders == 0)
        give_back_all();
    pthread_mutex_unlock(&reserve.mutex);
}

bool reserve_is_broken(void)
{
    return atomic_load_explicit(&reserve.broken, memory_order_relaxed);
}

bool reserve_is_whole(void)
{
    bool is_whole;

    if (!reserve_is_broken())
        return true;
    pthread_mutex_lock(&reserve.mutex);
    is_whole = reserve.holders == 0 || fill();
    pthread_mutex_unlock(&reserve.mutex);
    return is_whole;
}

bool reserve_spend(void)
{
    bool was_spent;

    pthread_mutex_lock(&reserve.mutex);
    was_spent = give_back_one();
    if (was_spent)
        atomic_store_explicit(&reserve.broken, true, memory_order_relaxed);
    pthread_mutex_unlock(&reserve.mutex);
    return was_spent;
}
