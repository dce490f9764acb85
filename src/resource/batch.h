/*
 * src/resource/batch.h - several operations in one request, for batch.c, batch_read.c and bulk.c only.
 * An atomic batch is one transaction of one logical partition: all of it or nothing. In bulk each operation
 * stands for itself, with a partition key, a transaction and an LSN of its own.
 *
 * Ownership. Everything lies in the op's arena.
 */
#pragma once
#include "resource/action.h"

enum batch_body { BODY_NONE, BODY_DOCUMENT, BODY_PATCH };

struct batch_kind {
    const char *name; /* operationType */
    int row_type;     /* the same in a binary batch */
    enum batch_body body;
    bool has_id; /* beside its document's */
};
extern const struct batch_kind batch_kinds[ACTION_KINDS];

/* One operation and what became of it. */
struct part {
    struct action action;
    struct json body;   /* resourceBody, as it came */
    struct slice key;   /* its own partition key, as it came; data is NULL when it has none */
    bool minimal;       /* the client wants nothing back of what it writes */
    enum status placed; /* ST_OK if it could be read; if not, it fails with this when its turn comes */
    enum status status; /* ST_FAILED_DEPENDENCY until it is done, and where another one ended the batch */
    bool done;          /* in bulk: `status` is its last */
    const char *error;  /* why, where it is not ST_OK */
    uint64_t retry_after_ms;
    double charge;
};

struct parts {
    const struct call *call;
    struct reply *reply;
    struct part *part;
    size_t count;
    bool has_key;          /* the request names the partition key of all of them: */
    struct placed_key key; /* this one */
    struct epk min, max;   /* in bulk, the range that the request names; max is empty when it names none */
    size_t answer_bytes;   /* that the answer may need so far; its body has room for them */
    uint64_t lsn;          /* for the session token */
    bool is_binary;        /* the request's form, and the answer's */
};

/* The operations of the request, none of them placed yet. */
enum status batch_read(struct op *op, struct parts *parts);

/* Does one operation in the transaction, and notes how it ended. ST_NOT_MODIFIED is no failure. */
enum status batch_take_part(struct op *op, struct parts *parts, struct part *part, struct partition_txn *txn);

/* Notes how an operation ended. The reason is the op's last error. */
void batch_end_part(struct op *op, struct part *part, enum status status);

/*
 * Runs every part by itself. Parts that need not wait for one another are committed together. With `stops` they run
 * one after the other, and a failure is the last.
 */
void bulk_run(struct op *op, struct parts *parts, bool stops);
