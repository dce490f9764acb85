/* cli/reshape_private.h - one container that is reshaped: where it is, how far it came. For reshape*.c. */
#pragma once
#include "connect.h"
#include "embed.h"
#include "plan.h"
#include "text.h"

#define RESHAPE_STATES "orrery-reshape"
#define RESHAPE_SUFFIX "-reshaped"
#define RESHAPE_PARTS "-parts" /* while it is made: owners with what is embedded in them */

enum reshape_phase { PHASE_BEGIN, PHASE_COPY, PHASE_FOLLOW, PHASE_DONE, PHASES };

/* Where the feeds of a container go on: of the latest versions, and of all. */
struct place {
    struct text latest, all;
};

struct reshape {
    const struct cli *cli;
    const char *name; /* of the container */
    struct text
        database; /* links: of the database, of the container, of the new one, of what is kept of this */
    struct text from, to, states;
    struct text parts; /* likewise, of the container that wholes are kept in */
    struct embeds embeds;
    struct source source[SOURCES_MAX]; /* the container itself, and those that are embedded in it */
    size_t source_count;
    orrery_value plan;
    bool any_plan;           /* what is kept may be of another one */
    const char *mapping;     /* NULL: items stay as they are */
    orrery_json *definition; /* of the new one */
    orrery_value key;        /* the paths of its partition key */
    uint64_t items, changes; /* that were taken over in this run */

    /* What is kept. */
    bool is_kept; /* there was something */
    enum reshape_phase phase;
    struct text of, made; /* the rids of the two containers, as they were when it began */
    struct text parts_made;
    struct place place[SOURCES_MAX];
    struct text etag; /* of the item that it is kept in */
};

/* ---- reshape_state.c. Each tells its failure. ---- */

bool state_read(struct reshape *reshape);

/* Whoever has written it last is at work. False: somebody else is by now, or it cannot be written. */
bool state_write(struct reshape *reshape);

/* The container that states are kept in goes with the last of them. */
bool state_remove(struct reshape *reshape);

/* ---- reshape_feed.c ---- */

/* A page of the changes of a source; 304 leaves `response` without rows. */
enum feed { FEED_LATEST, FEED_ALL };
orrery_status feed_read(struct reshape *reshape, const struct source *source, enum feed feed,
                        const struct text *where, orrery_response **response);
uint64_t feed_lsn(const struct text *where); /* up to which everything was looked at */

/* ---- reshape_rows.c ---- */

/* What becomes of one item. Its row is the item, or, if it is removed, may be what plan_identify() says of it. */
struct action {
    orrery_value row;
    size_t image; /* of which it was made */
    bool removes;
    bool is_done;
};

/* Rows lie in answers and texts, which live as long as the list. */
struct actions {
    struct action *action;
    size_t count, room;
    orrery_response **answer;
    size_t answer_count;
    orrery_json **json;
    size_t json_count;
};

/* A container that is written to. */
struct target {
    const char *link;
    orrery_value key; /* the paths of its partition key */
};

void actions_add(struct actions *actions, orrery_value row, bool removes);
orrery_value actions_parse(struct actions *actions, const char *text); /* undefined: it is no JSON */
void actions_free(struct actions *actions);

/* The rows of items by the plan's query, if it has one. False: it was told why not. */
bool rows_map(struct reshape *reshape, const struct images *images, struct actions *actions);

/* For each item the last action counts. Likewise. */
bool rows_write(const struct reshape *reshape, const struct target *target, struct actions *actions);

/* What the changes of a page of that source make of the new container. Likewise. */
bool rows_take_over(struct reshape *reshape, size_t source, enum feed feed, orrery_value changes);

/* The partition key of an item; false: it can have none. The texts are the item's. */
bool row_key(orrery_value paths, orrery_value row, struct key *key);

/* ---- reshape_embed.c ---- */

/* Likewise, for a plan that embeds. */
bool embedded_take_over(struct reshape *reshape, size_t source, const struct images *images);

/* Whether wholes have what the sources had at these LSNs, and nothing else. False: it was told. */
bool embedded_verify(struct reshape *reshape, const uint64_t lsn[SOURCES_MAX]);

/* Calls back with every row that the wholes make. Likewise. */
bool embedded_rows(struct reshape *reshape, bool (*take)(void *context, const char *row, size_t size),
                   void *context);

/* ---- reshape_verify.c ---- */

struct rows_asked {
    const char *link, *sql;
    uint64_t lsn;
};

/* Calls back with every row that a query of a container gave at an LSN. False: it was told, or the callback said so. */
bool rows_as_of(struct reshape *reshape, const struct rows_asked *asked,
                bool (*take)(void *context, const char *row, size_t size), void *context);

/* Compares every item that the old container's make, as of these LSNs, with the new one. False: it was told what differs. */
bool verify(struct reshape *reshape, const uint64_t lsn[SOURCES_MAX], uint64_t *rows);
