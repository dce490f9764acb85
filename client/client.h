/*
 * client/client.h - what the library's files know of each other: a client, a call, an answer.
 * A call is one request with all its attempts. It is filled in (call_new, call_header, call_body), then either
 * run to its end (call_run) or sent on its way (call_start), and given back (call_free).
 *
 * Memory. A call has an arena. What is built in it, as in a buffer, may fail at any step, and is looked at once, at the end.
 * Nothing here aborts: memory.h has the ways to allocate; arena_alloc(), arena_copy() and arena_text() are not for this folder.
 */
#pragma once
#include <curl/curl.h>
#include <orrery.h>
#include <poll.h>
#include <pthread.h>

#include "base/buf.h"
#include "base/env.h"
#include "json/json.h"
#include "memory.h"

enum {
    KEY_BYTES_MAX = 256,               /* of an account's key */
    IDLE_HANDLES_MAX = 16,             /* kept for the next calls */
    KEPT_HANDLES_MAX = 32,             /* of calls that wait, of all clients with one share */
    BODY_BYTES_MAX = 1 << 28,          /* of an answer: more is no answer of this service */
    HEAD_BYTES_MAX = 1 << 20,          /* of its headers */
    SUB_STATUS_OTHER_CONTAINER = 1024, /* of the same name as the one that was meant */
};

enum method { METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_PATCH, METHOD_DELETE };

/* What a link leads to: where to send a request, and what to sign. */
struct target {
    const char *type;       /* "docs", "colls", ...; "": the account */
    struct slice path;      /* of the URL, with its slash in front */
    struct slice sign;      /* the link as it is signed */
    struct slice container; /* the link of the container that it lies in; empty: in none */
};

struct call;
struct inside;
struct trip;
struct direct;
struct direct_request;
struct session;
struct definition;
struct known;
struct bulk;
struct registered; /* resolvers, by database: resolver files own this */

/* Has its connections; one call at a time uses it. */
struct kept_handle {
    CURL *easy;
    uint64_t owner; /* the number of the client whose settings it has */
};

/*
 * What several clients may have together. All of it is behind the lock; what is handed out is a copy, or counted, or taken out
 * until it is given back.
 */
struct orrery_share {
    _Atomic int references;
    pthread_mutex_t lock;
    struct session *sessions;
    struct definition *definitions;
    struct known *known;
    struct kept_handle
        kept[KEPT_HANDLES_MAX]; /* transport.c's, the one that was used last behind the others */
    size_t kept_count;
};

struct orrery_client {
    struct env *env;
    char *endpoint, *token, *consistency, *ca_file, *user_agent;
    char *read_endpoint, *write_endpoint; /* of the regions that were chosen; NULL: none were */
    struct evp_mac_ctx_st *mac;           /* OpenSSL's, with the key in it; NULL: there is a token */
    orrery_status (*bearer_token)(void *context, char **token, int64_t *ends_unix_seconds);
    void *bearer_context;
    int64_t token_ends_ms; /* of a bearer token, since 1970 */
    orrery_trace *trace;
    void *trace_context;
    int64_t date_second;
    char date[32]; /* of that second, as headers have it */
    bool trust_any_certificate, no_proxy;
    int timeout_ms, connect_timeout_ms, connections_max, retries_max, retry_wait_ms_max;

    const struct transport *transport;
    struct inside *inside; /* what transport_embedded keeps; NULL: there is another one */
    struct direct *direct; /* and what transport_direct does */

    CURLM *multi;
    bool multi_is_broken; /* it had no memory once: libcurl 7.88 may not go on with it */
    struct pollfd *fds;
    size_t fd_count, fd_capacity;
    int64_t timer_ms; /* when the transport (libcurl) wants to be called, on the monotonic clock; -1: not */
    CURL *idle[IDLE_HANDLES_MAX];
    size_t idle_count;
    uint64_t number;    /* no other client of the process has it, or had it */
    struct call *calls; /* that are under way */
    struct call *ended; /* and those that somebody must be told of, in the order of their ends */
    struct bulk *bulks; /* that nobody waits for */

    char *error;
    const char *plain_error; /* when there is no memory for one */
    orrery_response *failed;
    orrery_share *share;
    char *session_text; /* what orrery_session_token() said last */
    struct registered *resolvers;
    int write_ms_max; /* of the write that a resolver is being asked about; 0: no more than any other */
    _Atomic uintptr_t thread; /* that is within a call, in debug builds; 0: none is */
    int thread_depth;
};

struct orrery_response {
    int http, sub_status, attempts;
    double charge;
    char *body, *head; /* the head's lines, each with a NUL behind it: "name: value" */
    size_t body_bytes, body_capacity, head_bytes, head_capacity;
    orrery_json *json;
    bool no_memory, too_large;
};

