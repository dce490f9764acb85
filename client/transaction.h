/*
 * client/transaction.h - a transaction over several containers, from the inside: transaction.c builds and sends it,
 * transaction_answer.c looks at what comes back.
 */
#pragma once
#include "client.h"

/* Its operations are those of a batch, and each has the link of its container. */
struct orrery_transaction {
    orrery_batch *batch;
    char **links; /* of the batch's operations, in the batch's arena */
    size_t count, capacity;
    char token[GUID_SIZE + 1];
    bool keeps_token; /* the caller knows it, and may have written it down */
    bool was_sent;    /* under this token */
};

/* What a call knows of the transaction that it carries, in its arena. */
struct carried {
    orrery_transaction *renewed; /* which may have another token after an abort; NULL: it may not */
    char token[GUID_SIZE + 1];
    bool reads, was_sent;
    size_t head_bytes; /* of the call's head, without the lines that change between attempts */
    size_t count;      /* of operations */
    struct slice *containers;
};

/* The lines that change between attempts: they are the last of the head. */
void transaction_head(struct call *call);

extern const struct call_kind transaction_kind;
