/*
 * src/catalog/meter.h - what a container may spend in request units a second, and what it has spent.
 * There is a bucket for each of its partition key ranges. Units flow into a bucket at the range's part of the
 * throughput, and the bucket holds at most the units of one second. A request that finds the bucket empty is refused.
 * A request that finds units may take more than there are, and later requests wait longer for it. All versions of a
 * container's definition share one meter; a database has one for its containers without throughput of their own.
 *
 * Threads. Any. Asking is a few loads, spending an atomic exchange.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* Which bucket: the range's index in its container, the range's id, and how many ranges share the throughput. */
struct meter_place {
    uint32_t index, range, count;
};

struct meter {
    _Atomic uint64_t refused;          /* requests since the start */
    _Atomic uint64_t units;            /* a second, of all ranges together; 0: there is no offer */
    _Atomic uint64_t usual_hundredths; /* the average cost of the last requests */
    _Atomic uint64_t offers_seen;      /* the version of the catalog's offers that `units` is from */
    _Atomic int64_t held_until_us;     /* writes are to come back then; on the monotonic clock */

    /* Private to meter.c. */
    pthread_mutex_t changing;
    struct meter_buckets *_Atomic buckets; /* made when first asked for */
    struct meter_spent *_Atomic spent;     /* likewise */
    atomic_uint references;
};

struct meter *meter_new(void);
struct meter *meter_take(struct meter *meter);
void meter_release(struct meter *meter); /* NULL is welcome */

/* Request units since the start, in hundredths. Threads that note some write nothing in common. */
void meter_note_spent(struct meter *meter, uint64_t hundredths);
uint64_t meter_spent(const struct meter *meter);

/* Sets the throughput from now on. Units that are owed flow in at the new pace. */
void meter_set_units(struct meter *meter, uint64_t units, int64_t now_us);

/* 0 when a request may go on, else the microseconds after which one may. */
int64_t meter_wait_us(struct meter *meter, const struct meter_place *place, int64_t now_us);

/*
 * For a request that is refused: the microseconds after which it should come back. Every call gives a later turn. If
 * a hundred clients came back at the same moment, ninety-nine would be refused again, and clients give up after some
 * tries.
 */
int64_t meter_turn_us(struct meter *meter, const struct meter_place *place, int64_t now_us);
void meter_spend(struct meter *meter, const struct meter_place *place, double units, int64_t now_us);
