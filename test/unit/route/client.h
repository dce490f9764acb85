/*
 * test/unit/route/client.h - a router over a memory store, and a client that signs its requests.
 *     CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
 * Headers stay for the next request until client_clear(). Apostrophes stand for double quotes.
 */
#pragma once
#include "route/table.h"
#include "rig.h"
#include "route/route.h"

struct client {
    struct rig rig;
    struct service service;
    struct trials trials;
    struct auth *auth;
    struct audit *audit; /* NULL: none is kept */
    struct router *router;
    struct exchange exchange; /* the last one */
    struct slice header[HEADER_COUNT];
    const char *key;                      /* which it signs with */
    bool unsigned_request, was_handed_on; /* to a pool thread */
    bool was_pending;                     /* until it was committed */
    uint32_t steps;                       /* that a loop thread does of an operation */
    int64_t queued_ms;                    /* how long no pool thread is free */
    bool is_refused;                      /* by the pool, whatever is handed on */
    struct op keep;                       /* for what outlives an exchange */
};

/* What the router takes besides the emulator's key: another that may write, and two to read with. */
#define CLIENT_SECONDARY_KEY "c2Vjb25kIGtleSwgb2YgdGhpcnR5LXR3byBieXRlcy4="
#define CLIENT_PRIMARY_READONLY_KEY "cmVhZHMgdG9vLCBhbmQgaGFzIHRoaXJ0eS10d28gYi4="
#define CLIENT_READONLY_KEY "cmVhZHM="

void client_open(struct client *client);

/* With a file that tells of refusals and changes. */
void client_open_audited(struct client *client, const char *path);

/* With something that makes backups. */
void client_open_with(struct client *client,
                      enum status (*backup)(void *context, struct op *op, struct slice name,
                                            struct slice *made),
                      void *context);

/* With the container d/c and in it item 1 of key a; the header with that key stays. */
void client_open_filled(struct client *client);
void client_fill(struct client *client);
void client_close(struct client *client);
void client_header(struct client *client, enum header_id id, const char *value);

/* The headers that make a POST what the marker says. */
void client_mark(struct client *client, enum marker marker);

/* One operation of a transaction over items, on the item "1" of the key "a" in a container of the database "d". */
const char *client_transaction(struct client *client, const char *container, const char *kind);
void client_clear(struct client *client);

/* Signs, handles on a "loop thread" and, when asked to, again on a "pool thread"; the answer's status. */
int client_send(struct client *client, enum method method, const char *target, const char *body);

/* The same of a head whose body is still to come: 100 when it may come, else the refusal's status. */
int client_ask_to_send(struct client *client, enum method method, const char *target);

struct json client_member(struct client *client, const char *name);
struct slice client_answer(struct client *client, const char *header);

/* Whether the last answer's error has that code, and a message with that reason in it. */
bool client_told(struct client *client, const char *code, const char *reason);

/* A path for the shape of a route: dbs/x/colls to /dbs/d/colls. The next call writes over it. */
const char *client_target_of(const char *shape);