enum call_state { CALL_NEW, CALL_SENT, CALL_WAITING, CALL_ENDED };

/* What calls of a kind that has rules of its own are looked after by, beyond what call.c does for all. */
struct call_kind {
    bool (*is_retriable)(
        struct call *call); /* whether an answer says by itself that the call may be tried again */
    void (*prepare_again)(struct call *call); /* before it is, for whatever reason */
    void (*judge)(struct call *call);         /* its last answer, if there was one; a failure too */
};

struct call {
    struct call *next; /* in the client's list */
    orrery_client *client;
    struct arena arena;
    enum method method;
    struct target target;
    struct buf url, head, body; /* head: lines with a NUL behind each */
    bool has_body;
    bool repeatable;     /* doing it twice is doing it once */
    bool splits_time;    /* an attempt that is not answered leaves time for another */
    bool follows_ranges; /* its caller knows what to do when a range is gone */
    bool hands_over;     /* the answer goes to the caller whatever its status is */
    bool session_given;  /* by the caller: the client's own is not sent */
    bool changes_items;  /* its target is a container, but what changes are items of it */
    const char *mistake; /* why it cannot be built; NULL: it can */
    bool is_part;        /* of a bulk, which is counted and told as one */
    bool is_late;        /* its time was over before it could be sent */
    enum call_state state;
    orrery_status status;
    const char *error;  /* why it failed, in the arena */
    int attempts, sent; /* sent: how often libcurl has begun to send this attempt */
    double charge;
    int64_t deadline_ms, waited_ms, due_ms; /* due_ms: of the next attempt */

    struct trip *trip;              /* of transport_embedded, as `easy` is of HTTP */
    struct direct_request *request; /* of transport_direct */
    CURL *easy;
    struct curl_slist *lines;  /* in the arena */
    char date_line[48], *date; /* the header's line, and the date in it */
    const char *authorization; /* the header's line */
    char curl_error[CURL_ERROR_SIZE];
    orrery_response *response;

    orrery_done *done; /* NULL: somebody waits for it */
    void *context;
    orrery_diagnostics *diagnostics;   /* NULL: nobody wants to know */
    int64_t begun_us, sent_us;         /* the call; its last attempt */
    void (*finish)(struct call *call); /* looks at the answer before anybody else; may be NULL */
    const struct call_kind *kind;      /* NULL: as all others */
    void *of_kind;                     /* what the kind knows of it, in the arena */
};

/* ---- calls */

/* NULL and the client's error: no memory, or options that make no sense. */
struct call *call_new(orrery_client *client, enum method method, const struct orrery_options *options);
void call_free(struct call *call);
orrery_status call_target(struct call *call, const char *link); /* a feed or a resource */
orrery_status call_child(struct call *call, const char *link, const char *kind,
                         const char *id);                                 /* id: may be NULL */
void call_header(struct call *call, const char *name, const char *value); /* NULL: none */
void call_header_int(struct call *call, const char *name, int64_t value);
void call_body(struct call *call, const char *content_type, struct slice body);
orrery_status call_key(struct call *call, const orrery_key *key); /* its header; NULL: none */

int call_left_ms(const struct call *call);    /* of its time; at least 1 */
int call_attempt_ms(const struct call *call); /* of that, for the attempt that begins */

/* Sends it on its way: from now on the client's loop looks after it. */
orrery_status call_start(struct call *call);

/* Runs it to its end: gives the response, if it is wanted, and the status. Takes the call away, whatever comes out. */
orrery_status call_run(struct call *call, orrery_response **response);
orrery_status call_take(struct call *call, orrery_response **response); /* of one that has ended */

/* What a public call begins with: there is no response yet. False: there is no client either. */
bool call_begins(const orrery_client *client, orrery_response **response);

/* As call_run(), or call_start() if the options say so. */
orrery_status call_dispatch(struct call *call, const orrery_options *options, orrery_response **response);

/* What is told of options that do not say their size. */
extern const char options_unsized[];

/* A member of the options; 0 where the caller's struct is an older and shorter one. */
#define OPTION(options, member)                                                                   \
    ((options) && (options)->size >= offsetof(orrery_options, member) + sizeof((options)->member) \
         ? (options)->member                                                                      \
         : (__typeof__((options)->member))0)

/*
 * A client is used by one thread at a time. In debug builds a second one that comes meanwhile ends the program, with a word
 * on what was wrong: what it would break otherwise shows up much later, and elsewhere.
 */
#ifdef ORRERY_DEBUG
void client_enter(orrery_client *client);
void client_leave(orrery_client *client);
#else
static inline void client_enter(orrery_client *client)
{
    (void)client;
}

static inline void client_leave(orrery_client *client)
{
    (void)client;
}
#endif

/* ---- transports: how requests get to a database (loop.c asks the client's for each) */

