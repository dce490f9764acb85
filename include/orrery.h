/*
 * include/orrery.h - liborrery, a client for Orrery and for Azure Cosmos DB for NoSQL.
 * This header is the manual; docs/client.md begins with a whole program.
 *
 *     orrery_settings settings = { .size = sizeof(settings), .endpoint = "http://localhost:8081", .key = key };
 *     orrery_key city = orrery_key_text("Lyon");
 *     orrery_client *client = NULL;
 *     orrery_response *item = NULL;
 *
 *     if (orrery_open(&settings, &client) != ORRERY_OK)
 *         return 1;
 *     if (orrery_item_read(client, "dbs/shop/colls/orders", "42", &city, NULL, &item) != ORRERY_OK)
 *         fprintf(stderr, "%s\n", orrery_error(client));
 *     else
 *         puts(orrery_response_body(item, NULL));
 *     orrery_response_free(item);
 *     orrery_close(client);
 *
 * Ownership. What you pass in is borrowed for the call, and copied if it is kept. What comes out through a
 *     pointer to a pointer is yours: give it back with the _free or _close that stands beside it. Such a result
 *     is NULL after a failure. Every _free and _close welcomes NULL. What a function returns as a const pointer
 *     belongs to the object it was asked of and lives as long, unless its comment says otherwise.
 * Threads. Objects have no hidden ties: two threads may use two clients at the same time. One object is used by one
 *     thread at a time; a debug build of the library ends the program where two threads meet in one client. A resolver does
 *     not change once it is made, and may be shared. There is no global state but libcurl's own, which the first
 *     orrery_open() of an endpoint prepares, once for the process, and the list of databases inside the program, which locks
 *     itself.
 * Errors. A call returns an orrery_status. A status above zero is a failure, and no other is: orrery_failed(status).
 *     orrery_error(client) has the reason in words until the client's next call. The library never ends the
 *     program and never prints: out of memory is ORRERY_ENOMEM, also in the middle of an answer.
 * Text is UTF-8. Where a size goes along with a text, (size_t)-1, ORRERY_TEXT, means "ends with a NUL".
 * Structs of options and of results begin with their own size, so that a program keeps working with a later library. One
 *     that does not say it is refused, ORRERY_EINVAL. (Those that come in lists, such as parameters, keys and ranges, have
 *     none: they do not change.)
 *     orrery_options options = { .size = sizeof(options), .if_match = etag };
 * Links name things as the service does: "dbs/shop", "dbs/shop/colls/orders". The library escapes what URLs
 *     want escaped: do not do it yourself. Self-links ("dbs/AbCdEf==/colls/AbCdEfGhIjk=/") work as well.
 */
#ifndef ORRERY_H
#define ORRERY_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORRERY_TEXT ((size_t)-1)

/* "0.1.0": of the library that runs, which may be later than this header. */
const char *orrery_version(void);

/* ---- Status ---------------------------------------------------------------------------------------------- */

typedef enum orrery_status {
    ORRERY_OK = 0,
    ORRERY_ROW = -1,          /* a cursor has a row */
    ORRERY_DONE = -2,         /* a cursor has no more rows; of a change feed: none yet */
    ORRERY_NOT_MODIFIED = -3, /* what if_none_match names is still the newest */
    ORRERY_WAIT = -4,         /* a cursor that must not wait would have to: orrery_run(), then ask again */

    ORRERY_EINVAL = 1,   /* an argument makes no sense; the call did nothing */
    ORRERY_ENOMEM,       /* the machine has no memory */
    ORRERY_EJSON,        /* a text is no JSON, or not of the shape that is asked for */
    ORRERY_ECONNECT,     /* no connection: the request was never sent */
    ORRERY_EIO,          /* the connection was lost, or the answer made no sense: a write may have happened */
    ORRERY_ETIMEOUT,     /* the call's time is over: a write may have happened */
    ORRERY_EUNSUPPORTED, /* a thing that this library cannot do; orrery_error() says which */
    ORRERY_EBADREQUEST,  /* 400 */
    ORRERY_EUNAUTHORIZED, /* 401, 403 */
    ORRERY_ENOTFOUND,     /* 404 */
    ORRERY_ECONFLICT,     /* 409: the id, or a unique key, is taken */
    ORRERY_EGONE,         /* 410, after the library's own attempts */
    ORRERY_EPRECONDITION, /* 412: somebody else changed it; read again */
    ORRERY_ETOOLARGE,     /* 413 */
    ORRERY_ETHROTTLED,    /* 429, after the library's own attempts */
    ORRERY_ERETRY,        /* 449, after the library's own attempts */
    ORRERY_ESERVER,       /* 500 and up */
    ORRERY_EHTTP,         /* any other status of HTTP */
    ORRERY_EBATCH,    /* a batch or transaction was not done; its response says because of which operation */
    ORRERY_ECANCELED, /* by orrery_cancel(): a write may have happened */

    ORRERY_EKEYTYPE = 64, /* a resolver cannot place keys of this type */
    ORRERY_ENOKEY,        /* a document has no key where the resolver looks for it */
    ORRERY_ENORANGE,      /* no range of a range resolver has the key */
    ORRERY_ELINK,         /* a text is no link of a collection */
    ORRERY_ENORESOLVER,   /* a database link, but the database has no resolver */
    ORRERY_EMIGRATING,    /* the collections are being rearranged: try later */
    ORRERY_EBUSY,    /* another manager is at work on this database, or another process has the directory */
    ORRERY_ESTATE,   /* a saved state makes no sense */
    ORRERY_ECALLBACK /* a function of yours returned a failure that is none of the above */
} orrery_status;

#define orrery_failed(status) ((int)(status) > 0)

/* A short English text, also for numbers that are none of the above. */
const char *orrery_status_text(orrery_status status);

/*
 * Memory of the library and of libcurl: your function's instead of malloc()'s. As realloc(), but for 0 bytes, which give the
 * memory back; it may be called by any thread. Once, before anything else of the library: ORRERY_EINVAL, it is too late.
 * What the library hands out is given back by orrery_free() as ever. Of a database inside the program it gets the client's
 * part and what operations need; the engine's own lists and RocksDB stay with malloc().
 */
typedef void *orrery_resize(void *context, void *memory, size_t bytes);

orrery_status orrery_allocate_by(orrery_resize *resize, void *context);

/* ---- A client -------------------------------------------------------------------------------------------- */

typedef struct orrery_client orrery_client;
typedef struct orrery_response orrery_response;

/*
 * What clients of one account may have together, whichever threads they are used by: session tokens, so that each reads what
 * the others wrote; definitions and ranges of containers; plans of queries; and the connections of calls that wait, of which
 * there are as many as such calls at a time, whoever makes them, and which a client leaves to the next. Calls that do not wait,
 * and Direct mode, have each client's own. Free the share at any time: it lives as long as a client that has it.
 */
typedef struct orrery_share orrery_share;

orrery_status orrery_share_new(orrery_share **share);
void orrery_share_free(orrery_share *share);

/* One request, of the many that a call may take. Its texts live as long as the function that is told of it. */
typedef struct orrery_trace_event {
    size_t size;
    const char *method, *path; /* "GET", "/dbs/shop/colls/orders/docs/42" */
    int attempt;               /* 1: the call's first */
    int has_ended;             /* 0: it is about to be sent, and what follows is not known yet */
    orrery_status status;      /* of this attempt */
    int http, sub_status;      /* 0: there was no answer */
    int64_t elapsed_us;        /* since it was sent */
    int retry_ms;              /* after which it is sent again; -1: it is not */
    double charge;
    const char *activity; /* NULL: none */
} orrery_trace_event;

/* It must not call the client, nor end it. */
typedef void orrery_trace(void *context, const orrery_trace_event *event);

