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
    orrery_diagnostics *diagnostics;
    int64_t deadline_ms; /* nothing is sent later, and all must have come back; 0: there is none */
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

/* ---- bulk.c */

/* A bulk over operations of one container, of which nothing is sent yet; NULL: the client was told why. */
orrery_status bulk_new(orrery_client *client, const char *link, const struct operation *operations,
                       size_t count, const orrery_options *options, struct bulk **bulk);
void bulk_free(struct bulk *bulk);

/* Goes on as far as it can. ORRERY_WAIT: it has not come to its end. ORRERY_OK: there is a result for each operation. */
orrery_status bulk_step(struct bulk *bulk);
int64_t bulk_left_ms(
    const struct bulk *bulk); /* until it must be looked at, whatever comes; -1: only if something comes */

/* Operations that were not sent when the bulk had to stop fail for the same reason. */
orrery_status bulk_fill_in(struct bulk *bulk, orrery_status why);

/* What became of many operations, in their order. */
struct bulk_outcome {
    orrery_client *client;
    struct json *results;
    size_t count;
    double charge;
    int rounds;
};

orrery_status bulk_join(const struct bulk_outcome *outcome, orrery_response **response);

/* ---- bulk_routed.c: a database's link, whose resolver says where each document goes */
orrery_status bulk_run_routed(orrery_client *client, const char *link, const orrery_batch *batch,
                              const orrery_options *options, orrery_response **response);

/* ---- bulk_place.c */
orrery_status bulk_find_keys(struct bulk *bulk);
orrery_status bulk_take_ranges(struct bulk *bulk, struct slice body);
orrery_status bulk_group(struct bulk *bulk); /* what is not done yet, by range */
