/*
 * src/catalog/meter.c - buckets of request units. A bucket is one number: the moment at which it was, or will be,
 * empty. At a rate of r the bucket holds r * (now - empty), but at most what comes in a second. Spending u units
 * moves that moment by u / r. So nobody has to fill buckets, and a bucket that nobody uses costs nothing.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "catalog/meter.h"

enum { SECOND_NS = 1000 * 1000 * 1000, BUCKETS_FIRST = 4, SPENT_PARTS = 16, SPENT_PART_BYTES = 64 };

/* No request is told to wait longer than this, unless units come later still: SDKs wait for 30 seconds in all. */
static const int64_t turn_ns_max = 5ll * SECOND_NS;

struct bucket_state {
    _Atomic int64_t empty_ns;
    _Atomic int64_t turn_ns; /* when the next request that is refused should come back, at the earliest */
    _Atomic uint32_t range;  /* the id of its range, plus one: a split moves the indexes of ranges */
};

/*
 * Readers hold no lock, so a list that has become too short stays until the meter is freed. All lists together are at
 * most twice as long as the last.
 */
struct meter_buckets {
    struct meter_buckets *shorter;
    uint32_t count;
    struct bucket_state bucket[];
};

/* A part for each of some threads. */
struct meter_spent {
    struct {
        _Atomic uint64_t hundredths;
        char apart[SPENT_PART_BYTES - sizeof(uint64_t)];
    } part[SPENT_PARTS];
};

struct meter *meter_new(void)
{
    struct meter *meter = heap_allocate(sizeof(*meter));

    pthread_mutex_init(&meter->changing, NULL);
    atomic_init(&meter->references, 1);
    return meter;
}

struct meter *meter_take(struct meter *meter)
{
    unsigned before = atomic_fetch_add(&meter->references, 1);

    assert(before > 0); /* who takes another reference has one */
    return meter;
}

void meter_release(struct meter *meter)
{
    struct meter_buckets *buckets;
    unsigned before;

    if (!meter)
        return;
    before = atomic_fetch_sub(&meter->references, 1);
    assert(before > 0);
    if (before > 1)
        return;
    buckets = atomic_load(&meter->buckets);
    while (buckets) {
        struct meter_buckets *shorter = buckets->shorter;

        free(buckets);
        buckets = shorter;
    }
    free(atomic_load(&meter->spent));
    pthread_mutex_destroy(&meter->changing);
    free(meter);
}

static struct meter_spent *spent_of(struct meter *meter)
{
    struct meter_spent *there = atomic_load_explicit(&meter->spent, memory_order_acquire), *made;

    if (there)
        return there;
    made = heap_allocate(sizeof(*made));
    if (atomic_compare_exchange_strong(&meter->spent, &there, made))
        return made;
    free(made);
    return there;
}

void meter_note_spent(struct meter *meter, uint64_t hundredths)
{
    atomic_fetch_add_explicit(&spent_of(meter)->part[thread_number() % SPENT_PARTS].hundredths, hundredths,
                              memory_order_relaxed);
}

uint64_t meter_spent(const struct meter *meter)
{
    const struct meter_spent *spent = atomic_load_explicit(&meter->spent, memory_order_acquire);
    uint64_t sum = 0;

    for (size_t i = 0; spent && i < SPENT_PARTS; i++)
        sum += atomic_load_explicit(&spent->part[i].hundredths, memory_order_relaxed);
    return sum;
}

/* A new bucket is full: it was empty at time 0, a long time ago. */
static struct meter_buckets *grow(struct meter *meter, uint32_t index)
{
    struct meter_buckets *now, *longer;
    uint32_t count = BUCKETS_FIRST;

    pthread_mutex_lock(&meter->changing);
    now = atomic_load(&meter->buckets);
    if (now && index < now->count)
        goto out;
    while (count <= index)
        count *= 2;
    assert(!now || count > now->count); /* a list only grows */
    longer = heap_allocate(sizeof(*longer) + count * sizeof(longer->bucket[0]));
    longer->count = count;
    longer->shorter = now;
    for (uint32_t i = 0; now && i < now->count; i++) {
        atomic_init(&longer->bucket[i].empty_ns, atomic_load(&now->bucket[i].empty_ns));
        atomic_init(&longer->bucket[i].turn_ns, atomic_load(&now->bucket[i].turn_ns));
        atomic_init(&longer->bucket[i].range, atomic_load(&now->bucket[i].range));
    }
    atomic_store(&meter->buckets, longer);
    now = longer;
out:
    pthread_mutex_unlock(&meter->changing);
    return now;
}

/*
 * When another range has taken over the index, its bucket begins anew: it does not owe what the range before it owed.
 */
