/* src/main/place.c - a data directory or a database is opened, for a command. */
#include "main/place.h"
#include "main/settings.h"

static enum status open_store(struct op *op, struct place *place, enum place_use use)
{
    struct store_options options = {
        .kind = place->is_database ? STORE_POSTGRES : STORE_ROCKSDB,
        .directory = place->is_database ? place->where : place->directory.store,
        .sync = true,
        .cache_bytes = place->is_database ? 0 : 64 << 20,
        .read_only = use == PLACE_READ,
        .apart = use == PLACE_LOAD,
        .threads = use == PLACE_INDEX,
        .entries = place->is_database  ? ENTRIES_PLAIN
                   : use == PLACE_LOAD ? ENTRIES_NONE
                                       : ENTRIES_PACKED,
    };

    return store_open(op, &options, &place->store);
}

enum status place_open(struct op *op, const char *where, enum place_use use, struct place *place)
{
    enum status st;

    *place = (struct place){ .where = where,
                             .is_database = settings_is_database(where),
                             .directory = { .lock = -1 } };
    if (!place->is_database)
        TRY(directory_open(op, where, use == PLACE_READ, &place->directory));
    TRY(open_store(op, place, use));
out:
    return st;
}

enum status place_reopen(struct op *op, struct place *place, enum place_use use)
{
    store_close(place->store);
    place->store = NULL;
    return open_store(op, place, use);
}

void place_close(struct place *place)
{
    store_close(place->store);
    directory_close(&place->directory);
}
