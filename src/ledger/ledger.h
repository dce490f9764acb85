/*
 * src/ledger/ledger.h - what became of transactions over several containers, by the token that its client gave each.
 * A record is part of the same commit as what its transaction wrote. So a client that repeats a request gets the
 * answer of the first time, also after a crash, and nothing is done twice.
 *     seen = ledger_lsn(ledger);
 *     ledger_find(op, ledger, &token, &record, &found);
 *     ledger_note(op, ledger, &record, seen, &witness);         a record to be committed, with or without a transaction
 * The commit is refused (ST_WRITE_CONFLICT) when a record of that token was written after `seen`.
 *
 * Ownership. Records lie in the op's arena.
 * Threads. A ledger may be shared.
 *
 * Promises
 * 1. A token has one record, and a record never changes.
 * 2. A record is kept for the time that ledger_forget() is told, or for LEDGER_KEPT_MS_MIN where there are very many.
 */
#pragma once
#include "keys/rid.h"
#include "store/store.h"

struct ledger;

/* A UUID. */
enum { LEDGER_TOKEN_BYTES = 16 };

struct ledger_token {
    uint8_t bytes[LEDGER_TOKEN_BYTES];
};

/* False when the text is no UUID, with hyphens where they belong and digits in any case, or the empty one. */
bool ledger_token_parse(struct slice text, struct ledger_token *token);

/* What became of one operation. */
struct ledger_part {
    uint16_t status;    /* of HTTP */
    uint16_t container; /* which of the record's; LEDGER_NOWHERE: none */
    uint32_t sub_status, range;
    uint64_t etag; /* of what it wrote; 0: nothing */
    double charge;
};

enum { LEDGER_NOWHERE = UINT16_MAX };

struct ledger_container {
    struct rid rid;
    struct commit_stamp stamp; /* of the commit; without a time when nothing was written there */
};

struct ledger_record {
    struct ledger_token token;
    struct hash_seed seed; /* secret, and of this record alone: */
    struct hash128 body; /* with it the request's hash stands for the request, which no other can pass for */
    bool committed;      /* if not, it was aborted */
    size_t container_count, part_count;
    struct ledger_container *container;
    struct ledger_part *part;
};

enum { LEDGER_KEPT_MS_MIN = 15 * 60 * 1000 };

enum status ledger_open(struct op *op, struct store *store, struct ledger **ledger);
void ledger_close(struct ledger *ledger); /* NULL is welcome */

/* Taken before a record is looked for. */
uint64_t ledger_lsn(const struct ledger *ledger);

enum status ledger_find(struct op *op, struct ledger *ledger, const struct ledger_token *token,
                        struct ledger_record *record, bool *found);

/* ST_TOO_MANY_REQUESTS when there are too many records to take another. */
enum status ledger_check_room(struct op *op, const struct ledger *ledger);

/*
 * A batch with the record. Of a transaction that is committed it goes last in store_commit_together(), which writes the
 * containers' stamps into it. Of another it has the stamps that the record has, and goes alone.
 */
void ledger_note(struct op *op, struct ledger *ledger, const struct ledger_record *record, uint64_t seen,
                 struct commit *witness);

/* Commits the record alone: what a transaction that was aborted leaves. */
enum status ledger_commit(struct op *op, struct commit *witness);

/* The record that a batch of ledger_note() has, with its stamps, once it is committed. */
enum status ledger_noted(struct op *op, const struct commit *witness, const struct ledger_token *token,
                         struct ledger_record *record);

/* Forgets records that are older than `kept_ms`, in steps that each commit. For housekeeping. */
enum status ledger_forget(struct op *op, struct ledger *ledger, int64_t kept_ms);

/* How many records there are, and their bytes. */
void ledger_usage(const struct ledger *ledger, struct bucket_usage *usage);

/* Whether every record is whole, and has its place in the order of forgetting; for orrery check. */
enum status ledger_verify(struct op *op, struct ledger *ledger, uint64_t *records);