/*
 * A transport's open() may keep what it needs in client->inside. perform() and turn() tell call_attempt_ended() of what
 * has come to an end; cancel() is called for any call, and then nothing more is told of it.
 */
struct transport {
    orrery_status (*open)(orrery_client *client,
                          const orrery_settings *settings); /* says why it failed: client_fail() */
    void (*close)(orrery_client *client);                   /* also after half an open() */
    orrery_status (*send)(struct call *call);    /* begins one attempt; ORRERY_ENOMEM and no other failure */
    orrery_status (*perform)(struct call *call); /* one attempt to its end; likewise */
    void (*cancel)(struct call *call);
    /* Waits at most that long for client->fds, or -1: until one is ready; takes what has come. */
    orrery_status (*turn)(orrery_client *client, int wait_ms);
};

extern const struct transport transport_http;       /* libcurl: transport.c */
extern const struct transport transport_direct;     /* frames over TCP, and HTTP for the rest: direct.c */
int64_t direct_due_ms(const orrery_client *client); /* when it must be turned; -1: whenever something comes */
extern const struct transport
    transport_embedded; /* the database inside the program: embedded/, or outside.c that has none */

orrery_status transport_open(orrery_client *client, const orrery_settings *settings);
void transport_close(orrery_client *client);
void transport_free_kept(orrery_share *share);
orrery_status transport_send(struct call *call);
orrery_status transport_perform(struct call *call);
void transport_cancel(struct call *call);

/* Does what can be done, and waits for more at most that long; -1: until something has happened. */
orrery_status transport_turn(orrery_client *client, int timeout_ms);

/* A member of the settings; 0 where the caller's struct is an older and shorter one. */
#define SETTING(settings, member)                                                       \
    ((settings)->size >= offsetof(orrery_settings, member) + sizeof((settings)->member) \
         ? (settings)->member                                                           \
         : (__typeof__((settings)->member))0)

/* An attempt has come to its end: call.c decides what it means. */
void call_attempt_ended(struct call *call, CURLcode code);

/* When its next attempt is due. */
void call_wake(struct call *call);

/* ---- errors */

/* Keeps the reason, and gives back the status: return client_fail(client, ORRERY_EINVAL, "..."). */
__attribute__((format(printf, 3, 4))) orrery_status client_fail(orrery_client *client, orrery_status status,
                                                                const char *fmt, ...);
void client_begin(orrery_client *client); /* a call of the user's begins: what the last one said is over */

/* Both at once, for a call that does nothing because its arguments make no sense. */
__attribute__((format(printf, 3, 4))) orrery_status client_refuse(orrery_client *client, orrery_status status,
                                                                  const char *fmt, ...);
orrery_status client_no_memory(orrery_client *client);

/* ---- diagnose.c: what calls took, and who is told of it */

void diagnose_sent(struct call *call); /* an attempt is about to be */
void diagnose_answered(struct call *call, orrery_status status, int retry_ms);
void diagnose_ended(struct call *call);

/* ---- answers */

orrery_response *response_new(void);
size_t response_take_body(orrery_response *response, const char *bytes, size_t size);
bool response_set_body(orrery_response *response,
                       struct slice body); /* of our own making: as long as it is */
size_t response_take_head(orrery_response *response, const char *line, size_t size);
void response_clear(orrery_response *response); /* for the next attempt */
orrery_status http_status(int http);

/* ---- links, signatures, keys, sessions, definitions */

orrery_status link_target(struct arena *arena, const char *link, size_t size, struct target *target);
bool link_lies_in(const char *link, struct slice parent);
bool sign_open(orrery_client *client, const uint8_t *key, size_t key_bytes);
void sign_close(orrery_client *client);
bool sign_request(orrery_client *client, struct call *call);
orrery_status sign_prepare(orrery_client *client);      /* a bearer token that has not ended */
bool key_print(struct buf *out, const orrery_key *key); /* as the header has it; false: of no such type */

void session_note(orrery_client *client, struct slice container, const orrery_response *response);
void session_note_token(orrery_client *client, struct slice container, const char *rid,
                        const char *token); /* rid: NULL, it is not known */
const char *session_known(const orrery_client *client, struct slice container); /* under the share's lock */
void session_header(struct call *call); /* what is known of the container that it is about; none: nothing */
void session_forget(orrery_client *client, struct slice container);
void session_forget_database(orrery_client *client, struct slice database);
void session_free(orrery_share *share);

/* ---- region.c: where a call is sent to */
const char *region_endpoint(const struct call *call);

/* ---- share.c: the lock over what follows, which all of it takes by itself */

orrery_status share_take(orrery_client *client, orrery_share *given); /* NULL: one of its own */
void share_lock(const orrery_client *client);
void share_unlock(const orrery_client *client);

