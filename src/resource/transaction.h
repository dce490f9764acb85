/*
 * src/resource/transaction.h - operations on items of several keys, containers and databases in one request.
 *     transaction_read_body(op, call, reads, &transaction);     what it asks for
 *     transaction_place(op, &transaction);                      where its items lie, and whether the client may
 *     ...                                                       runs it (transaction.c)
 *     transaction_leave(&transaction);                          gives back what transaction_place() took
 * A transaction that met other writers is placed anew for its next attempt: a container may have gone meanwhile.
 */
#pragma once
#include "ledger/ledger.h"
#include "resource/action.h"

/* One operation, and what became of it. */
struct txn_part {
    struct action action;
    struct slice database, container, container_rid; /* as the body names them; the rid may be absent */
    struct slice session;                            /* token; data is NULL where there is none */
    struct json key, body;                           /* as they came */

    struct call call;   /* as if it had come by itself: with references to its owners, where there are some */
    size_t home;        /* which of the transaction's containers; LEDGER_NOWHERE: it has none */
    enum status placed; /* ST_OK if it could be placed; if not, it fails with this when its turn comes */
    const char *error;  /* why not */
    enum status status; /* of the operation */
    double charge;
};

struct transaction {
    struct call *call;
    struct reply *reply;
    struct ledger_token token;
    bool reads; /* all of its operations read; else all of them write */
    size_t count, container_count;
    struct txn_part *part;
    struct container **container; /* each once; the references are the parts' */
    struct partition_txn **txn;   /* of each container, while it runs */
};

/* Refuses a request that is wrong as a whole: ST_TXN_MALFORMED and its like. */
enum status transaction_read_body(struct op *op, struct call *call, bool reads,
                                  struct transaction *transaction);

/* A failure is one of the whole: the client may not do what it asks for. What is wrong with a part is noted in the part. */
enum status transaction_place(struct op *op, struct transaction *transaction);
void transaction_leave(struct transaction *transaction);

/* ---- transaction_answer.c ---- */

/* From a record, so that a repeated request gets the same answer as the first. */
void transaction_answer(const struct transaction *transaction, const struct ledger_record *record);

/* Of a transaction that read. */
enum status transaction_answer_read(struct op *op, const struct transaction *transaction);
