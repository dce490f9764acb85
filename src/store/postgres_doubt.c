/*
 * src/store/postgres_doubt.c - what became of a commit.
 * When the connection is lost at COMMIT, or the server refuses it for another reason than that of a conflict, nobody
 * knows whether it happened. The head is locked once more, which waits until the first transaction is over, and the row
 * at the LSN tells by its token. While the database cannot be reached, those who wait get ST_AMBIGUOUS.
 */
#include "base/log.h"
#include "store/batch_private.h"
#include "store/postgres_txn.h"

/*
 * Under the head's lock, which the transaction in doubt has until it is over. The lock is a write of its own, and is committed: with
 * synchronous standbys its commit waits until they have all that lies before it, so what was found there is not lost with
 * the primary.
 */
static enum link_end ask_token(struct link *link, uint64_t bucket, uint64_t lsn, struct answer **answer)
{
    uint8_t bytes[2][8];
    struct sql_param params[] = { sql_number(bytes[0], bucket), sql_number(bytes[1], lsn) };
    enum link_end end = LINK_OK, each;

    link_send(link, SQL_BEGIN, NULL, 0);
    link_send(link, SQL_LOCK, params, 1);
    link_send(link, SQL_TOKEN, params, 2);
    link_send(link, SQL_COMMIT, NULL, 0);
    link_sync(link);
    for (int i = 0; i < 4; i++) {
        each = link_take(link, i == 2 ? answer : NULL);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(link);
    if (end != LINK_OK && link_is_sound(link)) {
        link_send(link, SQL_ROLLBACK, NULL, 0);
        link_sync(link);
        link_leave(link);
    }
    return end == LINK_OK ? each : end;
}

bool postgres_find_outcome(struct postgres *postgres, uint64_t bucket, uint64_t lsn, uint64_t token,
                           bool *committed)
{
    struct answer *answer = NULL;
    enum link_end end = LINK_LOST;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link;

        links_forget_idle(&postgres->calls);
        link = links_take(&postgres->calls);
        if (!link)
            return false;
        answer_free(answer);
        end = ask_token(link, bucket, lsn, &answer);
        links_give(&postgres->calls, link);
    }
    if (end == LINK_OK)
        *committed = answer_rows(answer) == 1 && (uint64_t)answer_number(answer, 0, 0) == token;
    answer_free(answer);
    return end == LINK_OK;
}

/* All of the transaction was written, or nothing: any of its rows tells. Who cannot be asked about one is not asked again. */
void postgres_settle(struct transaction *txn)
{
    const struct submission_of_bucket *any = txn->first;
    enum status st = ST_AMBIGUOUS;
    bool committed = false;

    log_line(LOG_WARN, "store: the end of a commit is in doubt: %s %s", link_state(txn->link),
             link_error(txn->link));
    while (any->status != ST_OK)
        any = any->next; /* one was accepted, or nothing would have been sent */
    if (postgres_find_outcome(txn->postgres, any->bucket->base.id, any->stamp.lsn, any->batch->incarnation,
                              &committed))
        st = committed ? ST_OK : ST_UNAVAILABLE;
    atomic_store(&txn->postgres->writable, st != ST_AMBIGUOUS);
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? st : each->status;
}

enum status postgres_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed)
{
    enum status st = ST_OK;

    *committed = false;
    if (batch->lsn == 0) /* never stamped, or found missing */
        return ST_OK;
    TRY(op_may_take_long(op));
    if (!postgres_find_outcome(postgres_of(bucket->store), bucket->id, batch->lsn, batch->incarnation,
                               committed))
        TRY(op_fail(op, ST_UNAVAILABLE, "What became of the write cannot be told at the moment."));
    if (!*committed && batch->unfenced)
        TRY(op_fail(op, ST_UNAVAILABLE, "The write may still take place."));
out:
    return st;
}

/* ---- a commit over several databases ---- */

static const struct redefined *redefined_by(const struct submission_of_bucket *each)
{
    return each->status == ST_OK ? each->batch->redefined : NULL;
}

static bool spans_buckets(const struct transaction *txn)
{
    bool spans = txn->part_count > 1;

    for (const struct submission_of_bucket *each = txn->first; each && !spans; each = each->next)
        spans = redefined_by(each) != NULL;
    return spans;
}

static void send_for_head(struct link *link, uint64_t bucket)
{
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, bucket);

    link_send(link, SQL_HEAD, &shard, 1);
}

static bool head_has(struct link *link, uint64_t lsn, uint64_t epoch)
{
    struct answer *answer = NULL;
    bool has = link_take(link, &answer) == LINK_OK;

    if (has && answer_rows(answer) == 1) { /* of what was never used there is none, and nothing to see */
        struct head_row row = head_row_of(answer, 0);

        has = row.head.lsn >= lsn && row.epoch >= epoch;
    }
    answer_free(answer);
    return has;
}

/* The heads that were written, as anybody sees them. */
static bool is_shown(struct transaction *txn)
{
    bool shown = true;

    for (size_t i = 0; i < txn->part_count; i++)
        send_for_head(txn->link, txn->parts[i].bucket->base.id);
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); one; one = one->next)
            send_for_head(txn->link, one->bucket);
    link_sync(txn->link);
    for (size_t i = 0; i < txn->part_count; i++)
        shown = head_has(txn->link, txn->parts[i].row.head.lsn, 0) && shown;
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); one; one = one->next)
            shown = head_has(txn->link, 0, each->stamp.lsn) && shown;
    return link_end(txn->link) == LINK_OK && shown;
}

/* Who commits to a bucket waits for what is prepared there. So do we, by its head's lock. */
static bool is_over_everywhere(struct transaction *txn)
{
    bool over = true, unused;

    for (size_t i = 0; over && i < txn->part_count; i++)
        over = postgres_find_outcome(txn->postgres, txn->parts[i].bucket->base.id, 0, 0, &unused);
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); over && one; one = one->next)
            over = postgres_find_outcome(txn->postgres, one->bucket, 0, 0, &unused);
    return over;
}

/* Citus ends a transaction in one database after the other. It is acknowledged when all of them show it. */
void postgres_confirm(struct transaction *txn)
{
    if (!txn->postgres->is_distributed || !spans_buckets(txn) || is_shown(txn))
        return;
    log_line(LOG_WARN, "store: a commit is not shown everywhere yet, and is waited for");
    if (is_over_everywhere(txn))
        return;
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? ST_AMBIGUOUS : each->status;
}
