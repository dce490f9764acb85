/*
 * test/rig.h - a store in memory, a catalog and locks: what tests above the store work on.
 * Nothing fails until a test says so in `controls` (test/store/faulty.h).
 *
 * Ownership. The containers of rig_container() and the database they lie in are the rig's, until
 *     rig_reopen() or rig_close().
 */
#pragma once
#include "base/exchange.h"
#include "catalog/catalog.h"
#include "housekeeping/reindex.h"
#include "housekeeping/sweep.h"
#include "housekeeping/trim.h"
#include "ledger/ledger.h"
#include "partition/locks.h"
#include "store/faulty.h"
#include "test.h"

enum { RIG_CONTAINERS_MAX = 8 };

struct rig {
    struct op *op;
    bool threads;
    enum entries_kept entries; /* packed with little memory; a test may change it before it reopens */
    struct faulty_controls controls;
    struct backend *memory;  /* outlives the stores that are opened over it */
    struct backend_ops kept; /* its own calls, but that a store cannot close it */
    void (*close_memory)(struct backend *backend);
    struct store *store;
    struct catalog *catalog;
    struct ledger *ledger;
    struct locks *locks;
    struct sweep *sweep; /* these three when they were first asked for, until the catalog is closed */
    struct reindex *reindex;
    struct trim *trim;
    struct database *database; /* "db" */
    struct container *made[RIG_CONTAINERS_MAX];
    size_t made_count;
};

void rig_open(struct rig *rig, bool threads);
void rig_open_with(struct rig *rig, bool threads, enum entries_kept entries);
void rig_close(struct rig *rig);

/* As after a restart of the process: everything is opened anew over the same bytes. */
void rig_reopen(struct rig *rig);

/* The same after a crash: what the index has in memory only is lost, and made again. */
void rig_crash(struct rig *rig);

/* As rig_reopen(), leaving the catalog to the test. */
void rig_reopen_store(struct rig *rig);

/* A container of the database "db"; the definition may leave everything but its id and key out. */
struct container *rig_container(struct rig *rig, const char *definition);

/* The container as it is after its definition was replaced; `old` stays the rig's too. */
struct container *rig_redefine(struct rig *rig, struct container *old, const char *definition);

/* The chores of housekeeping, over the rig's catalog. */
enum status rig_sweep(struct rig *rig, uint64_t *removed);
enum status rig_reindex(struct rig *rig);
enum status rig_trim(struct rig *rig, int64_t retention_ms);

/* Moves the clock, for the rig's own operation too. */
void rig_advance_ms(struct rig *rig, int64_t ms);

/* Parsed. Apostrophes stand for double quotes: {'id':'a'} */
struct json rig_json(struct op *op, const char *text);
struct slice rig_quoted(struct op *op, const char *text);

/* An answer's header, data NULL when it has none; its body, undefined and a failure when it is no JSON. */
struct slice rig_header(struct op *op, const struct answer *answer, const char *name);
struct json rig_body(struct op *op, const struct answer *answer);

/* Two headers of one name in an answer, or half of one, are a failure of the test. */
void rig_check_head(const struct answer *answer);

/* How many rows the store has under a bucket. */
size_t rig_rows(struct rig *rig, uint64_t bucket);