typedef struct orrery_settings {
    size_t size;
    const char *endpoint;       /* "https://localhost:8081" */
    const char *key;            /* the account's key, base64; or */
    const char *resource_token; /* "type=resource&ver=1&sig=...", as a permission's _token has it */
    const char *consistency;    /* NULL: the account's; "Session", "Eventual", ... */
    const char *ca_file;        /* certificates to trust, PEM; NULL: the system's */
    int trust_any_certificate;  /* 1: for a server on your own machine */
    int timeout_ms;             /* of a call with all its attempts; 0: 60,000 */
    int connect_timeout_ms;     /* 0: 10,000 */
    int connections_max;        /* open at a time; 0: 32 */
    int retries_max;            /* of one call; 0: 9; -1: none */
    int retry_wait_ms_max;      /* of one call, waits together; 0: 30,000 */
    const char *user_agent;     /* put in front of the library's own; NULL: nothing */
    int no_proxy; /* 1: the proxies that http_proxy, https_proxy, all_proxy and no_proxy name are not used */
    /*
     * Instead of a key: bearer tokens of an identity provider (Microsoft Entra ID). The function puts a malloc()ed token, and
     * when it ends; it is asked again a minute before that. A failure of it is that of the call, which sent nothing.
     */
    orrery_status (*bearer_token)(void *context, char **token, int64_t *ends_unix_seconds);
    void *bearer_context;
    orrery_share *share; /* what is known together with other clients; NULL: it knows by itself */
    orrery_trace *trace; /* is told of every request, as it is sent and as it ends; NULL: nobody is */
    void *trace_context;
    /* Instead of endpoint and key, one of three: see "The database inside the program". */
    const char *directory; /* where the data lives; made if it is missing */
    int memory;            /* 1: a database in memory, which ends with the last client that has it */
    const orrery_client *database_of; /* the database that this client has open */
    /* of a database inside the program, by whoever opens it first */
    int async;                  /* 1: writes are acknowledged before they are safe from power loss */
    int cache_mb, memory_mb;    /* as the server's --cache-mb and --memory; 0: as theirs */
    const char *script_program; /* orrery-js, which runs JavaScript; NULL: where it was installed */
    /* where orrery_open() writes, in words, why there is no client; NULL: nowhere */
    char *why;
    size_t why_size;
    /*
     * 1: Direct mode, as an Orrery server speaks it on its port. Reads, writes and queries of items, batches, change feeds and
     * stored procedures go over TCP (TLS where the endpoint is https), many at a time on one connection, and cost less than over
     * HTTP. Everything else, and a call with a header that this protocol has no word for, goes over HTTP all the same: a call
     * means the same either way. Proxies are not used. ORRERY_EUNSUPPORTED: the endpoint does not speak it.
     */
    int direct;
} orrery_settings;

/*
 * Does not speak to the server yet. ORRERY_EINVAL: there is no endpoint, or neither key nor token, or the key is no base64;
 * orrery_open_error() says which. Of a database inside the program also: ORRERY_EUNSUPPORTED, this library has none;
 * ORRERY_EBUSY, another process has the directory; ORRERY_EIO, it cannot be used.
 */
orrery_status orrery_open(const orrery_settings *settings, orrery_client **client);

/* Why these settings open nothing, in words; "": they would. It needs no client, since there is none. */
const char *orrery_open_error(const orrery_settings *settings);

/*
 * Reads the account, and sends what follows to its regions: reads and queries to the first of these that can be read, writes
 * to the region that can be written, and where there are several to the first of these. An account that has none of them is
 * read where it says first. Names are as the account has them, in any case of letters. It waits. If a region does not
 * answer (ORRERY_ECONNECT), call it again with others in front. ORRERY_EUNSUPPORTED: the database is inside the program.
 *     const char *near[] = { "West Europe", "North Europe" };
 *     orrery_regions_use(client, near, 2);
 */
orrery_status orrery_regions_use(orrery_client *client, const char *const *names, size_t count);

/* Calls that are under way end, and their callbacks are not called. Close the client's queries first. */
void orrery_close(orrery_client *client);

/* Why the client's last call failed, in words; "" when it did not. Valid until the client's next call. */
const char *orrery_error(const orrery_client *client);

/* The server's answer to the client's last call, if it failed and there was an answer; else NULL. Valid as above. */
const orrery_response *orrery_failed_response(const orrery_client *client);

/* The session token of a container as this client knows it; NULL: none yet. Another client that is given it, as
   orrery_options.session_token, reads what this one wrote. Valid until the client's next call. */
const char *orrery_session_token(const orrery_client *client, const char *container_link);

/*
 * Who is told when a call has ended; see "Calls that do not wait". The response is yours, and NULL on failure;
 * orrery_error(client) holds for the duration of the callback.
 */
typedef void orrery_done(orrery_client *client, void *context, orrery_status status,
                         orrery_response *response);

/*
 * What a call took: options->diagnostics is filled in when it ends, well or not, and must live until then. It is added to, so
 * that one struct can be of a whole cursor or bulk, or of several calls, if nobody sets it to zero in between.
 */
typedef struct orrery_diagnostics {
    size_t size;
    int calls,
        attempts; /* of a cursor, calls are pages, plans and the like; attempts: requests that were sent */
    int http, sub_status; /* of the last answer */
    orrery_status status; /* of the last call */
    int64_t elapsed_us;   /* calls from begin to end: those that ran side by side count each */
    int64_t waited_us;    /* of that: between attempts */
    double charge;        /* request units */
    char ranges
        [128]; /* that answered: their ids, each once, with commas between them, and cut off where there are many */
    char session[128]; /* the last answer's token, cut off if it is longer */
    char activity[48]; /* the last answer's, to tell the service's support */
} orrery_diagnostics;

/* What a call may be told besides its arguments. Without options, and where a member is zero, the client's
   settings and the service's defaults hold. */
typedef struct orrery_options {
    size_t size;
    const char *if_match, *if_none_match;     /* ETags as a response has them, or "*" */
    const char *session_token;                /* instead of the client's own; "": send none */
    const char *consistency;                  /* instead of the client's setting */
    const char *pre_triggers, *post_triggers; /* ids with commas between them */
    const char *indexing;                     /* "Include", "Exclude" */
    int minimal;                              /* 1: a write's answer has no body */
    int timeout_ms;                           /* instead of the client's setting */
    const char *const *headers;               /* more of them, "Name: value", NULL behind the last */
    /* of what makes databases and containers: at most one of the two */
    int throughput;     /* RU/s */
    int throughput_max; /* RU/s, autoscale */
    /* of cursors */
    int page_items;           /* rows asked for at a time; 0: the server decides */
    const char *continuation; /* where another cursor of the same query stopped */
    int parallel;             /* 0: one request after another; n: that many ranges are asked at a time */
    int no_wait;              /* 1: orrery_query_step() says ORRERY_WAIT and does not wait */
    int enable_scan;          /* 1: a filter that no index supports is allowed */
    /* of calls that do not wait */
    orrery_done *done;
    void *context;
    /* of stored procedures */
    int script_log; /* 1: what the script logs is in the answer's x-ms-documentdb-script-log-results */
    /* of cursors */
    int all_versions; /* of changes: every version and deletion, as {"current":...,"previous":...,"metadata":...} */
    int metrics; /* 1: pages tell what they cost the server: orrery_query_metric(), and which indexes would help */
    /* of everything */
    orrery_diagnostics *diagnostics; /* what the call took; NULL: nobody wants to know */
} orrery_options;

/* ---- Answers --------------------------------------------------------------------------------------------- */

typedef struct orrery_json orrery_json;

void orrery_response_free(orrery_response *response);

int orrery_response_http(const orrery_response *response);       /* 200, 404, ... */
int orrery_response_sub_status(const orrery_response *response); /* 1002, ...; 0: none */
double orrery_response_charge(const orrery_response *response);  /* request units, of all attempts together */
int orrery_response_attempts(const orrery_response *response);   /* 1: the first one did it */

/* The body, never NULL, with a NUL behind it. `size` may be NULL. */
const char *orrery_response_body(const orrery_response *response, size_t *size);

/* Each is NULL when the answer has none. */
const char *orrery_response_etag(const orrery_response *response);
const char *orrery_response_activity(const orrery_response *response); /* to tell the service's support */
const char *orrery_response_session(const orrery_response *response);
const char *orrery_response_continuation(const orrery_response *response);
const char *orrery_response_header(const orrery_response *response,
                                   const char *name); /* in any case of letters */

/* ---- JSON: reading --------------------------------------------------------------------------------------- *
 *
 *     orrery_json *json = NULL;
 *     orrery_value root, tags;
 *
 *     if (orrery_json_parse(text, ORRERY_TEXT, &json) == ORRERY_OK) {
 *         root = orrery_json_root(json);
 *         tags = orrery_value_member(root, "tags");
 *         for (size_t i = 0; i < orrery_value_count(tags); i++)
 *             printf("%s\n", orrery_value_text(orrery_value_element(tags, i), NULL));
 *     }
 *     orrery_json_free(json);
 *
 * A value lives as long as the orrery_json it came from. Asking a value for what it is not gives undefined, 0, "".
 */

typedef enum orrery_type {
    ORRERY_UNDEFINED, /* what a path that leads nowhere gives */
    ORRERY_NULL,
    ORRERY_FALSE,
    ORRERY_TRUE,
    ORRERY_NUMBER,
    ORRERY_STRING,
    ORRERY_ARRAY,
    ORRERY_OBJECT
} orrery_type;

