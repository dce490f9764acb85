/*
 * src/partition/expiry.h - when an item's time to live is over.
 * Nothing stores that moment. It follows from the item's last write and the container's definition of today, so that
 * a new default counts for every item at once. Everything in this folder that reads items passes over expired ones;
 * housekeeping/sweep.c removes them when there is time.
 */
#pragma once
#include "catalog/catalog.h"
#include "keys/record.h"

/* Milliseconds since 1970; INT64_MAX for never. */
int64_t item_expires_ms(const struct container *container, const struct record *item);

static inline bool item_is_expired(const struct container *container, const struct record *item,
                                   int64_t now_ms)
{
    return container->default_ttl != TTL_OFF && item_expires_ms(container, item) <= now_ms;
}
