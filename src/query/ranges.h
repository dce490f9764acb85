/* src/query/ranges.h - which logical partitions a query can find anything in, from its filter. */
#pragma once
#include "keys/epk.h"
#include "query/tree.h"

struct query_options;

/* A container's partition key: the segments of each path. */
struct query_key {
    enum epk_version version;
    bool system; /* a container without a key of its own: an undefined key is the empty one */
    size_t path_count;
    struct {
        const struct slice *segment;
        size_t count;
    } path[PARTITION_KEY_PATHS_MAX];
};

enum { QUERY_POINTS_MAX = 8192 }; /* a filter that names more keys asks every partition */

/*
 * A point of a hierarchical key (EPK_MULTI) may lack the last levels: it then stands for every key
 * that begins with it.
 */
struct query_ranges {
    bool all;          /* no filter on the key: every partition */
    struct epk *point; /* otherwise these, in EPK order, none within another; none when nothing can match */
    size_t count;
};

/* The statement has been bound; `options` are those it was bound with. Never too narrow. */
enum status query_ranges(struct op *op, const struct select *select, const struct query_key *key,
                         const struct query_options *options, struct query_ranges *ranges);

/* Whether the point stands for the keys that begin with it. */
bool query_point_is_prefix(const struct query_key *key, const struct epk *point);
