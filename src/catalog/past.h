/*
 * src/catalog/past.h - how far the containers got that were dropped, by name.
 * A container that is made anew under an old name begins above the old one's LSN. A client that still has a session
 * token of the old one can then read the new one: no token of the past is ahead of it.
 *
 * The last PAST_NAMES_MAX names are known. Of older ones only the largest LSN is, above which every other name begins.
 */
#pragma once
#include "base/op.h"

enum { PAST_NAMES_MAX = 4096 };

struct past {
    uint64_t floor_lsn; /* no container whose name is forgotten was above it */
    size_t count;
    struct past_name {
        uint64_t name, lsn;
    } known[PAST_NAMES_MAX]; /* the earliest dropped first */
};

/* What stands for a container's link. Two links of one name share their past, which does no harm. */
uint64_t past_name(struct slice link);

void past_note(struct past *past, uint64_t name, uint64_t lsn);

/* The LSN above which a container of that name begins. */
uint64_t past_lsn(const struct past *past, uint64_t name);

/* As the store keeps it, in the op's arena. An absent value, data NULL, is an empty past. */
struct slice past_encode(struct op *op, const struct past *past);
enum status past_decode(struct op *op, struct slice value, struct past *past);
