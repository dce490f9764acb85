/*
 * client/bulk.h - many operations, each by itself, from the inside: where each goes, and the rounds in which they are sent.
 *     bulk_place.c  keys, ranges, and which operation goes with which
 *     bulk.c        rounds: sent, taken, put off; the results as one answer
 * A round sends all operations that are not done yet. A request has up to a hundred operations of one range, and as many
 * requests run side by side as the client has connections. What a range puts off (429, 449), or has no longer (410), is
 * sent again in the next round.
 */
#pragma once
#include "client.h"

struct bulk_range {
    struct slice id, min, max;
};

struct bulk_entry {
    struct slice key, hash; /* hash: the effective partition key, in hexadecimal */
    struct json result;     /* undefined: not sent yet */
    bool is_done;           /* no further round */
    size_t range;
};

struct bulk_group { /* one request of a round */
    struct call *call;
    const size_t *numbers; /* of its operations */
    size_t count;
};

enum bulk_phase { BULK_RANGES, BULK_SEND, BULK_PAUSE };

struct bulk {
    struct bulk *next; /* in the client's list of those that nobody waits for */
    orrery_client *client;
    struct arena arena;
    const char *link;
    const struct operation *operations;
    size_t count;
    struct slice head; /* what the options make of a request's header */
    bool session_given;
    int timeout_ms; /* of each request */
    enum bulk_phase phase;
    struct bulk_entry *entries;
    struct bulk_range *ranges;
    size_t range_count;
    struct call *call; /* for the ranges */
    struct bulk_group *groups;
    size_t group_count, started, taken; /* of the round */
    double charge;
    int wait_ms, rounds;
    int waited_ms, idle_rounds; /* since an operation was done */
    size_t done_count;
    bool is_gone; /* a range was: they are read again */
    int64_t due_ms;
    orrery_done *done; /* NULL: somebody waits for it */
    void *context;
};

/* ---- bulk_place.c */
orrery_status bulk_find_keys(struct bulk *bulk);
orrery_status bulk_take_ranges(struct bulk *bulk, struct slice body);
orrery_status bulk_group(struct bulk *bulk); /* what is not done yet, by range */
