/*
 * src/query/run/lead.h - who says which items may be on a sorted page, so that the others are not read: near.h by the
 * codes of vectors, fitting.h by the words of texts.
 *     while (lead->next(lead, &number, &count) == ST_OK && count)
 *         of these items, for each row that passes the filter: lead->saw(lead, what it is sorted by)
 *     lead->suffices(lead)     false: all items are to be looked at after all
 */
#pragma once
#include "base/op.h"
#include "query/value.h"

struct lead {
    enum status (*next)(struct lead *lead, const uint64_t **number, size_t *count); /* numbers rise */
    void (*saw)(struct lead *lead, struct value key);
    bool (*suffices)(const struct lead *lead);
};