static struct bucket_state *bucket_at(struct meter *meter, const struct meter_place *place)
{
    struct meter_buckets *buckets = atomic_load_explicit(&meter->buckets, memory_order_acquire);
    struct bucket_state *bucket;
    uint32_t owner;

    assert(place->index < place->count);
    if (!buckets || place->index >= buckets->count)
        buckets = grow(meter, place->index);
    assert(place->index < buckets->count);
    bucket = &buckets->bucket[place->index];
    owner = atomic_load_explicit(&bucket->range, memory_order_relaxed);
    if (owner != place->range + 1 &&
        atomic_compare_exchange_strong(&bucket->range, &owner, place->range + 1) && owner != 0)
        atomic_store(&bucket->empty_ns, 0);
    return bucket;
}

int64_t meter_wait_us(struct meter *meter, const struct meter_place *place, int64_t now_us)
{
    int64_t empty_ns = atomic_load_explicit(&bucket_at(meter, place)->empty_ns, memory_order_relaxed);
    int64_t owed_ns = empty_ns - now_us * 1000;

    return owed_ns > 0 ? (owed_ns + 999) / 1000 : 0;
}

/*
 * How long it takes until so many units have flowed in. When the offer was dropped since the request was let in,
 * there is no rate any more, and nobody waits.
 */
static int64_t pace_ns(const struct meter *meter, const struct meter_place *place, double units)
{
    uint64_t rate = atomic_load_explicit(&meter->units, memory_order_relaxed);

    if (rate == 0)
        return 0;
    return (int64_t)(units * place->count * SECOND_NS / (double)rate);
}

int64_t meter_turn_us(struct meter *meter, const struct meter_place *place, int64_t now_us)
{
    struct bucket_state *bucket = bucket_at(meter, place);
    int64_t now_ns = now_us * 1000, empty_ns = atomic_load(&bucket->empty_ns);
    int64_t turn_ns = atomic_load(&bucket->turn_ns), mine_ns, next_ns;
    uint64_t usual = atomic_load_explicit(&meter->usual_hundredths, memory_order_relaxed);

    do {
        mine_ns = turn_ns > empty_ns ? turn_ns : empty_ns;
        next_ns = mine_ns + pace_ns(meter, place, (double)usual / 100);
        if (next_ns > now_ns + turn_ns_max)
            next_ns = now_ns + turn_ns_max;
    } while (!atomic_compare_exchange_weak(&bucket->turn_ns, &turn_ns, next_ns));
    return mine_ns > now_ns ? (mine_ns - now_ns + 999) / 1000 : 0;
}

/* Concurrent requests may overwrite each other's figure. That does no harm: it is only an average. */
static void note_usual(struct meter *meter, double units)
{
    uint64_t usual = atomic_load_explicit(&meter->usual_hundredths, memory_order_relaxed);
    uint64_t latest = (uint64_t)(units * 100);

    atomic_store_explicit(&meter->usual_hundredths, usual ? (7 * usual + latest) / 8 : latest,
                          memory_order_relaxed);
}

void meter_spend(struct meter *meter, const struct meter_place *place, double units, int64_t now_us)
{
    struct bucket_state *bucket = bucket_at(meter, place);
    int64_t empty_ns = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);
    int64_t full_ns = now_us * 1000 - SECOND_NS, cost_ns = pace_ns(meter, place, units);

    assert(units >= 0); /* what was spent does not come back */
    note_usual(meter, units);
    while (!atomic_compare_exchange_weak(&bucket->empty_ns, &empty_ns,
                                         (empty_ns > full_ns ? empty_ns : full_ns) + cost_ns))
        ;
}

/* The time that is owed becomes shorter when the rate becomes higher. */
static void rescale(struct bucket_state *bucket, double factor, int64_t now_ns)
{
    int64_t empty_ns = atomic_load(&bucket->empty_ns);

    atomic_store(&bucket->turn_ns, 0);
    while (empty_ns > now_ns &&
           !atomic_compare_exchange_weak(&bucket->empty_ns, &empty_ns,
                                         now_ns + (int64_t)((double)(empty_ns - now_ns) * factor)))
        ;
}

void meter_set_units(struct meter *meter, uint64_t units, int64_t now_us)
{
    struct meter_buckets *buckets;
    uint64_t before;

    pthread_mutex_lock(&meter->changing);
    buckets = atomic_load(&meter->buckets);
    before = atomic_exchange(&meter->units, units);
    for (uint32_t i = 0; buckets && before && units && before != units && i < buckets->count; i++)
        rescale(&buckets->bucket[i], (double)before / (double)units, now_us * 1000);
    pthread_mutex_unlock(&meter->changing);
}
