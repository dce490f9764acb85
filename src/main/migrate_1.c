/*
 * src/main/migrate_1.c - from format 1, without an index, to 2.
 * The server indexes the items while it runs, and until it is done queries go without the index. This step only notes
 * where that begins. Without the note the first start would read the whole change log, and find no entries in it.
 */
#include <unistd.h>

#include "catalog/catalog.h"
#include "main/directory.h"
#include "partition/recover.h"
#include "store/store.h"

enum status migrate_from_1(struct op *op, const struct directory *directory)
{
    struct store_options options = { .kind = STORE_ROCKSDB,
                                     .directory = directory->store,
                                     .sync = true,
                                     .cache_bytes = 64 << 20,
                                     .entries = ENTRIES_PACKED };
    struct catalog *catalog = NULL;
    struct store *store = NULL;
    enum status st = ST_OK;

    if (access(directory->store, F_OK) != 0) /* it was made and never served */
        goto out;
    TRY(store_open(op, &options, &store));
    TRY(catalog_open(op, store, &catalog));
    TRY(recover_begin(op, catalog));
out:
    catalog_close(catalog);
    store_close(store);
    return st;
}
