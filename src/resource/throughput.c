/* src/resource/throughput.c - which meters a request draws from, and whether they have something left. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/ranges.h"
#include "partition/key.h"
#include "resource/offer.h"
#include "resource/throughput.h"

/* --- whose throughput --- */

static uint64_t units_of(struct catalog *catalog, const struct rid *owner)
{
    struct child *offer = catalog_find_offer(catalog, owner);
    uint64_t units = offer ? throughput_of_offer(offer) : 0;

    child_release(offer);
    return units;
}

/* Each of several processes lets through its part. One unit is left, because none means that there is no offer. */
static uint64_t part_of(const struct catalog *catalog, uint64_t units)
{
    uint64_t part = units / catalog_peers(catalog);

    return units && !part ? 1 : part;
}

/* Offers are looked at again when one of them has changed. */
static uint64_t units_now(struct op *op, struct catalog *catalog, struct meter *meter,
                          const struct rid *owner, uint64_t otherwise)
{
    uint64_t version = catalog_offers_version(catalog), units;

    if (atomic_load_explicit(&meter->offers_seen, memory_order_acquire) == version)
        return atomic_load_explicit(&meter->units, memory_order_relaxed);
    units = part_of(catalog, units_of(catalog, owner));
    otherwise = part_of(catalog, otherwise);
    meter_set_units(meter, units ? units : otherwise, env_monotonic_us(op->env));
    atomic_store_explicit(&meter->offers_seen, version, memory_order_release);
    return units ? units : otherwise;
}

/* The container's own meter; or its database's, one for all that share it; or, without either, one with the least. */
static struct meter *meter_of(struct op *op, const struct call *call, bool *shared)
{
    struct container *container = call->container;
    struct catalog *catalog = call->service->catalog;
    struct database *database = container->database;
    bool pays_together = units_now(op, catalog, database->meter, &database->rid, 0) != 0;
    uint64_t own =
        units_now(op, catalog, container->meter, &container->rid, pays_together ? 0 : THROUGHPUT_MIN);

    *shared = own == 0;
    return own ? container->meter : database->meter;
}

/* `id` points into the container's table, so its position there is the range's place in the meter. */
static struct meter_place place_of(const struct container *container, const uint32_t *id, bool shared)
{
    const struct range_table *table = &container->ranges;

    if (shared)
        return (struct meter_place){ .count = 1 };
    assert(id >= table->id);
    assert(id < table->id + table->count);
    return (struct meter_place){ .index = (uint32_t)(id - table->id), .range = *id, .count = table->count };
}

/* --- which ranges --- */

/* The headers say it, the key before the range. What is wrong in them the operation refuses later. */
static struct range_ids ranges_asked_for(struct op *op, const struct call *call)
{
    const struct container *container = call->container;
    struct slice range = call_header(call, HEADER_PARTITION_KEY_RANGE_ID);
    struct slice key_text = call_header(call, HEADER_PARTITION_KEY);
    struct placed_key key;
    uint32_t index;
    bool present;

    if (container->ranges.count == 1)
        return ranges_all(container);
    if (partition_key_read(op, container, key_text, KEY_OF_QUERY, &key.values, &present) == ST_OK &&
        present) {
        partition_key_place(container, &key);
        return ranges_of_prefix(container, &key.epk);
    }
    if (range.data && range_parse(op, container, range, &index) == ST_OK)
        return range_at(container, index);
    return ranges_all(container);
}

/* --- refusing and paying --- */

/* In the service's words. */
static enum status refuse(struct op *op, const struct call *call, int64_t wait_us)
{
    assert(wait_us > 0);
    atomic_fetch_add_explicit(&call->container->meter->refused, 1, memory_order_relaxed);
    op->retry_after_ms = (wait_us + 999) / 1000;
    return op_fail(op, ST_TOO_MANY_REQUESTS,
                   "Request rate is large. More Request Units may be needed, so no changes were made. Please "
                   "retry this request later. Learn more: http://aka.ms/cosmosdb-error-429");
}

/* 0 when all ranges have something left; else the longest time that one of them makes the request wait. */
static int64_t wait_us(struct op *op, const struct call *call, struct range_ids ranges)
{
    int64_t now_us = env_monotonic_us(op->env), longest = 0;
    bool shared;
    struct meter *meter = meter_of(op, call, &shared);

    for (uint32_t i = 0; i < ranges.count; i++) {
        struct meter_place place = place_of(call->container, ranges.id + i, shared);
        int64_t turn = meter_wait_us(meter, &place, now_us) ? meter_turn_us(meter, &place, now_us) : 0;

        longest = turn > longest ? turn : longest;
    }
    return longest;
}

/* The ranges pay the charge in equal parts. */
static void pay(struct op *op, const struct call *call, struct range_ids ranges, double charge)
{
    int64_t now_us = env_monotonic_us(op->env);
    bool shared;
    struct meter *meter = meter_of(op, call, &shared);

    assert(ranges.count > 0); /* else nobody would pay */
    for (uint32_t i = 0; i < ranges.count; i++) {
        struct meter_place place = place_of(call->container, ranges.id + i, shared);

        meter_spend(meter, &place, charge / ranges.count, now_us);
    }
}

enum status throughput_enter(struct op *op, struct call *call)
{
    int64_t wait;

    if (!call->service->enforces_throughput || !call->container)
        return ST_OK;
    assert(call->pays.count == 0); /* a request enters once */
    call->pays = ranges_asked_for(op, call);
    wait = wait_us(op, call, call->pays);
    if (wait == 0)
        return ST_OK;
    call->pays.count = 0;
    return refuse(op, call, wait);
}

static void count_spent(const struct call *call, double charge)
{
    meter_note_spent(call->container->meter, (uint64_t)(charge * 100 + 0.5));
}

void throughput_leave(struct op *op, const struct call *call, double charge)
{
    if (!call->container)
        return;
    count_spent(call, charge);
    if (call->pays.count)
        pay(op, call, call->pays, charge);
}

enum status throughput_enter_part(struct op *op, const struct call *call, const struct epk *epk)
{
    int64_t wait;

    if (!call->service->enforces_throughput)
        return ST_OK;
    wait = wait_us(op, call, ranges_of_prefix(call->container, epk));
    return wait == 0 ? ST_OK : refuse(op, call, wait);
}

void throughput_leave_part(struct op *op, const struct call *call, const struct epk *epk, double charge)
{
    if (call->service->enforces_throughput)
        pay(op, call, ranges_of_prefix(call->container, epk), charge);
}

void throughput_pay_part(struct op *op, const struct call *call, const struct epk *epk, double charge)
{
    count_spent(call, charge);
    throughput_leave_part(op, call, epk, charge);
}
