/*
 * src/reply/reply.h - answers as clients of the service expect them: bodies, headers, errors.
 * An operation writes its body and, when its work is done, the headers of its own. It notes as early as it can
 * which container and which ranges the answer is about, because a failure names them as well. reply_finish() prints
 * them, and the headers that every answer has. A failure replaces the body that was written before it.
 *
 * Ownership. Everything lies in the op's arena. Only what is noted of a container lies in it: it outlives the reply.
 */
#pragma once
#include "base/exchange.h"
#include "json/json.h"
#include "keys/rid.h"
#include "token/token.h"

/* What an answer is about: noted by the calls below, printed by reply_finish(). */
struct about {
    struct slice link; /* of the container; data is NULL until it is noted */
    const struct rid *rid;
    struct range_ids ranges; /* only range 0 until an operation on items notes others */
    bool of_items;           /* an operation on items has noted them */
    bool hides_rid;          /* of the container */
    bool has_lsn;
    uint64_t lsn; /* the client has seen those ranges up to here */
};

struct reply {
    struct op *op;
    struct answer *answer;
    struct about about;
    struct slice content_type; /* of a body that is no JSON */
    struct slice query,
        plan; /* of a query, for the log and for traces, where the service notes them; no data: none */
    int64_t began_us; /* on the monotonic clock */
    bool
        tells_retriable; /* a failure says whether the same request may succeed later, as SDKs ask of transactions */
    bool plain_session; /* for clients of API versions before 2018-06-18, which know no "-1#" */
};

void reply_begin(struct reply *reply, struct op *op, struct answer *answer);

/* Goes on after the wait for a commit (ST_PENDING). Nothing was written before the wait; what was noted stays. */
void reply_resume(struct reply *reply);

/* One header line. Values come from us: they hold no line breaks. */
void reply_header(struct reply *reply, const char *name, struct slice value);
void reply_header_u64(struct reply *reply, const char *name, uint64_t value);
void reply_header_rid(struct reply *reply, const char *name, const struct rid *rid);

/* A value with names that clients chose: bytes that are no printable ASCII are percent-encoded. */
void reply_header_link(struct reply *reply, const char *name, struct slice link);

/* The quoted text, in the header and nowhere else. */
void reply_etag(struct reply *reply, uint64_t etag, int64_t ts_ms);

/*
 * The answer is about this container, and about all of its ranges until reply_ranges() says less. Noted once. It
 * becomes x-ms-content-path and its like: SDKs keep session tokens by them, from failures too.
 */
void reply_owner(struct reply *reply, struct slice link, const struct rid *rid, struct range_ids ranges);

/* The answer does not tell the container's rid, as that of a batch that failed does not on the service. */
void reply_hide_owner_rid(struct reply *reply);

/* From here on the answer is about these ranges of the container only. */
void reply_ranges(struct reply *reply, struct range_ids ranges);

/*
 * "0:-1#57", the plain LSN, and the range's own header when the answer is about one range. An answer about several has the token
 * of the first: all have the container's LSN, and some SDKs read no more than one token. Noted once.
 */
void reply_session(struct reply *reply, uint64_t lsn);

static inline bool reply_has_session(const struct reply *reply)
{
    return reply->about.has_lsn;
}

static inline struct buf *reply_body(struct reply *reply)
{
    return &reply->answer->body;
}

void reply_status(struct reply *reply, int http_status);

/* What an answer says of the one item in its body: its version, and how far the client has now seen its range. */
struct reply_item {
    uint64_t etag;
    int64_t ts_ms;
    uint64_t item_lsn, session_lsn;
    int status;
};
void reply_item(struct reply *reply, const struct reply_item *item);

/* A write whose caller wants no body back keeps status and headers (Prefer: return=minimal). */
void reply_drop_body(struct reply *reply);

/*
 * The last step of every request, failed or not: status line, charge, activity id, error body. Returns what the
 * answer says that it cost, in request units.
 */
double reply_finish(struct reply *reply, enum status status);

/* Prints a reason as a JSON string. A reason may quote bytes of a client, which need not be UTF-8. */
void reply_print_reason(struct buf *out, const char *reason);

/* How long a client should wait before it tries again, unless the op says another time. */
enum { RETRY_AFTER_MS = 50 };
uint64_t reply_retry_after_ms(const struct op *op);

/* SDKs ask this of what becomes of transactions, whichever step refuses them. */
bool reply_tells_retriable(const struct request *request);

/* For failures before there is an operation. http/ calls it for malformed requests, of which it knows the target at most. */
void reply_write_error(struct exchange *exchange, enum status status, const char *message);