typedef struct orrery_value {
    const void *at; /* NULL: undefined */
} orrery_value;

/* ORRERY_EJSON when the text is not exactly one value as RFC 8259 has it. */
orrery_status orrery_json_parse(const char *text, size_t size, orrery_json **json);
void orrery_json_free(orrery_json *json);
orrery_value orrery_json_root(const orrery_json *json);

orrery_type orrery_value_type(orrery_value value);
double orrery_value_number(orrery_value value);
int64_t orrery_value_int(orrery_value value); /* toward zero; as near as 64 bits come */
int orrery_value_bool(orrery_value value);    /* 1: true */

/* A string's bytes with a NUL behind them, never NULL. A string may hold NULs itself: that is what `size` is for. */
const char *orrery_value_text(orrery_value value, size_t *size);
int orrery_value_equals(orrery_value value, const char *text);

size_t orrery_value_count(orrery_value value); /* elements or members */
orrery_value orrery_value_member(orrery_value object, const char *name);
orrery_value orrery_value_element(orrery_value array, size_t index);

/* Elements or members, one after another: `at` begins as 0. `name` may be NULL. Returns 0 behind the last.
       for (size_t at = 0; orrery_value_next(object, &at, &name, &value);) ...                                  */
int orrery_value_next(orrery_value container, size_t *at, const char **name, orrery_value *value);

/* The value as text again, without white space; free it with orrery_free(). */
orrery_status orrery_value_print(orrery_value value, char **text, size_t *size);

/* The whole answer. It is parsed when it is first asked for, and owned by the response. Undefined: it is no JSON, or
   there is no memory. */
orrery_value orrery_response_json(orrery_response *response);

/* Gives back what the library handed out as plain memory. */
void orrery_free(void *memory);

/* ---- JSON: writing --------------------------------------------------------------------------------------- *
 *
 *     orrery_writer *writer = NULL;
 *
 *     orrery_writer_new(&writer);
 *     orrery_write_object(writer);
 *     orrery_write_name(writer, "id");
 *     orrery_write_string(writer, "42", ORRERY_TEXT);
 *     orrery_write_end(writer);
 *     text = orrery_writer_text(writer, &size);      NULL: look at orrery_writer_status()
 *     ...
 *     orrery_writer_free(writer);
 *
 * Mistakes (a value without a name in an object, an end too many, no UTF-8, no memory) are kept and told at the end:
 * there is no need to look at anything in between. A NULL writer is one that there was no memory for. It may be
 * written to, and says so at the end.
 */

typedef struct orrery_writer orrery_writer;

orrery_status orrery_writer_new(orrery_writer **writer);
void orrery_writer_free(orrery_writer *writer);
void orrery_writer_reset(orrery_writer *writer); /* begins again, in the same memory */

void orrery_write_object(orrery_writer *writer); /* until orrery_write_end() */
void orrery_write_array(orrery_writer *writer);
void orrery_write_end(orrery_writer *writer);
void orrery_write_name(orrery_writer *writer, const char *name);
void orrery_write_string(orrery_writer *writer, const char *text, size_t size);
void orrery_write_number(orrery_writer *writer, double number); /* finite */
void orrery_write_int(orrery_writer *writer, int64_t number);
void orrery_write_bool(orrery_writer *writer, int value);
void orrery_write_null(orrery_writer *writer);
void orrery_write_value(orrery_writer *writer, orrery_value value);
void orrery_write_json(orrery_writer *writer, const char *json, size_t size); /* a value as text */

/* The finished value, with a NUL behind it; NULL when it is not finished or went wrong. Lives until the next write. */
const char *orrery_writer_text(const orrery_writer *writer, size_t *size);
orrery_status orrery_writer_status(const orrery_writer *writer);

/* ---- Keys ------------------------------------------------------------------------------------------------ *
 *
 * The partition key of an item, and what a resolver places documents by.
 *
 *     orrery_key city = orrery_key_text("Lyon");
 *     orrery_key levels[] = { orrery_key_text("tenant-7"), orrery_key_number(12) };
 *     orrery_key tenant = orrery_key_list(levels, 2);        a hierarchical key
 *
 * A key borrows its text and its items: they must live as long as it does.
 */

typedef enum orrery_key_type {
    ORRERY_KEY_NONE, /* the item has no such property */
    ORRERY_KEY_NULL,
    ORRERY_KEY_TEXT,
    ORRERY_KEY_NUMBER,
    ORRERY_KEY_BOOL,
    ORRERY_KEY_RANGE, /* for resolvers: items[0] to items[1], both included */
    ORRERY_KEY_LIST,  /* the levels of a hierarchical key; for resolvers: several keys */
    ORRERY_KEY_TIME,  /* for resolvers: `number` is milliseconds since 1970, UTC */
    ORRERY_KEY_KIND,  /* for resolvers: items[0] names a kind of document, items[1] is a key of that kind */
    ORRERY_KEY_GUID, /* for resolvers: `text` is one, in any case of letters, in braces or not, with hyphens or without */
    ORRERY_KEY_TUPLE /* for resolvers: a composite key, whose parts are compared one after another */
} orrery_key_type;

typedef struct orrery_key {
    orrery_key_type type;
    const char *text;
    size_t size;   /* of the text, in bytes */
    double number; /* of a bool: 0 or 1 */
    const struct orrery_key *items;
    size_t count;
    int64_t integer; /* of a number that is_integer: exactly; `number` is as near as a double comes */
    int is_integer;
} orrery_key;

orrery_key orrery_key_none(void);
orrery_key orrery_key_null(void);
orrery_key orrery_key_text(const char *text); /* NULL: a null */
orrery_key orrery_key_bytes(const char *text, size_t size);
orrery_key orrery_key_number(double number);
orrery_key orrery_key_int(int64_t number); /* all 64 bits count where keys are compared */
orrery_key orrery_key_bool(int value);
orrery_key orrery_key_list(const orrery_key *items, size_t count);
orrery_key orrery_key_range(const orrery_key *low_and_high); /* two of them */
orrery_key orrery_key_time(int64_t unix_ms);
orrery_key orrery_key_of_kind(const orrery_key *kind_and_key); /* two of them */
orrery_key orrery_key_guid(const char *text);                  /* NULL: a null */
orrery_key orrery_key_tuple(const orrery_key *parts, size_t count);

/* ---- Databases, containers and whatever else has a link ------------------------------------------------- *
 *
 * Everything but items is handled by these. A feed's link is its parent's link and the kind of thing:
 *     "dbs"   "dbs/shop/colls"   "dbs/shop/colls/orders/sprocs"   ".../triggers"   ".../udfs"
 *     "dbs/shop/users"   "dbs/shop/users/ann/permissions"   "offers"
 *
 *     const char *script = "{\"id\":\"hello\",\"body\":\"function () { ... }\"}";
 *     orrery_create(client, "dbs/shop/colls/orders/sprocs", script, ORRERY_TEXT, NULL, NULL);
 *     orrery_read(client, "dbs/shop", NULL, &response);
 *     orrery_delete(client, "dbs/shop", NULL, NULL);
 *
 * What Orrery has beside the protocol is posted likewise: "_orrery/advise", "_orrery/split".
 *     orrery_create(client, "_orrery/advise", "{\"of\":\"dbs/shop\"}", ORRERY_TEXT, NULL, &response);
 *
 * Wherever a call has `orrery_response **response`, NULL is welcome.
 */

orrery_status orrery_create(orrery_client *client, const char *feed_link, const char *json, size_t size,
                            const orrery_options *options, orrery_response **response);
orrery_status orrery_upsert(orrery_client *client, const char *feed_link, const char *json, size_t size,
                            const orrery_options *options, orrery_response **response);
orrery_status orrery_read(orrery_client *client, const char *link, const orrery_options *options,
                          orrery_response **response);
orrery_status orrery_replace(orrery_client *client, const char *link, const char *json, size_t size,
                             const orrery_options *options, orrery_response **response);
orrery_status orrery_delete(orrery_client *client, const char *link, const orrery_options *options,
                            orrery_response **response);

/* What has that id in the feed, or else is made now: the answer's status is 200 or 201. It waits: options->done is
   ORRERY_EUNSUPPORTED. */
orrery_status orrery_create_if_missing(orrery_client *client, const char *feed_link, const char *json,
                                       size_t size, const orrery_options *options,
                                       orrery_response **response);

/* orrery_database_create(client, "shop", NULL, NULL); with options->throughput its containers share that. */
orrery_status orrery_database_create(orrery_client *client, const char *id, const orrery_options *options,
                                     orrery_response **response);

