/* src/store/postgres_drop.c - a bucket that is dropped, with all of its rows. */
#include "store/postgres_private.h"

/* Rows go a few thousand at a time, so that no transaction is large. */
enum link_end postgres_remove_rows(struct link *link, uint64_t id)
{
    enum { ROWS_AT_ONCE = 5000 };
    uint8_t bytes[2][8];
    struct sql_param params[] = { sql_number(bytes[0], id), sql_number(bytes[1], ROWS_AT_ONCE) };
    enum link_end end;
    size_t left = 1;

    while (left > 0) {
        struct answer *answer = NULL;

        link_send(link, SQL_DROP_ROWS, params, 2);
        link_sync(link);
        end = link_take(link, &answer);
        if (link_end(link) == LINK_LOST || end != LINK_OK)
            return end == LINK_OK ? LINK_LOST : end;
        left = answer_changed(answer);
        answer_free(answer);
    }
    link_send(link, SQL_DROP_COMMITS, params, 1);
    link_sync(link);
    end = link_take(link, NULL);
    return link_end(link) == LINK_LOST ? LINK_LOST : end;
}

static enum link_end drop(struct link *link, uint64_t id)
{
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, id);
    enum link_end end;

    link_send(link, SQL_DROP, &shard, 1);
    link_sync(link);
    end = link_take(link, NULL);
    if (link_end(link) == LINK_LOST)
        return LINK_LOST;
    return end == LINK_OK ? postgres_remove_rows(link, id) : end;
}

/* It may be repeated, so it is, when the first link was lost. */
enum status postgres_drop(struct op *op, struct store *store, uint64_t id)
{
    struct postgres *postgres = postgres_of(store);
    enum link_end end = LINK_LOST;
    struct bucket *bucket;
    enum status st;

    TRY(store_check_may_write(op, store));
    TRY(postgres_bucket(op, store, id, &bucket));
    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link = links_take(&postgres->calls);

        if (!link)
            TRY(postgres_failed(op, NULL));
        end = drop(link, id);
        st = end == LINK_OK ? ST_OK : postgres_failed(op, link);
        links_give(&postgres->calls, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
out:
    return st;
}
