/*
 * src/main/opened.h - what an engine has open: the store, and all that was made from what is in it.
 * It is replaced as a whole when the account goes back to an earlier moment (main/snapshots.h).
 *
 * Threads. One opens and closes it, when nobody uses it.
 */
#pragma once
#include "base/account.h"
#include "catalog/catalog.h"
#include "housekeeping/housekeeping.h"
#include "ledger/ledger.h"
#include "main/settings.h"
#include "partition/hints.h"
#include "partition/locks.h"

struct opened {
    struct store *store;
    struct catalog *catalog;
    struct ledger *ledger;
    struct locks *locks;
    struct hints *hints;
    struct housekeeping *housekeeping;
};

/* What it is opened with. */
struct opened_with {
    const struct settings *settings;
    struct account *account;
    const char *folder; /* of the store; NULL: it is in memory, or where the settings say */
};

/* After a failure nothing is open. */
enum status opened_open(struct op *op, const struct opened_with *with, struct opened *opened);

/* The same with a store that is open already. It is the caller's, and stays open, when this fails. */
enum status opened_open_over(struct op *op, const struct opened_with *with, struct store *store,
                             struct opened *opened);

/* All of it but the store, which is given back. */
struct store *opened_let_go(struct opened *opened);

/* Without writing out what is in memory: the data will be removed. */
void opened_abandon(struct opened *opened);

void opened_close(struct opened *opened); /* one that was never opened is all zero, and welcome */