/* What a container is made of. Policies are JSON texts as the service has them; NULL: its defaults. */
typedef struct orrery_container {
    size_t size;
    const char *id;
    const char *partition_key[3]; /* paths, "/city"; more than one: a hierarchical key */
    const char *indexing_policy, *unique_key_policy, *conflict_resolution_policy;
    const char *computed_properties, *vector_embedding_policy, *change_feed_policy;
    int default_ttl; /* seconds; -1: on, without a default; 0: off */
} orrery_container;

/*
 *     orrery_container orders = { .size = sizeof(orders), .id = "orders", .partition_key = { "/city" } };
 *     orrery_options options = { .size = sizeof(options), .throughput = 1000 };
 *     orrery_container_create(client, "dbs/shop", &orders, &options, NULL);
 */
orrery_status orrery_container_create(orrery_client *client, const char *database_link,
                                      const orrery_container *container, const orrery_options *options,
                                      orrery_response **response);
orrery_status orrery_container_replace(orrery_client *client, const char *container_link,
                                       const orrery_container *container, const orrery_options *options,
                                       orrery_response **response);

/* The RU/s of a database or a container; `autoscale` (may be NULL) is 1 when the figure is a maximum.
   ORRERY_ENOTFOUND: it has none of its own. Replacing may also change between fixed and autoscale throughput. */
orrery_status orrery_throughput_read(orrery_client *client, const char *link, int *throughput,
                                     int *autoscale);
orrery_status orrery_throughput_replace(orrery_client *client, const char *link, int throughput,
                                        int autoscale);

/* ---- Items ----------------------------------------------------------------------------------------------- *
 *
 *     orrery_options new_only = { .size = sizeof(new_only), .if_match = orrery_response_etag(read) };
 *     orrery_item_create(client, orders, "{\"id\":\"42\",\"city\":\"Lyon\"}", ORRERY_TEXT, &city, NULL, NULL);
 *     orrery_item_replace(client, orders, "42", text, size, &city, &new_only, NULL);     ORRERY_EPRECONDITION
 *
 * `key` is the item's partition key. Where there is a document, `key` may be NULL: the library then reads the container's
 * definition, once, and takes the key out of the document. It reads the definition again when the server says that the
 * container was made anew with another key. A document that is created or upserted without an id gets one.
 * For creates and upserts the link may be a database's that has a resolver: see "Client-side partitioning".
 */

orrery_status orrery_item_create(orrery_client *client, const char *link, const char *json, size_t size,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response);
orrery_status orrery_item_upsert(orrery_client *client, const char *link, const char *json, size_t size,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response);
orrery_status orrery_item_read(orrery_client *client, const char *container_link, const char *id,
                               const orrery_key *key, const orrery_options *options,
                               orrery_response **response);
orrery_status orrery_item_replace(orrery_client *client, const char *container_link, const char *id,
                                  const char *json, size_t size, const orrery_key *key,
                                  const orrery_options *options, orrery_response **response);
orrery_status orrery_item_delete(orrery_client *client, const char *container_link, const char *id,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response);

/*
 * Many items by their ids and keys, by as few requests as there are ranges: {"Documents":[...],"_count":2}, in the order in
 * which they were asked for. Those that are not there are left out. It waits: options->done is ORRERY_EUNSUPPORTED.
 */
typedef struct orrery_identity {
    const char *id;
    orrery_key key;
} orrery_identity;

orrery_status orrery_read_many(orrery_client *client, const char *container_link,
                               const orrery_identity *items, size_t count, const orrery_options *options,
                               orrery_response **response);

/* Deletes every item of a partition key, which is whole. */
orrery_status orrery_items_delete(orrery_client *client, const char *container_link, const orrery_key *key,
                                  const orrery_options *options, orrery_response **response);

/*
 * Changes to parts of an item, all or none. Values are JSON texts.
 *     orrery_patch_new(&patch);
 *     orrery_patch_set(patch, "/done", "true");
 *     orrery_patch_increment(patch, "/count", 1);
 *     orrery_item_patch(client, orders, "42", &city, patch, NULL, NULL);
 *     orrery_patch_free(patch);
 * Mistakes are told by orrery_item_patch(), as with a writer.
 */
typedef struct orrery_patch orrery_patch;

orrery_status orrery_patch_new(orrery_patch **patch);
void orrery_patch_free(orrery_patch *patch);
void orrery_patch_add(orrery_patch *patch, const char *path, const char *json);
void orrery_patch_set(orrery_patch *patch, const char *path, const char *json);
void orrery_patch_replace(orrery_patch *patch, const char *path, const char *json);
void orrery_patch_remove(orrery_patch *patch, const char *path);
void orrery_patch_increment(orrery_patch *patch, const char *path, double by);
void orrery_patch_move(orrery_patch *patch, const char *from, const char *to);
void orrery_patch_condition(orrery_patch *patch, const char *condition); /* "from c where c.count < 9" */

orrery_status orrery_item_patch(orrery_client *client, const char *container_link, const char *id,
                                const orrery_key *key, const orrery_patch *patch,
                                const orrery_options *options, orrery_response **response);

/* ---- Batches --------------------------------------------------------------------------------------------- *
 *
 * Operations on items. orrery_batch_run() does all of them or none: up to 100, on the items of one partition key.
 * orrery_bulk_run() does each by itself, whatever their keys and however many there are; those of one range go together.
 *
 *     orrery_batch_new(&batch);
 *     orrery_batch_create(batch, "{\"id\":\"1\",\"city\":\"Lyon\"}", ORRERY_TEXT, NULL);
 *     orrery_batch_delete(batch, "2", NULL, NULL);
 *     status = orrery_batch_run(client, orders, &city, batch, NULL, &results);
 *     orrery_batch_result(results, 0, &first);                 orrery_result first = { .size = sizeof(first) };
 *
 * `key` of an operation is for orrery_bulk_run(); for orrery_batch_run() it is NULL. `etag` may be NULL. Mistakes are
 * told when the batch is run.
 *
 * Where the link is a database's that has a resolver, a bulk's documents go each to its own collection; an operation without
 * a document is ORRERY_EINVAL, and options->done ORRERY_EUNSUPPORTED. A batch goes to the collection of its documents,
 * which must be one.
 */

typedef struct orrery_batch orrery_batch;

orrery_status orrery_batch_new(orrery_batch **batch);
void orrery_batch_free(orrery_batch *batch);
void orrery_batch_create(orrery_batch *batch, const char *json, size_t size, const orrery_key *key);
void orrery_batch_upsert(orrery_batch *batch, const char *json, size_t size, const orrery_key *key);
void orrery_batch_replace(orrery_batch *batch, const char *id, const char *json, size_t size,
                          const char *etag, const orrery_key *key);
void orrery_batch_read(orrery_batch *batch, const char *id, const orrery_key *key);
void orrery_batch_delete(orrery_batch *batch, const char *id, const char *etag, const orrery_key *key);
void orrery_batch_patch(orrery_batch *batch, const char *id, const orrery_patch *patch, const char *etag,
                        const orrery_key *key);

typedef struct orrery_result {
    size_t size; /* set by you: { .size = sizeof(result) } */
    orrery_status status;
    int http; /* 424, and of a transaction that writes 453: not done, because of another operation */
    double charge;
    orrery_value etag; /* texts; undefined: none */
    orrery_value body;
    int sub_status;       /* 1110, ...; 0: none */
    orrery_value session; /* of a transaction: the token of the operation's container; undefined: none */
} orrery_result;

/* ORRERY_EBATCH: nothing was done, and there is a response all the same. */
orrery_status orrery_batch_run(orrery_client *client, const char *container_link, const orrery_key *key,
                               const orrery_batch *batch, const orrery_options *options,
                               orrery_response **response);

/*
 * ORRERY_EBATCH: some operations failed, and there is a response all the same, with a result for each operation. An
 * operation whose whole request failed has that failure as its status, and an http of 0 if there was no answer. With
 * ORRERY_EIO or ORRERY_ETIMEOUT it may have happened. ORRERY_ENOMEM: some operations may have happened, and there is no
 * memory to say which. Any other failure: nothing was sent. options->timeout_ms is the time of each request.
 */
orrery_status orrery_bulk_run(orrery_client *client, const char *container_link, const orrery_batch *batch,
                              const orrery_options *options, orrery_response **response);

/* ORRERY_EINVAL: the response has no such operation. Values live as long as the response. */
orrery_status orrery_batch_result(orrery_response *response, size_t index, orrery_result *result);

