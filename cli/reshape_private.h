/* cli/reshape_private.h - one container that is reshaped: where it is, how far it came. For reshape*.c. */
#pragma once
#include "connect.h"
#include "plan.h"
#include "text.h"

#define RESHAPE_STATES "orrery-reshape"
#define RESHAPE_SUFFIX "-reshaped"

enum reshape_phase { PHASE_BEGIN, PHASE_COPY, PHASE_FOLLOW, PHASE_DONE, PHASES };

struct reshape {
    const struct cli *cli;
    const char *name; /* of the container */
    struct text
        database; /* links: of the database, of the container, of the new one, of what is kept of this */
    struct text from, to, states;
    orrery_value plan;
    bool any_plan;           /* what is kept may be of another one */
    const char *mapping;     /* NULL: items stay as they are */
    orrery_json *definition; /* of the new one */
    orrery_value key;        /* the paths of its partition key */
    uint64_t items, changes; /* that were taken over in this run */

    /* What is kept. */
    bool is_kept; /* there was something */
    enum reshape_phase phase;
    struct text of, made;    /* the rids of the two containers, as they were when it began */
    struct text latest, all; /* where the feeds go on: of the latest versions, and of all */
    struct text etag;        /* of the item that it is kept in */
};

/* ---- reshape_state.c. Each tells its failure. ---- */

bool state_read(struct reshape *reshape);

/* Whoever has written it last is at work. False: somebody else is by now, or it cannot be written. */
bool state_write(struct reshape *reshape);

/* The container that states are kept in goes with the last of them. */
bool state_remove(struct reshape *reshape);

/* ---- reshape_feed.c ---- */

/* A page of changes; 304 leaves `response` without rows. `where` moves on. */
enum feed { FEED_LATEST, FEED_ALL };
orrery_status feed_read(struct reshape *reshape, enum feed feed, const struct text *where,
                        orrery_response **response);
uint64_t feed_lsn(const struct text *where); /* up to which everything was looked at */

/* ---- reshape_rows.c ---- */

/* What the changes of a page make of the new container: for each of its items the last one of them counts. */
bool rows_take_over(struct reshape *reshape, enum feed feed, orrery_value changes);

/* The partition key of an item of the new container; false: it can have none. The texts are the item's. */
bool row_key(const struct reshape *reshape, orrery_value row, struct key *key);

/* ---- reshape_verify.c ---- */

/* Compares every item that the old container's make, as of that LSN, with the new one. False: it was told what differs. */
bool verify(struct reshape *reshape, uint64_t lsn, uint64_t *rows);
