/*
 * src/resource/call.h - one request after routing: what it asks for, and of which resources.
 * Operations have the same shape, so that the route table can hold them: they read the call and
 * write the reply, and every failure is a status.
 */
#pragma once
#include "base/exchange.h"
#include "catalog/child.h"
#include "ledger/ledger.h"
#include "partition/hints.h"
#include "partition/locks.h"
#include "reply/reply.h"
#include "token/grant.h"
#include "token/token.h"

/* How consistent reads are, the strongest first. One node serves all as the strongest, so it is what clients are told. */
enum consistency {
    CONSISTENCY_STRONG,
    CONSISTENCY_BOUNDED,
    CONSISTENCY_SESSION,
    CONSISTENCY_PREFIX,
    CONSISTENCY_EVENTUAL,
    CONSISTENCY_LEVELS
};
extern const char *const consistency_names[CONSISTENCY_LEVELS];
bool consistency_parse(struct slice name, enum consistency *level); /* in any case; false for another name */

struct heat;
struct workload;

/* Of the time from which on plans are noted: of every query. */
enum { PLANS_OF_ALL_US = 1 };

/* How many queries are not tried by loop threads, by a hash of their texts: trial.h. */
enum { TRIAL_COUNTS = 4096 };
typedef atomic_uchar trial_count;
struct trials {
    trial_count count[TRIAL_COUNTS];
};

/* What operations work on; made once, by main/. */
struct service {
    struct env *env;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct hints *hints;
    struct ledger *ledger;
    struct slice account;         /* the account's name */
    struct slice public_endpoint; /* where clients should go; data is NULL: where they came to */
    struct slice direct_endpoint; /* the same in Direct mode, without a scheme; data is NULL: there, too */
    enum consistency consistency; /* the account's; clients may ask for it and for weaker ones */
    struct scripts *scripts;
    struct workload *workload; /* the record of what clients ask for; NULL: there is none */
    struct heat *heat;         /* which keys and ranges requests go to; NULL: nobody asks */
    uint64_t range_units;      /* RU/s that one partition key range serves; 0: as on the service */
    bool serves_direct;        /* clients may ask for addresses */
    bool enforces_throughput;  /* requests on items are held back to it */
    int64_t
        plans_from_us; /* replies of queries that took as long have their plans, for those who watch; 0: none has */
    void (*print_token)(void *context, const struct grant *grant, struct buf *out); /* auth/ signs */
    void *token_context;
    struct trials *trials; /* NULL: no loop thread tries a query */
};

struct call;

/*
 * Whether the client may do one operation of a transaction: `part` is the operation as a request of its own, with its
 * owners as far as they were found, and `names` are those of its database and its container.
 */
typedef enum status call_check_part(struct op *op, const struct call *whole, struct call *part,
                                    const struct slice names[2]);

struct call {
    struct service *service;
    const struct request *request;
    bool by_rid;               /* the path names the container, and everything below it, by rid */
    struct slice type;         /* the path's last type: docs, users, ... */
    struct slice item;         /* whose attachments the path is about, decoded */
    struct slice id;           /* of the item or the like, decoded: the last segment of .../docs/{id} */
    struct database *database; /* a reference each, when the path names one */
    struct container *container;
    struct child *user;    /* whose permissions the path is about */
    struct range_ids pays; /* the ranges that it is charged to (throughput.h); none unless it was let in */
    void *written; /* what is being committed; `resume` answers when that is done. Both are NULL before */
    enum status (*resume)(struct op *op, struct call *call, struct reply *reply);
    call_check_part *check_part; /* of a transaction, or a procedure of the system's; route/ knows who asks */
    void *check_context;         /* route/'s own */
    int64_t began_us;            /* on the monotonic clock: when its head was read */
    bool keeps_id;               /* its token is for this one resource: it may not give it another id */
};

typedef enum status operation(struct op *op, struct call *call, struct reply *reply);

static inline struct slice call_header(const struct call *call, enum header_id id)
{
    return call->request->header[id];
}

/*
 * Parses the body, text or binary JSON. ST_TOO_LARGE when it has more than so many bytes of text, or stands for more.
 * The second also refuses what is no object.
 */
enum status call_json(struct op *op, const struct call *call, size_t bytes_max, struct json *value);
enum status call_body(struct op *op, const struct call *call, size_t bytes_max, struct json *body);

/* x-ms-max-item-count: what the client wants, or the default. */
enum status call_page_size(struct op *op, const struct call *call, size_t *size);

/* x-ms-continuation: where the list goes on; all zero when the client begins one. */
enum status call_continuation(struct op *op, const struct call *call, enum continuation_kind kind,
                              const struct rid *owner, struct continuation *continuation);
void reply_continuation(struct reply *reply, const struct continuation *continuation);

/* If-Match on a write: ST_PRECONDITION_FAILED unless it is absent or names this version. */
enum status call_if_match(struct op *op, const struct call *call, uint64_t etag, int64_t ts_ms);

/* The same for a condition from elsewhere; `wanted.data` is NULL when there is none. */
enum status if_match(struct op *op, struct slice wanted, uint64_t etag, int64_t ts_ms);

/* If-None-Match on a read: ST_NOT_MODIFIED when the client has this version already. */
enum status call_if_none_match(struct op *op, const struct call *call, struct reply *reply, uint64_t etag,
                               int64_t ts_ms);

/* For a replace that may change the id: ST_FORBIDDEN when it does, and its token is for this one resource. */
enum status call_check_rename(struct op *op, const struct call *call, struct slice old_id, struct json body);

/* Prefer: return=minimal */
bool call_wants_minimal(const struct call *call);

/* The API version the client speaks, as a date: 20200715. 0 when it does not say. */
uint64_t call_version(const struct call *call);