/* ---- Transactions ------------------------------------------------------------------------------------------ *
 *
 * Up to 100 writes, or as many reads, of any items: of several keys, containers and databases. Writes are done all or not at
 * all; reads see the items as of one moment. (On Azure Cosmos DB this is a preview.)
 *
 *     orrery_transaction_new(&transaction);
 *     orrery_transaction_create(transaction, "dbs/shop/colls/orders", order, ORRERY_TEXT, &customer);
 *     orrery_transaction_patch(transaction, "dbs/shop/colls/stock", "pen", take_two, NULL, &pen);
 *     status = orrery_transaction_run(client, transaction, NULL, &results);
 *     orrery_transaction_result(results, 1, &second);          orrery_result second = { .size = sizeof(second) };
 *     orrery_transaction_free(transaction);
 *
 * Operations are as in a batch, and each names its container, by ids: no self-link, and no database that has a resolver.
 * `key` is the item's; where there is a document it may be NULL, as for orrery_item_create(). A document has its id.
 * `etag` may be NULL: of a write it must still be the item's, a read that finds it has http 304 and no body. Conditions of
 * patches count (orrery_patch_condition()). Mistakes are told when the transaction is run.
 *
 * The server keeps what became of a transaction under its token, a GUID. So a request whose answer was lost is sent again,
 * and is done once: by the library itself, as often and as long as the client's settings allow, and by you. After ORRERY_EIO
 * or ORRERY_ETIMEOUT run the same object again: it asks what became of it. A program that may be ended in between writes the
 * token down first, and gives it to the same operations when it is back: the server says what became of them, or does them.
 * The token of an abort is spent. To try once more, set another (NULL: one that the library makes).
 */

typedef struct orrery_transaction orrery_transaction;

orrery_status orrery_transaction_new(orrery_transaction **transaction);
void orrery_transaction_free(orrery_transaction *transaction); /* also while it is under way */
void orrery_transaction_create(orrery_transaction *transaction, const char *container_link, const char *json,
                               size_t size, const orrery_key *key);
void orrery_transaction_upsert(orrery_transaction *transaction, const char *container_link, const char *json,
                               size_t size, const orrery_key *key);
void orrery_transaction_replace(orrery_transaction *transaction, const char *container_link, const char *id,
                                const char *json, size_t size, const char *etag, const orrery_key *key);
void orrery_transaction_patch(orrery_transaction *transaction, const char *container_link, const char *id,
                              const orrery_patch *patch, const char *etag, const orrery_key *key);
void orrery_transaction_delete(orrery_transaction *transaction, const char *container_link, const char *id,
                               const char *etag, const orrery_key *key);
void orrery_transaction_read(orrery_transaction *transaction, const char *container_link, const char *id,
                             const char *etag, const orrery_key *key);

/*
 * Each transaction is made with a token. Until you have asked for it, the library may take another one when the server aborts
 * the transaction and says that it may be tried again (a lost race on Azure); from then on such an abort comes to you, as
 * it always does with options->done.
 */
const char *orrery_transaction_token(orrery_transaction *transaction);

/* One of your own, which a repetition has again; NULL: a new one. ORRERY_EINVAL: it is no GUID. */
orrery_status orrery_transaction_set_token(orrery_transaction *transaction, const char *token);

/*
 * ORRERY_EBATCH: nothing was done, and there is a response all the same. A read that fails because of an item has that item's
 * failure as its status, and a response; ORRERY_NOT_MODIFIED: all items are as their ETags say. ORRERY_EIO, ORRERY_ETIMEOUT,
 * ORRERY_ENOMEM, ORRERY_ECANCELED, ORRERY_ESERVER: run it again to learn what became of it. ETags, session tokens and triggers
 * of the options are refused: the first are the operations' own, the second the library's, and no triggers are run.
 */
orrery_status orrery_transaction_run(orrery_client *client, orrery_transaction *transaction,
                                     const orrery_options *options, orrery_response **response);

/* As orrery_batch_result(). The body is that of a read. */
orrery_status orrery_transaction_result(orrery_response *response, size_t index, orrery_result *result);

/* ---- Cursors: queries, lists, changes ---------------------------------------------------------------------- *
 *
 *     orrery_parameter over[] = { { "@age", "30" } };                values are JSON texts
 *
 *     orrery_query_open(client, people, "SELECT * FROM c WHERE c.age > @age", over, 1, NULL, NULL, &query);
 *     while ((status = orrery_query_step(query)) == ORRERY_ROW)
 *         puts(orrery_query_row(query, NULL));
 *     if (status != ORRERY_DONE)
 *         fprintf(stderr, "%s\n", orrery_error(client));
 *     orrery_query_close(query);
 *
 * With a key the query stays within that key; a part of a hierarchical key is welcome too. Without a key it is about
 * the whole container, and the server answers it whole. Where the server cannot, or where options->parallel asks for
 * it, the library gets a plan and the container's ranges, asks each range and merges the answers: ORDER BY, TOP, OFFSET
 * and LIMIT, DISTINCT, aggregates, GROUP BY, ORDER BY RANK. Ranges that split meanwhile are followed. If the link is that of a database
 * with a resolver, the query goes to the collections that the resolver names for `key`, and is merged in the same way.
 */

typedef struct orrery_query orrery_query;

typedef struct orrery_parameter {
    const char *name;  /* "@age" */
    const char *value; /* JSON */
} orrery_parameter;

/* `link` is a container's, a feed's ("dbs", "dbs/shop/colls", "offers") or a database's that has a resolver. */
orrery_status orrery_query_open(orrery_client *client, const char *link, const char *sql,
                                const orrery_parameter *parameters, size_t count, const orrery_key *key,
                                const orrery_options *options, orrery_query **query);

/* All that a feed has, or all items of a container (or of one key in it). */
orrery_status orrery_list_open(orrery_client *client, const char *link, const orrery_key *key,
                               const orrery_options *options, orrery_query **query);

/*
 * Items as they change. Those of one range or key come in the order of their changes. orrery_query_step() says
 * ORRERY_DONE when there is nothing new: ask again later, with the same cursor or with its continuation.
 * ORRERY_FROM_NOW means from the first step on: the server is asked only then.
 */
typedef enum orrery_start { ORRERY_FROM_BEGINNING, ORRERY_FROM_NOW, ORRERY_FROM_TIME } orrery_start;

orrery_status orrery_changes_open(orrery_client *client, const char *container_link, const orrery_key *key,
                                  orrery_start start, int64_t unix_seconds, const orrery_options *options,
                                  orrery_query **query);

/* ORRERY_ROW, ORRERY_DONE, ORRERY_WAIT (options->no_wait), or a failure, after which the same step may be tried again. */
orrery_status orrery_query_step(orrery_query *query);

/* The row of the last step as JSON, until the next step; NULL when there is none. */
const char *orrery_query_row(const orrery_query *query, size_t *size);
orrery_value orrery_query_value(orrery_query *query);     /* the same, parsed; until the next step */
const char *orrery_query_link(const orrery_query *query); /* the collection that it came from */
double orrery_query_charge(const orrery_query *query);    /* request units, so far */

/* The answer that brought the last page: its headers, status and charge. Its body is empty: the rows are what was in it.
   NULL: there was none yet. Until the next step. */
const orrery_response *orrery_query_response(const orrery_query *query);

/* With options->metrics: the sum over all pages so far of a figure of x-ms-documentdb-query-metrics
   ("retrievedDocumentCount", "totalExecutionTimeInMs"...); 0: no page had it. What the last page said of indexes is
   in its x-ms-cosmos-index-utilization. */
double orrery_query_metric(const orrery_query *query, const char *name);

/*
 * Where to go on after the last row: the options->continuation of another cursor for the same query. orrery_free() it.
 * NULL and ORRERY_OK: there is nothing more. ORRERY_EUNSUPPORTED: this is a merged query with DISTINCT, aggregates or
 * GROUP BY, and its continuation would have to carry along all that was seen.
 */
orrery_status orrery_query_continuation(orrery_query *query, char **continuation);
void orrery_query_close(orrery_query *query);

/* ---- A change feed processor ------------------------------------------------------------------------------- *
 *
 * Every change of a container is handed to one of several processes, which share the ranges: each has leases of some of them,
 * and a lease says where its range's feed goes on. A process that is ended loses its leases after expires_ms, and others go
 * on where it was: changes that were handed to it, and not yet noted, come again, so that none is missed.
 *
 *     orrery_processor_options options = { .size = sizeof(options), .name = "mails", .instance = host_and_process,
 *                                          .lease_link = "dbs/shop/colls/leases", .changes = send_mails };
 *     orrery_processor_open(client, "dbs/shop/colls/orders", &options, &processor);
 *     while (orrery_processor_run(processor, 10000) == ORRERY_OK)
 *         ...
 *     orrery_processor_close(processor);
 *
 * Leases are documents of the .NET and Java SDKs' form: their processors of the same name, on an endpoint of the same host,
 * share the work with ours, and take over from each other.
 */
