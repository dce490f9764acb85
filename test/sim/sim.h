/*
 * test/sim/sim.h - one seed: a world, the model of it, and what clients are in the middle of.
 * Everything that happens follows from the seed: what is asked, when the clock jumps, what fails.
 */
#pragma once
#include <stdio.h>

#include "model.h"
#include "world.h"

enum { CURSORS = 3, TRACE_LINES = 24, TRACE_BYTES = 200, CONTINUATION_MAX = 4096 };

enum cursor_kind { CURSOR_LIST, CURSOR_FILTER, CURSOR_SORTED, CURSOR_KINDS };

/* A list or a query that a client reads page by page, while others write. */
struct cursor {
    bool active;
    enum cursor_kind kind;
    int box, key;                         /* key -1: all */
    int least;                            /* of n, in a filter */
    uint64_t began;                       /* model.changes then */
    bool was[KEYS][IDS], seen[KEYS][IDS]; /* there when it began; in a page so far */
    int last_n;                           /* of the last row of a sorted one */
    char continuation[CONTINUATION_MAX];  /* "": the first page comes next */
};

enum { BUNDLE_MAX = 5 };

/* An atomic batch: all about one key of one container. */
struct bundle {
    struct plan plan[BUNDLE_MAX];
    int count;
};

/* A write of which nobody knows whether it took place. */
struct doubt {
    enum {
        DOUBT_NONE,
        DOUBT_ITEM,
        DOUBT_FILE,
        DOUBT_BATCH,
        DOUBT_CLEAR,
        DOUBT_MADE,
        DOUBT_DROPPED,
        DOUBT_TTL
    } about;
    struct plan plan;     /* of an item */
    struct errand errand; /* of an attachment */
    struct bundle bundle; /* of a batch */
    int box, key;
    bool unique;
    int default_ttl;
    bool promised_not; /* the answer said that the same request may be sent again */
    int64_t now_ms;
};

/* What a run has met: a simulation in which nothing goes wrong proves little. */
struct tally {
    uint64_t requests, interruptions, conflicts, cuts, starts_cut, refusals, took_place, did_not, expired;
    uint64_t entries;
};

struct sim {
    uint64_t seed, random;
    struct tally tally;
    struct world world;
    struct model model;
    struct cursor cursor[CURSORS];
    struct doubt doubt;
    struct plan last; /* request for an item */

    /* A request that is interrupted by another: what the model was before that. */
    bool interrupted, may_fail;
    struct model before;
    const struct plan
        *outer;    /* what is interrupted, if it is about a key; its item is locked, id -1: none is */
    bool sweeping; /* housekeeping is what is interrupted */

    bool failed;
    char why[400];
    char trace[TRACE_LINES][TRACE_BYTES];
    uint64_t traced;
    uint64_t digest; /* of every line of the trace: equal runs have equal ones */
};

/* sim.c */
void sim_run(struct sim *sim, uint64_t seed, int steps);
uint64_t sim_random(struct sim *sim, uint64_t below);
bool sim_chance(struct sim *sim, unsigned percent);
int64_t sim_now(struct sim *sim);
__attribute__((format(printf, 2, 3))) void sim_trace(struct sim *sim, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void sim_fail(struct sim *sim, const char *fmt, ...);

/* answer.c - what an answer says, and whether it is the model's item. */
extern const char *const key_texts[KEYS];
/* An item as an answer tells it. */
struct told {
    int key, id;
    struct doc doc;
    int64_t ts;
    char etag[TEXT_MAX], rid[TEXT_MAX];
};
bool row_read(struct exchange *exchange, struct json json, struct told *row); /* false: no item of ours */
bool row_is_item(const struct model *model, int box, const struct told *row, int64_t now_ms);
void answer_session(struct sim *sim, int box, struct exchange *exchange);

/* item.c - one item: asked for, compared, taken up. */
void item_act(struct sim *sim);
void item_interrupt(struct sim *sim);
void item_settle(struct sim *sim, const struct doubt *doubt);
struct exchange *item_read(struct sim *sim, int box, int key, int id);
void item_verify(struct sim *sim, int box, int key, int id); /* a read, of whose answer there is no doubt */

/* Its parts, for batches. */
struct plan item_plan(struct sim *sim);
void item_print_body(char *body, size_t size, const struct plan *plan);
void item_trace(struct sim *sim, const char *prefix, const struct plan *plan, int status);
/* Whether this is what an operation with that outcome tells of the item; `row` then has what it told. */
bool item_fits(const struct model *model, const struct plan *plan, const struct outcome *outcome,
               struct exchange *exchange, struct json body, struct json etag, struct told *row);

/* batch.c - several of them at once. */
void batch_act(struct sim *sim);
void batch_settle(struct sim *sim, const struct doubt *doubt);

/* file.c - attachments, with media. */
void file_act(struct sim *sim);
void file_settle(struct sim *sim, const struct doubt *doubt);
void file_verify(struct sim *sim, int box, int key, int id); /* all of an item's, and their media */

/* page.c - lists and queries by the page. */
void page_act(struct sim *sim);
void page_count(struct sim *sim);
void page_verify(struct sim *sim, int box); /* the whole container at once */

/* box.c - containers, and logical partitions deleted whole. */
void box_make(struct sim *sim);
void box_drop(struct sim *sim);
void box_ttl(struct sim *sim);
void box_read(struct sim *sim);
void box_clear(struct sim *sim);
void box_settle(struct sim *sim, const struct doubt *doubt);
void box_path(char *path, size_t size, int box, const char *rest);

/* fault.c - failing calls, power cuts, interruptions; and what is true of the bytes at rest. */
/* So many of a hundred times another request comes between, so many a call fails. */
void fault_arm(struct sim *sim, unsigned interrupted, unsigned fails);
void fault_disarm(struct sim *sim);
bool fault_doubts(struct sim *sim, struct exchange *exchange,
                  struct doubt doubt); /* true: it is in doubt now */
void fault_check_rows(struct sim *sim);
