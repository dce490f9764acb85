/*
 * src/resource/places.h - places in the logs of a container's buckets, as headers have them: 812, and 812,3,97 of a container of three
 * buckets, in their order.
 */
#pragma once
#include "catalog/catalog.h"

/* Whether the list has a place for each bucket. */
bool places_fit(struct slice list, const struct container *container);

/* The place at that index, from 0; of a list with a single one, that one. */
struct slice places_at(struct slice list, uint32_t index);

/* The part's place in a list that fits its container; a list that does not fit is meant for the part alone. */
struct slice places_of(struct slice list, const struct container *part);