typedef struct orrery_processor orrery_processor;

/* Changes of one lease, an array, in their order. A failure: they come again, with the next orrery_processor_run(). */
typedef orrery_status orrery_changes(void *context, const char *lease, orrery_value changes);

typedef struct orrery_processor_options {
    size_t size;
    const char *name;       /* those of one name share the work */
    const char *instance;   /* of this one: no other of the name has it */
    const char *lease_link; /* a container by /id */
    orrery_changes *changes;
    void *context;
    orrery_start start; /* where there is no lease yet */
    int64_t start_unix_seconds;
    int all_versions; /* 1: every version and deletion */
    int page_items;   /* changes at a time; 0: the server decides */
    int poll_ms;      /* between looks at a feed that has nothing new; 0: 5,000 */
    int acquire_ms;   /* between looks at who has which lease; 0: 13,000 */
    int renew_ms;     /* 0: 17,000 */
    int expires_ms;   /* longer than the function ever takes, and renew_ms with it; 0: 60,000 */
} orrery_processor_options;

orrery_status orrery_processor_open(orrery_client *client, const char *container_link,
                                    const orrery_processor_options *options, orrery_processor **processor);

/* Works for that long (-1: until something fails), and waits where there is nothing to do. */
orrery_status orrery_processor_run(orrery_processor *processor, int timeout_ms);
size_t orrery_processor_leases(const orrery_processor *processor); /* that this one has now */

/* Gives its leases back, so that others need not wait. */
void orrery_processor_close(orrery_processor *processor);

/* ---- Stored procedures ----------------------------------------------------------------------------------- *
 *
 *     orrery_procedure_run(client, "dbs/shop/colls/orders/sprocs/hello", &city, "[\"world\"]", NULL, &response);
 *
 * Its definition, triggers and functions are made with orrery_create().
 */
orrery_status orrery_procedure_run(orrery_client *client, const char *procedure_link, const orrery_key *key,
                                   const char *arguments_json, const orrery_options *options,
                                   orrery_response **response);

/* ---- Calls that do not wait -------------------------------------------------------------------------------- *
 *
 * With options->done every call above that takes options returns at once: ORRERY_OK means that it is under way,
 * and that `done` will be called, once, by orrery_run(). The call's `response` argument is then NULL. (A call for an
 * item without a key, and a bulk, wait for the container's definition, once.)
 *
 *     orrery_options later = { .size = sizeof(later), .done = item_has_come, .context = page };
 *     orrery_item_read(client, orders, "42", &city, &later, NULL);
 *     while (under_way > 0)
 *         orrery_run(client, 1000, &under_way);
 *
 * A callback may begin further calls, also calls that wait; it must not close the client. In a loop of your own:
 *
 *     count = orrery_poll_set(client, fds, 64, &timeout_ms);
 *     poll(fds, count, timeout_ms);
 *     orrery_run(client, 0, &under_way);
 */
struct pollfd;

/* Does what can be done, waits for more up to timeout_ms (-1: as long as anything is under way), and calls callbacks.
   `under_way` becomes how many calls have not ended; it may be NULL. */
orrery_status orrery_run(orrery_client *client, int timeout_ms, size_t *under_way);

/* Ends the calls that do not wait and were begun with this context. Their `done` is called by the next orrery_run(), with
   ORRERY_ECANCELED. Returns how many; bulks are not ended. */
size_t orrery_cancel(orrery_client *client, const void *context);

/* Returns how many descriptors there are, and writes up to `capacity` of them to `fds`. timeout_ms becomes when to call
   orrery_run() at the latest (-1: whenever one of them is ready). */
size_t orrery_poll_set(const orrery_client *client, struct pollfd *fds, size_t capacity, int *timeout_ms);

/* ---- The database inside the program ------------------------------------------------------------------------ *
 *
 *     orrery_settings settings = { .size = sizeof(settings), .directory = "data" };
 *
 * Linked with liborrery-embedded (pkg-config orrery-embedded), a client may have the database in its own process: every
 * call of this header means the same, and no socket and no signature is in between. liborrery itself has no database:
 * there orrery_open() says ORRERY_EUNSUPPORTED. docs/embedded.md has the whole of it.
 *
 * Clients of one directory share one database, which is closed with the last of them: a thread that wants to ask opens
 * a client of its own. Another process that opens the directory meanwhile is refused, ORRERY_EBUSY. A write that was
 * answered survives the end of the process, kill -9 too. After fork() the child leaves all of it alone.
 */

/* What the database inside says of itself: one line, without a line end. It comes on any thread, and calls nothing here. */
typedef enum orrery_log_level {
    ORRERY_LOG_ERROR,
    ORRERY_LOG_WARN,
    ORRERY_LOG_INFO,
    ORRERY_LOG_DEBUG
} orrery_log_level;
typedef void orrery_log(void *context, orrery_log_level level, const char *line);

/* From now on, for all databases of the process; up to this level. NULL: nobody is told, as in the beginning. */
void orrery_log_to(orrery_log *log, void *context, orrery_log_level level);

typedef struct orrery_listen_settings {
    size_t size;
    const char *address; /* "localhost:8081"; port 0: one that is free */
    const char *key; /* base64 of 32 bytes at least; NULL: the emulator's well-known one, on loopback only */
    const char *tls_cert, *tls_key; /* PEM files; NULL: the directory's own certificate, in memory none */
    int no_tls;                     /* 1: http only */
} orrery_listen_settings;

/*
 * From now on SDKs and other programs may use the database that this client has open, as they use a server, until
 * orrery_listen_end(), or until its last client is closed. `address`, if it is not NULL, gets "127.0.0.1:8081".
 * ORRERY_EINVAL: this client is one over HTTP. ORRERY_EBUSY: it listens already. ORRERY_EIO: it cannot listen there.
 */
orrery_status orrery_listen(orrery_client *client, const orrery_listen_settings *settings, char *address,
                            size_t address_size);
void orrery_listen_end(orrery_client *client); /* requests in flight are finished first */

/* ---- Client-side partitioning ------------------------------------------------------------------------------ *
 *
 * A resolver says which collection of a database a document belongs in, as the DocumentDB SDKs had it. When it is
 * registered for a database's link, orrery_item_create(), orrery_item_upsert(), orrery_batch_run(), orrery_bulk_run(),
 * orrery_query_open() and orrery_list_open() ask it whenever they are given that link. Replaces, deletes, patches and point reads name their
 * collection, and are never routed.
 *
 *     const char *links[] = { "dbs/app/colls/users0", "dbs/app/colls/users1" };
 *     orrery_extractor by_user = { .size = sizeof(by_user), .property = "userId" };
 *
 *     orrery_resolver_hash(&by_user, links, 2, NULL, &resolver);
 *     orrery_client_set_resolver(client, "dbs/app", resolver);
 *     orrery_resolver_unref(resolver);
 *     orrery_item_create(client, "dbs/app", json, ORRERY_TEXT, NULL, NULL, NULL);
 *
 * Database links are compared without slashes at their ends. A hash ring is made of the collections' links exactly as they
 * are given: a slash more, or a self-link instead of a name, is another ring.
 */

typedef struct orrery_resolver orrery_resolver; /* counts its users */
typedef struct orrery_links orrery_links;       /* a list of links, each once */
typedef struct orrery_held_key orrery_held_key; /* a key that has memory of its own */

orrery_status orrery_links_new(orrery_links **links);
void orrery_links_free(orrery_links *links);
orrery_status orrery_links_add(orrery_links *links,
                               const char *link); /* one that is there already is not repeated */
size_t orrery_links_count(const orrery_links *links);
const char *orrery_links_at(const orrery_links *links, size_t index); /* NULL past the end */

/* Copies the key with all it points to, in place of what was held before. */
orrery_status orrery_held_key_put(orrery_held_key *held, const orrery_key *key);
const orrery_key *orrery_held_key_get(const orrery_held_key *held);
void orrery_held_key_free(orrery_held_key *held);

