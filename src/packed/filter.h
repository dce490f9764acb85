/*
 * src/packed/filter.h - which terms a run may have: a Bloom filter in blocks of 64 bytes, about ten bits a term.
 * A term goes in by its path and its first value. A composite term has several values, and a search for its first
 * value alone can use the filter, too. A term whose first value is no ordered value does not go in, and nobody asks
 * for it.
 *
 * Threads. May be shared once it is filled.
 */
#pragma once
#include "base/op.h"

struct filter;

/* For so many terms at most. */
struct filter *filter_new(uint64_t terms);
struct filter *filter_from(struct slice bytes); /* NULL when these are none */
void filter_free(struct filter *filter);        /* NULL is welcome */

/* Whether all terms that begin so have their first value in common. `hash` is then of bucket, path and that value. */
bool filter_hash(uint64_t bucket, struct slice term, uint64_t *hash);

void filter_add(struct filter *filter, uint64_t hash);
bool filter_may_have(const struct filter *filter, uint64_t hash);

/* As small as the terms that went in allow. */
void filter_shrink(struct filter *filter);
struct slice filter_bytes(const struct filter *filter);
