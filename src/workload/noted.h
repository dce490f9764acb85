/*
 * src/workload/noted.h - what an operation notes of itself while it runs, for the record of the workload.
 * op->noted is NULL where nothing is recorded, and every call here then does nothing. Who has the operation run makes it, and
 * hands it to workload_note() when the operation has ended.
 *
 * Ownership. It lies in the op's arena, all but further actions and the paths of any: noted_end() gives these back.
 * Threads. Those of its operation, one at a time.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"
#include "keys/epk.h"

struct query_outline;

/* In the order of enum action_kind as far as both have the same. */
enum work_kind {
    WORK_CREATE,
    WORK_UPSERT,
    WORK_READ,
    WORK_REPLACE,
    WORK_PATCH,
    WORK_DELETE,
    WORK_QUERY,
    WORK_LIST,
    WORK_FEED, /* changes */
    WORK_SCRIPT,
    WORK_KINDS
};
extern const char *const work_kind_names[WORK_KINDS];

enum { NOTED_ACTIONS_MAX = 128, NOTED_KEY_BYTES = 96, NOTED_PATHS_BYTES = 400, NOTED_PATHS_MAX = 12 };

/* A partition key as JSON text: ["ada"]. The end of a long one is a hash of it. */
struct noted_key {
    uint8_t size; /* 0: none */
    char text[NOTED_KEY_BYTES];
};

/* One action on an item. */
struct noted_action {
    enum work_kind kind;
    bool was_there; /* of an upsert: it replaced */
    uint16_t path_count, paths_size;
    char *
        paths; /* that it changed, each with a 0 behind it: /name, /lines/[]/sum; "" is the item; NULL: none yet */
    struct noted_key key;
};

struct noted_query {
    const struct query_outline *outline; /* NULL: it was no query */
    struct slice text;                   /* as it came */
    struct json parameters;
    bool names_key; /* its filter or its header names the partition key */
    bool is_first;  /* not a further page, and not a further range of one that was asked before */
    uint64_t rows;
};

struct noted {
    struct noted_key key; /* that the request names */
    struct noted_query query;
    struct noted_action first, *more; /* actions on items; the list is on the heap */
    size_t count, capacity;
};

/* Once, in memory that has anything in it. */
void noted_init(struct noted *noted);

/* Before an attempt: what an earlier one noted is forgotten. */
void noted_begin(struct noted *noted);
void noted_end(struct noted *noted);

void noted_name_key(struct op *op, const struct partition_key *key);

/* An action has been taken. `before` and `after` are the item's documents, undefined where there is none. */
void noted_act(struct op *op, enum work_kind kind, const struct partition_key *key, struct json before,
               struct json after);

/* How many actions there are, and back to as many: an attempt that failed is done anew. */
size_t noted_mark(const struct op *op);
void noted_rewind(struct op *op, size_t count);

void noted_ask(struct op *op, const struct noted_query *query);
void noted_rows(struct op *op, uint64_t rows);

const struct noted_action *noted_action(const struct noted *noted, size_t index);