/*
 * How a document's key is found. Exactly one of three is given: one property by its flat name ("a.b" is no path); several
 * properties as a composite key, which is their texts with a separator between them; or a function of yours, which puts
 * the key that it found (orrery_held_key_put).
 * `as` says what a property's value is turned into: ORRERY_KEY_NONE leaves it; ORRERY_KEY_TEXT spells numbers as
 * JavaScript does; ORRERY_KEY_TIME reads texts as ISO 8601 and numbers as seconds since 1970, as _ts has them;
 * ORRERY_KEY_GUID reads texts. Of several properties ORRERY_KEY_TUPLE leaves the values as they are, and joins no texts.
 */
typedef struct orrery_extractor {
    size_t size;
    const char *property;
    const char *const *properties;
    size_t property_count;
    const char *separator; /* NULL: "-" */
    orrery_key_type as;
    orrery_status (*extract)(void *context, orrery_value document, orrery_held_key *key);
    void *context; /* lives as long as the resolver */
    const char
        *name; /* of `extract`, for saved states: whoever loads one brings a function of this name again */
} orrery_extractor;

/*
 * A resolver of your own. Every function gets `self`, and may be called by each thread that uses the resolver.
 * for_create adds exactly one link. for_read adds all links when the key is ORRERY_KEY_NONE. To chain resolvers, make
 * one that holds others (orrery_resolver_ref) and asks them.
 *
 *     static orrery_status by_region(void *self, const orrery_key *key, orrery_links *links)
 *     {
 *         return orrery_links_add(links, is_european(key) ? "dbs/app/colls/eu" : "dbs/app/colls/us");
 *     }
 */
typedef struct orrery_resolver_vtbl {
    size_t size;
    orrery_status (*partition_key)(void *self, orrery_value document, orrery_held_key *key);
    orrery_status (*for_create)(void *self, const orrery_key *key, orrery_links *links);
    orrery_status (*for_read)(void *self, const orrery_key *key, orrery_links *links);
    orrery_status (*save)(void *self, char **json); /* malloc()ed; may be NULL */
    void (*destroy)(void *self);                    /* may be NULL */
} orrery_resolver_vtbl;

orrery_status orrery_resolver_custom(const orrery_resolver_vtbl *vtbl, void *self,
                                     orrery_resolver **resolver);

/* A hash to build rings with: digests are numbers whose most significant byte is the first or the last one. */
typedef struct orrery_hash {
    size_t size;
    size_t digest_bytes; /* at most 64 */
    int msb_first;
    void *context;
    orrery_status (*hash)(void *context, const void *bytes, size_t size, unsigned char *digest);
    const char *name; /* for saved states */
} orrery_hash;

/* MurmurHash3, 32 bits: keys lie where the Node, Python and Java SDKs put them. */
extern const orrery_hash orrery_hash_murmur3;

/* MD5. On the common ring the last byte weighs most, as it does where MD5 is plugged into the Python and Java SDKs. A copy
   with msb_first = 1 is the other way. On the .NET SDK's rings the first byte of any digest weighs most. */
extern const orrery_hash orrery_hash_md5;

/*
 * What a ring is made like. The .NET SDK's begins each collection's points at the runtime's own hash of the link's text, and
 * gives a key the next point at or above it. That hash is fixed on .NET Framework, and differs by the process' width. On .NET
 * Core and later it is another one in every process: nobody finds what such a process has placed, unless it told its seeds.
 */
typedef enum orrery_ring {
    ORRERY_RING_COMMON,   /* of the Node, Python and Java SDKs */
    ORRERY_RING_NET64,    /* of the .NET SDK on .NET Framework, in a process of 64 bits */
    ORRERY_RING_NET32,    /* in a process of 32 bits */
    ORRERY_RING_NET_SEEDS /* with the text hashes that the caller gives */
} orrery_ring;

typedef struct orrery_hash_options {
    size_t size;
    const orrery_hash *hash; /* NULL: Murmur3; on the .NET SDK's rings MD5 */
    int virtual_nodes;       /* of each collection; 0: 128 */
    orrery_ring ring;
    const uint32_t *seeds; /* of ORRERY_RING_NET_SEEDS: GetHashCode() of each link, in their order */
} orrery_hash_options;

/*
 * Keys are texts, and the empty text is a key. A key of another type is ORRERY_EKEYTYPE. Without a key, a create is
 * ORRERY_ENOKEY and a read asks all collections. No links: ORRERY_EINVAL; a text that is no link of a collection:
 * ORRERY_ELINK. A link that repeats counts once.
 */
orrery_status orrery_resolver_hash(const orrery_extractor *extractor, const char *const *links, size_t count,
                                   const orrery_hash_options *options, orrery_resolver **resolver);

/* From low to high, both included. A high of ORRERY_KEY_NONE: a point, low alone. */
typedef struct orrery_range {
    orrery_key low, high;
    const char *link;
} orrery_range;

/* How ranges are looked up, where the usual way is not the one that is wanted. */
typedef struct orrery_range_options {
    size_t size;
    /* An order of your own: negative, zero, positive. Keys and ends may then be of any types, null too. */
    int (*compare)(void *context, const orrery_key *a, const orrery_key *b);
    void *context; /* lives as long as the resolver */
    const char
        *name; /* of `compare`, for saved states: whoever loads one brings a function of this name again */
    /*
     * 1: as the .NET SDK's RangePartitionResolver. A create takes the first range in the order of lows, then of highs.
     * Keys are converted to the ends' type: 5.5 and "5" to integers, texts to times. orrery_resolve_read() names a collection
     * as often as keys of a list lead to it, though a query asks it once. A range is no key of a create (ORRERY_EKEYTYPE),
     * and the same range twice is ORRERY_EINVAL. Texts have the order that .NET calls ordinal, unless `compare` has another.
     */
    int net;
} orrery_range_options;

/*
 * All ends are of one type that has an order: numbers (integers of 64 bits exactly), texts (by UTF-16 units, as the Node and
 * Java SDKs order them), times, booleans (false, then true), GUIDs (as .NET orders them), or tuples (by their first part that
 * differs; parts of different types: null, booleans, numbers, times, texts, GUIDs). Null is less than all others: where an end
 * is null, a null is a key; where none is, a create without a value is ORRERY_ENOKEY and a read asks all collections.
 * Keys of another type are ORRERY_EKEYTYPE. A create takes the first range that has the key, or the
 * whole of a key that is a range; ORRERY_ENORANGE: none has it. A read asks every range that the key meets (of a list:
 * that any of its keys meets), in their order; where the key meets none, no collection is asked. Ranges may overlap. A
 * low above its high is ORRERY_EINVAL. `options` may be NULL.
 */
orrery_status orrery_resolver_range(const orrery_extractor *extractor, const orrery_range *ranges,
                                    size_t count, const orrery_range_options *options,
                                    orrery_resolver **resolver);

/* A table from key to collection, looked up by halves, over the same types; several keys may have the same collection.
   ORRERY_ENORANGE: a create's key is not in it. */
typedef struct orrery_lookup {
    orrery_key key;
    const char *link;
} orrery_lookup;

orrery_status orrery_resolver_lookup(const orrery_extractor *extractor, const orrery_lookup *rows,
                                     size_t count, const orrery_range_options *options,
                                     orrery_resolver **resolver);

/*
 * Different kinds of document are placed differently, each kind by a resolver of its own. A document is of the first kind
 * whose `matches` says 1 or, where that is NULL, whose name the document has as its `property`. A kind with neither takes
 * what is left; without such a kind the rest is ORRERY_ENORANGE. Reads are given orrery_key_of_kind(): the name, and a
 * key of that kind. A key without a kind asks every kind that takes such keys.
 */
typedef struct orrery_kind {
    const char *name;
    int (*matches)(void *context, orrery_value document);
    void *context;
    orrery_resolver *resolver;
} orrery_kind;

orrery_status orrery_resolver_kinds(const char *property, const orrery_kind *kinds, size_t count,
                                    orrery_resolver **resolver);

/* While documents move from one arrangement to another: creates go to the next, reads as the mode says. */
typedef enum orrery_read_mode {
    ORRERY_READ_BOTH,    /* the current collections, then the next ones, each once */
    ORRERY_READ_CURRENT, /* misses what was moved or created since */
    ORRERY_READ_NEXT,    /* misses what has not been moved yet */
    ORRERY_READ_NONE     /* ORRERY_EMIGRATING */
} orrery_read_mode;

orrery_status orrery_resolver_transition(orrery_resolver *current, orrery_resolver *next,
                                         orrery_read_mode mode, orrery_resolver **resolver);

orrery_resolver *orrery_resolver_ref(orrery_resolver *resolver);
void orrery_resolver_unref(orrery_resolver *resolver); /* NULL is welcome */

/* What a resolver says: the key of a document, where to create it, where to read a key (NULL: everything). */
orrery_status orrery_resolver_key(orrery_resolver *resolver, const char *json, size_t size,
                                  orrery_held_key **key);
