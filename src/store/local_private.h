/*
 * src/store/store_private.h - what a store and a snapshot are made of, for store.c and those that keep entries only.
 */
#pragma once
#include <pthread.h>

#include "packed/packed.h"
#include "store/committer.h"

struct store {
    struct backend *backend;
    struct env *env;
    struct packed *packed; /* NULL: entries are plain keys */
    struct committer *committer;
    bool read_only, keeps_entries;
    pthread_rwlock_t lock; /* guards the table of buckets, not the buckets */
    struct bucket **chains;
    size_t chain_count, bucket_count; /* the former a power of two */
    uint64_t bytes_seen;              /* by store_upkeep(), whose thread alone has these two */
    uint64_t quiet_calls;             /* of it, in a row */
};

struct snapshot {
    struct bucket *bucket;
    struct backend_snapshot *taken;
    struct packed_pin *pin; /* NULL: entries are plain keys */
    struct head head;       /* once has_head */
    bool has_head;
};
