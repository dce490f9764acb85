/*
 * src/packed/packed_private.h - what the packed index is made of, for packed.c, load.c, upkeep.c and packed_cursor.c
 * only.
 *
 * Locks, in the order in which they are taken.
 *     append_mutex  held by the calls that change a delta: append(), committed(), forget() and drop()
 *     work_mutex    held while a thread writes out, merges or removes runs, so that one does at a time
 *     mutex         guards what is named below it; never held over a call of the run space
 * settle_mutex is held over the write of a manifest, and by forget() and drop(). So a manifest never calls entries
 * settled that were forgotten. It is taken inside the first two, never together with `mutex`.
 */
#pragma once
#include <pthread.h>

#include "packed/layers.h"
#include "packed/manifest.h"
#include "packed/packed.h"
#include "packed/run_reader.h"

enum { DOUBTFUL_MAX = 64, READERS_IDLE_MAX = 8 };

struct dead_run {
    struct dead_run *next;
    uint64_t id;
};

struct packed {
    struct run_space *space;
    struct packed_options options;
    struct page_cache *pages; /* of all readers */

    pthread_mutex_t append_mutex;
    struct delta *active;       /* the same as in `layers` */
    bool has_uncommitted;       /* something was appended since the last committed() */
    pthread_cond_t group_ended; /* it no longer has */

    pthread_mutex_t work_mutex;
    struct op op, merge_op;
    uint64_t next_run;
    uint64_t doubtful[DOUBTFUL_MAX]; /* runs that a manifest may list whose write failed */
    size_t doubtful_count;

    pthread_mutex_t settle_mutex;
    uint64_t forgets;

    pthread_mutex_t mutex;
    struct packed_pin *layers;
    uint64_t *dropped_new; /* buckets whose pages in runs were not looked for yet */
    size_t dropped_new_count;
    bool is_surveyed;  /* the runs that were there when the store was opened */
    uint64_t *dropped; /* in order, since then: runs may still have entries of them */
    size_t dropped_capacity;
    atomic_size_t dropped_count;
    struct dead_run *dead;       /* runs that nobody reads, with rows still to be removed */
    struct packed_pin *unpinned; /* layers that a loop thread held last, and which are large to free */
    atomic_uint_least64_t merges;
    uint64_t failures; /* to write the sealed delta out */
    bool stopping;
    pthread_cond_t wanted; /* for the thread: there is something to do */
    pthread_cond_t ended;  /* the sealed delta is written out, or that has failed */
    bool has_work;

    bool is_running; /* the thread */
    pthread_t thread;

    pthread_mutex_t readers_mutex; /* taken alone */
    struct run_reader *readers;    /* that nobody uses; they have pages of late */
    size_t reader_count;
};

/* ---- packed.c ---- */

bool packed_is_dropped(struct packed *packed, uint64_t bucket);

/* A reader for one walk or count, with pages that were read lately; given back at its end. */
struct run_reader *packed_take_reader(struct packed *packed);
void packed_give_reader(struct packed *packed, struct run_reader *reader);

/* ---- load.c ---- */

/* Reads the manifest, opens its runs and removes others. */
enum status packed_load(struct op *op, struct packed *packed);

/* ---- upkeep.c ---- */

bool upkeep_start(struct packed *packed); /* false: no thread can be started */
void upkeep_stop(struct packed *packed);

/* The active delta becomes the sealed one, of which there must be none. Under append_mutex. */
void upkeep_seal(struct packed *packed);

/* Tells the thread of a sealed delta, or of a run that nobody reads any more. Without a thread the work is done here. */
void upkeep_wake(struct packed *packed);

/* Waits until the sealed delta, if there is one, was written out, or writing it has failed. Under append_mutex. */
enum status upkeep_wait(struct op *op, struct packed *packed);

void upkeep_run_gone(void *context, uint64_t id);

/* Layers that nobody holds any more: freed by the thread. */
void upkeep_free_later(struct packed *packed, struct packed_pin *layers);
void upkeep_free_unpinned(struct packed *packed);

enum status upkeep_remove_run(struct op *op, struct run_space *space, uint64_t id);

/* Called by the thread, or after it has ended and all readers have gone. */
void upkeep_remove_dead(struct packed *packed);
