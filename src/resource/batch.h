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
    bool has_id; /* of its own, beside that of a document */
};
extern const struct batch_kind batch_kinds[ACTION_KINDS];

/* One operation and what became of it. */
struct part {
    struct action action;
    struct json body;   /* resourceBody, as it came */
    struct slice key;   /* its own partition key, as it came; data is NULL when it has none */
    bool minimal;       /* the client wants nothing back of what it writes */
    enum status placed; /* whether it could be read; else it fails when its turn comes */
    enum status status; /* ST_FAILED_DEPENDENCY while it is not done, or because another was not */
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
    bool has_key;        /* the request names the partition key of all of them: */
    struct epk epk;      /* this one */
    struct epk min, max; /* in bulk, the range that the request names; max is empty when it names none */
    size_t answer_bytes; /* that the answer may take so far: there is room for them */
    uint64_t lsn;        /* for the session token */
    bool is_binary;      /* the request's form, and the answer's */
};

/* The operations of the request, none of them placed yet. */
enum status batch_read(struct op *op, struct parts *parts);

/* Does it in the transaction, and notes what became of it. ST_NOT_MODIFIED is no failure. */
enum status batch_take_part(struct op *op, struct parts *parts, struct part *part, struct partition_txn *txn);

/* The reason is the op's last one. */
void batch_end_part(struct op *op, struct part *part, enum status status);

/*
 * Every part by itself; those that need not wait for one another are committed together. With `stops` one after
 * the other, and none after one that fails.
 */
void bulk_run(struct op *op, struct parts *parts, bool stops);
