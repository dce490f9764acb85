/*
 * src/token/token.h - what clients carry for us between requests: continuations, session tokens, etags.
 * All are short printable ASCII, fit in a header, and are checked whenever they come back,
 * because they come back from anywhere.
 *
 * Ownership. Nothing here keeps a pointer to what it was given.
 */
#pragma once
#include "keys/rid.h"

/*
 * Where a feed goes on. As text: base64 of
 *     version 1, kind 1, container's rid 8, number 8 big-endian, CRC-32C 4      documents
 *     version 1, kind 1, rid of the last one seen 4 to 20, CRC-32C 4            catalog
 *     version 1, kind 1, size of the owner's rid 1, owner's rid, hash of the query 8 big-endian,
 *         position up to 640, CRC-32C 4                                         query
 */
enum continuation_kind { CONTINUATION_DOCUMENTS = 1, CONTINUATION_CATALOG = 2, CONTINUATION_QUERY = 3 };

enum { CONTINUATION_POSITION_BYTES_MAX = 640 };

struct continuation {
    enum continuation_kind kind;
    struct rid container;  /* documents: whose; query: the owner of what it reads */
    uint64_t after_number; /* documents: the last one that was sent */
    struct rid after;      /* catalog: the last one that was sent */
    uint64_t query;        /* query: its hash */
    struct slice position; /* query: where it goes on, in its own form; parsed ones lie in the op's arena */
};

/* ST_BAD_REQUEST in the service's words, for a token that we gave out for something else. */
enum status continuation_malformed(struct op *op);

void continuation_print(struct buf *out, const struct continuation *continuation);

/*
 * `owner` is what the feed belongs to: a container for documents; for the catalog the parent of
 * what is listed, of size 0 for databases. ST_BAD_REQUEST for anything malformed, of another
 * kind or of another owner.
 */
enum status continuation_parse(struct op *op, struct slice text, enum continuation_kind kind,
                               const struct rid *owner, struct continuation *continuation);

/* The ids of some of a container's partition key ranges; they lie where the container has them. */
struct range_ids {
    const uint32_t *id;
    uint32_t count;
};

/* "<range>:-1#<lsn>", of one range: clients of .NET take whatever an answer has for one token. `plain` leaves "-1#" out. */
void session_token_print(struct buf *out, uint32_t range, uint64_t lsn, bool plain);

/* The ranges that a session token is read for. */
struct session_ranges {
    struct range_ids asked; /* that a request is about */
    struct range_ids live;  /* all that the container has */
    uint32_t next_id;       /* ids below it that are not live split or merged: a token may still name them */
    bool apart; /* ranges have LSNs of their own, so that of those that are gone only these count: */
    struct range_ids ancestors;
};

/* Whether a header is a list of session tokens at all: ST_BAD_REQUEST otherwise. Writes ask for no more. */
enum status session_token_check(struct op *op, struct slice header);

/*
 * The most that a header asks for any of the asked ranges, 0 when it asks for nothing. Takes a list of
 * "<range>:<version>#<lsn>[#<region>=<lsn>...]", of the older "<range>:<lsn>", and of either
 * without its range, which then speaks for every range; so does a range that is gone (but see `apart`). ST_BAD_REQUEST when any of
 * it is malformed.
 */
enum status session_token_lsn(struct op *op, struct slice header, const struct session_ranges *ranges,
                              uint64_t *lsn);

/* The service's form, with its double quotes. Different etags never look the same. */
enum { ETAG_SIZE = 38 };

void etag_print(struct buf *out, uint64_t etag, int64_t ts_ms);

/* The one etag of a header, if it has our own form; false otherwise. */
bool etag_parse(struct slice header, uint64_t *etag);

/* If-Match, If-None-Match: one etag or a list, quoted or not, weak or not; "*" matches everything. */
bool etag_matches(struct slice header, uint64_t etag, int64_t ts_ms);
