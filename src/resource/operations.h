/*
 * src/resource/operations.h - what a script asks of its container, done in the script's transaction.
 * A script sees one logical partition and its own writes. What is wrong with an operation it is told, and may go on;
 * what is wrong with the moment ends it.
 */
#pragma once
#include "partition/partition.h"
#include "resource/call.h"
#include "script/script.h"

struct operations {
    const struct call *call;
    const struct epk *epk;
    const struct partition_key *key; /* the same as values, where they are known; or NULL */
    struct partition_txn *txn;
    struct script_session *session;
};

/* With a struct operations as its context. */
script_operate operations_run;

/* {"self":...,"alt":...}: how a script addresses its container. */
void operations_print_collection(struct buf *out, const struct container *container);
