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

/*
 * Where the feeds of a container go on: of the latest versions, which is read up to the moment at which it began, and of all, which
 * is read from then on. 812, and 812,3,97 of a container of three buckets.
 */
struct place {
    struct text latest, began, all;
};

/* Of the new container, from when it was compared on: how many items it is to have, and has. */
struct balance {
    int64_t wanted, there;
    bool is_doubtful; /* an answer was lost */
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
    struct balance balance;

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

/* A page of the changes of a container, up to a moment, if it is not NULL; 304 leaves `response` without rows. A failure was told. */
enum feed { FEED_LATEST, FEED_ALL };
orrery_status feed_read(struct reshape *reshape, const struct text *link, enum feed feed, const char *where,
                        const char *until, orrery_response **response);

/* Without what encloses an etag. */
void feed_place(struct text *place, const char *etag);

/* The LSNs of all buckets as they were at one moment. False: it was told why not. */
bool feed_now(struct reshape *reshape, const struct text *link, enum feed feed, struct text *moment);
bool feed_is_several(const struct text *moment); /* buckets */

/* ---- reshape_rows.c ---- */

/* What becomes of one item. Its row is the item, or, if it is removed, may be what plan_identify() says of it. */
struct action {
    orrery_value row;
    size_t image; /* of which it was made */
    size_t last;  /* the last action of the same item */
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
    orrery_value key;   /* the paths of its partition key */
    bool is_others_too; /* what is to be removed may have been made by an item that stays */
    int64_t gained;     /* items, by what was written */
    bool is_doubtful;   /* an answer was lost: that may be wrong */
};

void actions_add(struct actions *actions, orrery_value row, bool removes);
orrery_value actions_parse(struct actions *actions, const char *text); /* undefined: it is no JSON */
void actions_keep(struct actions *actions, orrery_response *answer);
void actions_free(struct actions *actions);

/* The rows of items by the plan's query, if it has one. False: it was told why not. */
bool rows_map(struct reshape *reshape, const struct images *images, struct actions *actions);

/* For each item the last action counts. Likewise. */
bool rows_write(const struct reshape *reshape, struct target *target, struct actions *actions);

/* The same into the new container. `more`: so many items more are to be there then. Likewise. */
bool rows_write_new(struct reshape *reshape, int64_t more, bool is_others_too, struct actions *actions);

/* Pages of a feed. */
struct pages {
    orrery_response **page;
    size_t count;
};
void pages_add(struct pages *pages, orrery_response *page);
void pages_free(struct pages *pages);

/*
 * What the changes of some pages of that source make of the new container, if they are all that was changed between two moments.
 * Likewise.
 */
bool rows_take_over(struct reshape *reshape, size_t source, enum feed feed, const struct pages *pages);

/* The partition key of an item; false: it can have none. The texts are the item's. */
bool row_key(orrery_value paths, orrery_value row, struct key *key);

/* ---- reshape_others.c ---- */

/* Of removals that are the last of their items those are left to do that remove what the same actions have made. Likewise. */
bool others_spare(const struct reshape *reshape, const struct target *target, struct actions *actions);

/* ---- reshape_embed.c ---- */

/* Likewise, for a plan that embeds. */
bool embedded_take_over(struct reshape *reshape, size_t source, const struct images *images);

/* Whether wholes have what the sources had when they were followed last, and nothing else. False: it was told. */
bool embedded_verify(struct reshape *reshape);

/* Calls back with every row that the wholes make. Likewise. */
bool embedded_rows(struct reshape *reshape, bool (*take)(void *context, const char *row, size_t size),
                   void *context);

/* ---- reshape_verify.c ---- */

/*
 * Calls back with every row that a query of a source gave at the moment up to which it was followed. False: it was told, or the
 * callback said so.
 */
bool rows_as_of(struct reshape *reshape, size_t source, const char *sql,
                bool (*take)(void *context, const char *row, size_t size), void *context);

/* Compares every item that the old container's make, as of that moment, with the new one. False: it was told what differs. */
bool verify(struct reshape *reshape, uint64_t *rows);

/* Whether, with what was followed since, each item still has one of its own. Likewise. */
bool verify_balance(struct reshape *reshape);

/* But for what the service adds. */
bool rows_equal(orrery_value a, orrery_value b);
