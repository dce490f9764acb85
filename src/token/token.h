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
 * A query's continuation will be another kind.
 */
enum continuation_kind { CONTINUATION_DOCUMENTS = 1, CONTINUATION_CATALOG = 2 };

struct continuation {
    enum continuation_kind kind;
    struct rid container;  /* documents: whose */
    uint64_t after_number; /* documents: the last one that was sent */
    struct rid after;      /* catalog: the last one that was sent */
};

void continuation_print(struct buf *out, const struct continuation *continuation);

/*
 * `owner` is what the feed belongs to: a container for documents; for the catalog the parent of
 * what is listed, of size 0 for databases. ST_BAD_REQUEST for anything malformed, of another
 * kind or of another owner.
 */
enum status continuation_parse(struct op *op, struct slice text, enum continuation_kind kind,
                               const struct rid *owner, struct continuation *continuation);

/* "<range>:-1#<lsn>": one range, one region. */
void session_token_print(struct buf *out, struct slice range, uint64_t lsn);

/*
 * The LSN that a header asks for a range, 0 when it asks for none. Takes a list of
 * "<range>:<version>#<lsn>[#<region>=<lsn>...]", of the older "<range>:<lsn>", and of either
 * without its range, which then speaks for every range. ST_BAD_REQUEST when any of it is malformed.
 */
enum status session_token_lsn(struct op *op, struct slice header, struct slice range, uint64_t *lsn);

/* The service's form, with its double quotes. Different etags never look the same. */
enum { ETAG_SIZE = 38 };

void etag_print(struct buf *out, uint64_t etag, int64_t ts_ms);

/* If-Match, If-None-Match: one etag or a list, quoted or not, weak or not; "*" matches everything. */
bool etag_matches(struct slice header, uint64_t etag, int64_t ts_ms);
