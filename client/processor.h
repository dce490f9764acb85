/*
 * client/processor.h - a change feed processor from the inside.
 *     processor.c        opening, turns: which leases to take, whose feed to read, whom to hand changes to
 *     processor_lease.c  leases as documents: read, made, taken, renewed, moved on, given back
 *
 * A lease is a document in the form of the .NET and Java SDKs', one for each range of the container: who has it, since when,
 * and where the feed goes on. It is changed only with the ETag that was read, so that of two that want it one gets it. Whoever
 * has not renewed it for some time has lost it: another takes it, and goes on where the document says.
 */
#pragma once
#include "client.h"

struct lease {
    char *id, *token;   /* token: the range's id, or "min-max" */
    char *min, *max;    /* effective partition keys; NULL: an older SDK's lease, which does not say */
    char *owner;        /* NULL: nobody */
    char *continuation; /* where the feed goes on; NULL: where the options say */
    char *etag;
    char *text;          /* the document, for what we do not know of it */
    int64_t renewed_ms;  /* since 1970, by its owner's clock */
    int64_t poll_due_ms; /* monotonic */
    bool is_part;        /* of a range, by its keys */
};

struct orrery_processor {
    orrery_client *client;
    char *link, *lease_link, *prefix, *instance;
    orrery_processor_options options; /* texts are not looked at */
    struct lease *owned;
    size_t owned_count, owned_capacity;
    int64_t balance_due_ms; /* monotonic */
};

struct leases {
    struct lease *lease;
    size_t count, capacity;
};

void lease_free(struct lease *lease);
void leases_free(struct leases *leases);

/* All of this processor's, whoever has them. */
orrery_status leases_read(struct orrery_processor *processor, struct leases *leases);

/* The first processor makes the leases; others wait until it has. ORRERY_WAIT: another one is at it. */
orrery_status leases_make(struct orrery_processor *processor);

/* ORRERY_EBUSY: it is somebody else's now. */
orrery_status lease_take(struct orrery_processor *processor, struct lease *lease);
orrery_status lease_renew(struct orrery_processor *processor, struct lease *lease);
orrery_status lease_move(struct orrery_processor *processor, struct lease *lease, const char *continuation);
orrery_status lease_give_back(struct orrery_processor *processor, struct lease *lease);

/* Its range is gone: leases of the ranges that took its place are made, which go on where it was, and it is deleted. */
orrery_status lease_divide(struct orrery_processor *processor, const struct lease *lease);

/* The range that has all of the lease's keys; "": none has, it is divided. */
orrery_status lease_range(struct orrery_processor *processor, const struct lease *lease, char range[64]);
bool lease_has_expired(const struct orrery_processor *processor, const struct lease *lease);