orrery_status orrery_resolve_create(orrery_resolver *resolver, const orrery_key *key, orrery_links **links);
orrery_status orrery_resolve_read(orrery_resolver *resolver, const orrery_key *key, orrery_links **links);
orrery_status orrery_resolve_document(orrery_resolver *resolver, const char *json, size_t size,
                                      orrery_links **links); /* the key, then where to create */

/*
 * A resolver as JSON; orrery_free() it. What was found, hashed, compared or told apart by a function without a name cannot be
 * saved: ORRERY_ESTATE. Whoever loads a state brings the functions again, and the names must agree. Reading takes the .NET
 * SDK's form too (PartitionKeyPropertyName, CollectionLinks, PartitionMap by "low,high"; such ranges are looked up as there).
 * A file is written beside its place, and then put there in one step.
 */
typedef struct orrery_load_options {
    size_t size;
    const orrery_extractor *extractor; /* for a state whose key was found by a function */
    const orrery_hash *hash;           /* for one whose hash was plugged in, or that names none; NULL: MD5 */
    orrery_key_type range_type;        /* of .NET's ranges, which do not say; ORRERY_KEY_NONE: texts */
    /* for a state that names no hash, which is the .NET SDK's; ORRERY_RING_COMMON: ORRERY_RING_NET64 */
    orrery_ring ring;
    const uint32_t *seeds; /* of ORRERY_RING_NET_SEEDS */
    size_t seed_count;
    const orrery_range_options *ranges; /* for ranges that a function compares */
    const orrery_kind *kinds;           /* for kinds that functions tell apart: their names and functions */
    size_t kind_count;
    orrery_client *client; /* for a spillover resolver, which asks the server; it must outlive it */
} orrery_load_options;

orrery_status orrery_resolver_save(orrery_resolver *resolver, char **json);
orrery_status orrery_resolver_load(const char *json, size_t size, const orrery_load_options *options,
                                   orrery_resolver **resolver);
orrery_status orrery_resolver_save_file(orrery_resolver *resolver, const char *path);
orrery_status orrery_resolver_load_file(const char *path, const orrery_load_options *options,
                                        orrery_resolver **resolver);

/* ---- Collections that are made for you --------------------------------------------------------------------- *
 *
 * These ask the server through the client they are given, which must outlive them; they belong to the thread that
 * uses the client.
 */

/* What collections that a resolver makes look like. */
typedef struct orrery_template {
    size_t size;
    orrery_container container; /* its id is not looked at; no partition key: "/id" */
    int throughput, throughput_max;
    /* definitions, JSON, NULL behind the last; put into collections that were made just now */
    const char *const *procedures;
    const char *const *triggers;
    const char *const *functions;
} orrery_template;

typedef struct orrery_managed_options {
    size_t size;
    size_t count;       /* of collections */
    const char *prefix; /* of their ids, in front of 0, 1, 2...; NULL: "ManagedHashCollection." */
    const orrery_template *collection; /* NULL: partitioned by /id */
    const orrery_hash_options *hash;
    int self_links; /* 1: the ring is made of the collections' self-links, as the .NET sample made it */
} orrery_managed_options;

/* A hash resolver over collections that are looked up, and made where they are missing. */
orrery_status orrery_resolver_managed(orrery_client *client, const char *database_link,
                                      const orrery_extractor *extractor,
                                      const orrery_managed_options *options, orrery_resolver **resolver);

typedef struct orrery_spillover_options {
    size_t size;
    const char *prefix; /* NULL: "Collection." */
    double fill_factor; /* 0: 0.90 */
    int check_seconds;  /* 0: 3,600; -1: at every create */
    int64_t quota_kb;   /* of a collection, where the server names none or a greater one; 0: the server's */
    const orrery_template *collection;
} orrery_spillover_options;

/* Documents go to the last collection until the server says that it is so full; then another is made. Reads ask all. */
orrery_status orrery_resolver_spillover(orrery_client *client, const char *database_link,
                                        const orrery_spillover_options *options, orrery_resolver **resolver);

/* Keeps a reference of its own. NULL removes what is registered. */
orrery_status orrery_client_set_resolver(orrery_client *client, const char *database_link,
                                         orrery_resolver *resolver);

/* A resolver's state in an item: its id, and the key of a container that is partitioned by /id. ORRERY_ENOTFOUND: none. */
orrery_status orrery_resolver_save_item(orrery_resolver *resolver, orrery_client *client,
                                        const char *container_link, const char *id);
orrery_status orrery_resolver_load_item(orrery_client *client, const char *container_link, const char *id,
                                        const orrery_load_options *options, orrery_resolver **resolver);

/* ---- The partitioning manager -------------------------------------------------------------------------------- *
 *
 * Changes how many collections a managed arrangement has while clients work, and moves the documents whose place
 * changes, no others:
 *
 *     orrery_managed_options two = { .size = sizeof(two), .count = 2 };
 *     orrery_manager_options options = { .size = sizeof(options), .extractor = &by_user, .managed = &two };
 *
 *     orrery_manager_open(client, "dbs/app", &options, &manager);
 *     orrery_manager_resize(manager, 8, &moved);
 *     orrery_manager_close(manager);
 *
 * It keeps its state in an item of the database, so that it can be ended at any moment: the next manager goes on
 * where it was. A document is created in its new place, then deleted in the old one; if it changed meanwhile, it is
 * copied again first. So it always is in at least one place, and may be seen twice while it moves. The document is copied
 * without what the server adds: its _ts, and the time to live that counts from it, begin anew.
 *
 * Clients learn of a change by a following resolver. They look at the state every refresh_ms, and the manager leaves
 * them grace_ms before it relies on it. A create or upsert through such a resolver has ended within grace_ms of the
 * last look, or is ORRERY_ETIMEOUT, whatever its own time is: so none that was sent by the old arrangement comes later.
 * (Only a server that still carries out a request so long after its connection was closed could do that.) Creates that
 * do not wait, of the manager's own client, should have ended before orrery_manager_begin().
 *
 * A read asks the collections that there were when it was opened. One that asks them one after another never misses a
 * document that moves, if it was opened after the change had begun, or if it ends before documents move, which is grace_ms
 * after that. A continuation is refused where collections are new or gone. A read that is ordered or parallel asks the
 * collections at the same time, and may miss a document that moves between its two questions.
 */
typedef struct orrery_manager orrery_manager;

typedef struct orrery_manager_options {
    size_t size;
    const orrery_extractor *extractor;
    const orrery_managed_options *managed; /* its count is how many there are at first */
    orrery_read_mode mode;                 /* while documents move */
    const char *
        state_link; /* the container that keeps the state, by /id; NULL: "orrery.partitioning", made if need be */
    const char *owner; /* who may go on at once after being ended; NULL: nobody, others wait for the lease */
    int lease_ms;      /* 0: 60,000; renewed with every batch of documents */
    int refresh_ms;    /* 0: 1,000 */
    int grace_ms;      /* 0: 5,000; more than refresh_ms, and what is left is the time that a create has */
    void (*progress)(void *context, size_t seen, size_t moved); /* after every batch */
    void *context;
} orrery_manager_options;

/* Makes the arrangement or finds it, in the middle of a move as well, and registers its resolver with the client. */
orrery_status orrery_manager_open(orrery_client *client, const char *database_link,
                                  const orrery_manager_options *options, orrery_manager **manager);
void orrery_manager_close(orrery_manager *manager);

/* Each returns when it is done; `moved` may be NULL. ORRERY_EBUSY: another manager is at work. After any other failure the
   same call goes on where this one stopped. A change that was interrupted is finished first. */
orrery_status orrery_manager_add(orrery_manager *manager, size_t *moved);
orrery_status orrery_manager_remove(orrery_manager *manager, size_t *moved);
orrery_status orrery_manager_resize(orrery_manager *manager, size_t count, size_t *moved);

/* The same in small pieces: orrery_manager_begin(), then steps of at most documents_max documents, until ORRERY_DONE.
   ORRERY_WAIT: clients are given their time; ask again later. */
orrery_status orrery_manager_begin(orrery_manager *manager, size_t count);
orrery_status orrery_manager_step(orrery_manager *manager, size_t documents_max);
size_t orrery_manager_count(const orrery_manager *manager); /* of collections, when all is done */

/* A resolver that follows what a manager does, for the client that it is registered with. */
orrery_status orrery_resolver_follow(orrery_client *client, const char *database_link,
                                     const orrery_manager_options *options, orrery_resolver **resolver);

#ifdef __cplusplus
}
#endif
#endif