/* What a container is partitioned by, read once. */
struct definition {
    struct definition *next;
    int references;
    char *link, *rid;
    char *paths; /* as JSON: ["/a","/b"] */
    char *list;  /* the same, parsed: the bytes of a struct json */
    int version; /* 1, 2; 3: hierarchical */
    bool system_key;
};

/* timeout_ms: of the read, if there is one; 0: the client's. What comes out is to be given back. */
orrery_status definition_of(orrery_client *client, const char *link, int timeout_ms,
                            const struct definition **definition);
void definition_release(orrery_client *client, const struct definition *definition); /* NULL is welcome */
void definition_forget(orrery_client *client, struct slice link);
void definition_forget_database(orrery_client *client, struct slice database);
void definition_free(orrery_share *share);

bool definition_is_same(const orrery_client *client, struct slice link,
                        struct slice other); /* false: not known */

/*
 * What GET .../pkranges said of a container, by its link without slashes at its ends; data NULL: it was not asked yet, or there
 * is no memory for it. The text is the arena's.
 */
struct slice ranges_known(const orrery_client *client, struct slice link, struct arena *arena);
void ranges_note(orrery_client *client, struct slice link, struct slice body);
void ranges_forget(orrery_client *client, struct slice link);

/* The plan of a query, which is its body with all its parameters; data NULL: it was not asked yet, or long ago. */
struct slice plan_known(orrery_client *client, struct slice link, struct slice query, struct arena *arena);
void plan_note(orrery_client *client, struct slice link, struct slice query, struct slice body);

/* The container is another one: neither its definition nor its ranges nor any plan holds. */
void known_forget(orrery_client *client, struct slice link);
void known_forget_database(orrery_client *client, struct slice database);
void known_free(orrery_share *share);

/* The key of a document, as the header has it. */
orrery_status definition_key(orrery_client *client, const struct definition *definition, struct json document,
                             struct buf *out);

/* ---- batches */

struct operation {
    const char *type;       /* "Create", ... */
    struct slice id, etag;  /* data NULL: none */
    struct slice body, key; /* key: as the header has it */
};

struct orrery_batch {
    struct arena arena;
    struct operation *operations;
    size_t count, capacity;
    orrery_status status; /* the first mistake */
};

orrery_status batch_check(orrery_client *client, const char *link, const orrery_batch *batch,
                          size_t count_max);

/* Bulks that nobody waits for: how many, how long until the next must be looked at, and a look at each. */
size_t bulk_count(const orrery_client *client);
int bulk_pause_ms(const orrery_client *client,
                  int timeout_ms);       /* at most that; -1: whenever something comes */
size_t bulk_turn(orrery_client *client); /* how many have ended, and were told */
void bulk_close_all(orrery_client *client);

/* Fills in as much of the caller's struct as it has; NULL: there is no such result. */
orrery_status result_give(const orrery_result *found, orrery_result *result);

bool operation_has_document(const struct operation *operation); /* that a resolver can place it by */

/* It, parsed into the arena; what is no object is refused. */
orrery_status operation_document(orrery_client *client, struct arena *arena,
                                 const struct operation *operation, struct json *document);

/* {"operationType":...}; with its key for a bulk. */
void operation_print(struct buf *out, const struct operation *operation, struct slice key);

/* ---- resolvers (resolver*.c); a link of a database that has one */

orrery_status resolver_place(orrery_client *client, const char *link, struct slice document,
                             char **collection); /* NULL: the link is no database's */

/* The options, with less time if the resolver's answer does not hold as long as the call may take. */
const orrery_options *options_bound(const orrery_client *client, const orrery_options *options,
                                    orrery_options *bounded);

/* What a cursor is opened for, as the library's caller asked for it. */
struct question {
    const char *const *links;
    size_t link_count;
    const char *sql; /* NULL: all there is, a list */
    const orrery_parameter *parameters;
    size_t parameter_count;
    const orrery_key *key;
    const orrery_options *options;
};

/* A cursor over the rows of the question's one link, or over the collections that the link's resolver names. */
orrery_status resolver_open(orrery_client *client, const struct question *question, orrery_query **query);
orrery_status query_open_links(orrery_client *client, const struct question *question, orrery_query **query);
void resolver_forget_all(orrery_client *client);

/* ---- values */

/* Parses for the library's own use, into the arena. */
orrery_status parse_json(struct arena *arena, struct slice text, struct json *value);
struct slice writer_unfinished(const orrery_writer *writer);
orrery_status writer_state(const orrery_writer *writer); /* of one that need not be finished */
orrery_status patch_print(const orrery_patch *patch, struct buf *out);
struct json value_json(orrery_value value);
struct slice size_of(const char *text, size_t size);
void end_whole(char *text); /* without half a character of UTF-8, where a line was too long */
