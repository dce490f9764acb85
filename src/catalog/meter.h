/*
 * src/catalog/meter.h - what a container may spend in request units a second, and what it has spent.
 * There is a bucket for each of its partition key ranges. Units flow into it at the range's part of the
 * throughput, and it holds those of one second. A request that finds it empty is refused; one that does not
 * may take more than there is, and those after it wait for longer. All versions of a container's definition
 * share one of these; a database has one for its containers without throughput of their own.
 *
 * Threads. Any. Asking is a few loads, spending an atomic exchange.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Which bucket: the range's place among those of its container, its id, and how many share the throughput. */
struct meter_place {
    uint32_t index, range, count;
};

struct meter {
    _Atomic uint64_t spent_hundredths; /* request units since the start */
    _Atomic uint64_t refused;          /* requests since the start */
    _Atomic uint64_t units;            /* a second, of all ranges together; 0: there is no offer */
    _Atomic uint64_t usual_hundredths; /* what a request costs, on the average of the last ones */
    _Atomic uint64_t offers_seen;      /* the version of the catalog's offers that `units` is from */

    /* Private to meter.c. */
    pthread_mutex_t changing;
    struct meter_buckets *_Atomic buckets; /* made when first asked for */
    atomic_uint references;
};

struct meter *meter_new(void);
struct meter *meter_take(struct meter *meter);
void meter_release(struct meter *meter); /* NULL is welcome */

/* From now on; what is owed is paid at the new pace. */
void meter_set_units(struct meter *meter, uint64_t units, int64_t now_us);

/* 0 when a request may go on, else the microseconds after which one may. */
int64_t meter_wait_us(struct meter *meter, const struct meter_place *place, int64_t now_us);

/*
 * For a request that may not go on: the microseconds after which it should come back. Each that asks is given a
 * later turn, because of a hundred that come back at once ninety-nine would come in vain, and clients give up.
 */
int64_t meter_turn_us(struct meter *meter, const struct meter_place *place, int64_t now_us);
void meter_spend(struct meter *meter, const struct meter_place *place, double units, int64_t now_us);
