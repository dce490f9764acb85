/* src/main/opened.c - store, catalog, ledger, locks, hints, housekeeping: opened in this order, closed in the other. */
#include <string.h>

#include "catalog/child.h"
#include "main/copy_store.h"
#include "main/opened.h"
#include "partition/recover.h"
#include "query/computed.h"

static enum status open_store(struct op *op, const struct opened_with *with, struct store **store)
{
    const struct settings *settings = with->settings;
    bool is_remote = !with->folder && settings_in_postgres(settings);
    struct store_options options = {
        .kind = with->folder ? STORE_ROCKSDB
                : is_remote  ? STORE_POSTGRES
                             : STORE_MEMORY,
        .directory = is_remote ? settings->store : with->folder,
        .sync = strcmp(settings->durability, "sync") == 0,
        .cache_bytes = with->folder ? (size_t)settings->cache_mb << 20 : 0,
        .threads = true,
        .entries = is_remote ? ENTRIES_PLAIN : ENTRIES_PACKED,
    };

    return store_open(op, &options, store);
}

/* Commits to a shared store take round trips, which those of several buckets share. */
static uint32_t buckets_of(const struct settings *settings)
{
    return (uint32_t)(settings->buckets || !settings_in_postgres(settings) ? settings->buckets : 1);
}

static struct housekeeping *open_housekeeping(const struct opened_with *with, const struct opened *opened)
{
    const struct settings *settings = with->settings;

    return housekeeping_open(&(struct housekeeping_options){
        .catalog = opened->catalog,
        .ledger = opened->ledger,
        .transactions_kept_ms = 3600 * 1000 * (int64_t)settings->transaction_hours,
        .retention_ms = 3600 * 1000 * (int64_t)settings->change_retention_hours,
        .range_bytes_max = (uint64_t)settings->range_mb << 20,
    });
}

enum status opened_open_over(struct op *op, const struct opened_with *with, struct store *store,
                             struct opened *opened)
{
    enum status st;

    *opened = (struct opened){ .store = store };
    TRY(catalog_open_with(op, store, computed_value, &opened->catalog));
    catalog_join_account(opened->catalog, with->account);
    catalog_divide(opened->catalog, buckets_of(with->settings));
    TRY(recover_index(op, opened->catalog));
    TRY(ledger_open(op, store, &opened->ledger));
    opened->locks = locks_open();
    opened->hints = hints_open();
    opened->housekeeping = open_housekeeping(with, opened);
out:
    if (st != ST_OK)
        opened_let_go(opened);
    return st;
}

enum status opened_open(struct op *op, const struct opened_with *with, struct opened *opened)
{
    struct store *store = NULL;
    enum status st;

    *opened = (struct opened){ 0 };
    TRY(open_store(op, with, &store));
    TRY(copy_is_whole(op, store));
    TRY(opened_open_over(op, with, store, opened));
out:
    if (st != ST_OK)
        store_close(store);
    return st;
}

struct store *opened_let_go(struct opened *opened)
{
    struct store *store = opened->store;

    housekeeping_close(opened->housekeeping);
    ledger_close(opened->ledger);
    catalog_close(opened->catalog);
    hints_close(opened->hints);
    locks_close(opened->locks);
    *opened = (struct opened){ 0 };
    return store;
}

void opened_abandon(struct opened *opened)
{
    store_abandon(opened_let_go(opened));
}

void opened_close(struct opened *opened)
{
    store_close(opened_let_go(opened));
}
