/*
 * src/store/postgres_citus.c - what differs when the tables are spread over several databases, as Citus spreads them.
 *
 * The three tables are distributed by their shard, side by side, so whatever is of one bucket lies in one database, and a
 * transaction there is as good as anywhere. Between buckets there is no common moment: each database has a snapshot of its
 * own, and a transaction over several becomes visible in one after the other (two-phase commit). Hence
 * 1. a moment of several buckets is taken while their heads are locked (citus_hold()). The lock waits for commits that one
 *    database has ended and another has not;
 * 2. a commit over several buckets is acknowledged when all of them show it (postgres_doubt.c);
 * 3. a bucket may move to another database under a snapshot, which has no moment there. Reads look at the head again,
 *    and what is newer ends the snapshot (postgres_read.c).
 * All connections lead to the coordinator: advisory locks and the table of members are its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/postgres_private.h"

static enum status ask_whether(struct op *op, struct link *link, const char *question, bool *is_so)
{
    struct answer *answer = NULL;
    enum status st = ST_OK;

    if (link_run(link, question, &answer) != LINK_OK)
        TRY(postgres_failed(op, link));
    *is_so = answer_rows(answer) > 0;
out:
    answer_free(answer);
    return st;
}

static enum status find_citus(struct op *op, struct link *link, bool *is_there)
{
    return ask_whether(op, link, "SELECT 1 FROM pg_extension WHERE extname = 'citus'", is_there);
}

/* As many shards as citus.shard_count says. They are no group with other tables: they move by themselves. */
enum status citus_distribute(struct op *op, struct link *link)
{
    bool is_there = false;
    enum status st;

    TRY(find_citus(op, link, &is_there));
    if (is_there &&
        link_run(link,
                 "SELECT create_distributed_table('orrery_kv', 'shard', colocate_with := 'none');"
                 "SELECT create_distributed_table('orrery_head', 'shard', colocate_with := 'orrery_kv');"
                 "SELECT create_distributed_table('orrery_commit', 'shard', colocate_with := 'orrery_kv')",
                 NULL) != LINK_OK)
        TRY(postgres_failed(op, link));
out:
    return st;
}

enum status citus_look(struct op *op, struct postgres *postgres)
{
    struct link *link = postgres->tending;
    bool is_there = false;
    enum status st;

    TRY(find_citus(op, link, &is_there));
    if (is_there)
        TRY(ask_whether(op, link,
                        "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'orrery_kv'::regclass",
                        &postgres->is_distributed));
    if (postgres->is_distributed)
        log_line(LOG_DEBUG, "store: the tables are distributed");
out:
    return st;
}

/* ---- heads that are held ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* In the order in which writers lock them. */
static enum link_end lock_heads(struct link *link, const uint64_t *ids, size_t count)
{
    enum link_end end, each;
    uint8_t bytes[8];

    link_send(link, SQL_BEGIN, NULL, 0);
    for (size_t i = 0; i < count; i++)
        link_send(link, SQL_LOCK, &(struct sql_param){ sql_number(bytes, ids[i]).data, 8 }, 1);
    link_sync(link);
    end = link_take(link, NULL);
    for (size_t i = 0; i < count; i++) {
        each = link_take(link, NULL);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(link);
    return end == LINK_OK ? each : end;
}

/* Twice, because the first link may have been lost while it rested. */
struct link *citus_hold(struct op *op, struct postgres *postgres, struct bucket *const *buckets, size_t count)
{
    uint64_t *ids = arena_alloc(&op->arena, count * sizeof(*ids));
    enum link_end end = LINK_LOST;
    struct link *link = NULL;

    for (size_t i = 0; i < count; i++)
        ids[i] = buckets[i]->id;
    qsort(ids, count, sizeof(*ids), by_id);
    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        link = links_take(&postgres->calls);
        if (!link)
            break;
        end = lock_heads(link, ids, count);
        if (end == LINK_OK)
            return link;
        log_line(LOG_WARN, "store: heads cannot be held: %s %s", link_state(link), link_error(link));
        citus_let_go(postgres, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
    return NULL;
}

/* Nobody waits for its end. */
void citus_let_go(struct postgres *postgres, struct link *link)
{
    if (!link)
        return;
    if (link_is_sound(link)) {
        link_send(link, SQL_ROLLBACK, NULL, 0);
        link_sync(link);
        link_leave(link);
    }
    links_give(&postgres->calls, link);
}
