/*
 * src/main/inside.h - requests of the server to itself: what is made from files, and what is copied, is made by the same steps
 * as what clients make. They pass no gate and no signature, and are not held back to request units.
 *
 * Ownership. An answer's bytes live until the next question. The service and the account outlive it.
 * Threads. One, which may wait.
 */
#pragma once
#include "route/route.h"

struct inside {
    struct service service;
    struct router *router;
    struct exchange exchange;
};

struct asked {
    enum method method;
    struct slice target, body;
    /* Headers; no data: none. */
    struct slice throughput, autopilot, as_of, continuation, key, slug, type;
    bool is_batch;
};

void inside_open(struct inside *inside, const struct service *service, struct account *account);
void inside_close(struct inside *inside);

/* The answer's status. */
int inside_ask(struct inside *inside, const struct asked *asked);
struct slice inside_body(const struct inside *inside);

/* The answer as a value, in the op's arena. A refusal is a failure, in the words of the answer. */
enum status inside_get(struct op *op, struct inside *inside, const struct asked *asked, struct json *value);

/* A question whose answer nobody looks at, unless it is a refusal. */
enum status inside_do(struct op *op, struct inside *inside, const struct asked *asked);

/* A header of the answer; no data: it has none. */
struct slice inside_header(const struct inside *inside, const char *name);

/* The message of an error's body, up to the end of its first line; in the op's arena. */
const char *inside_message(struct op *op, struct slice body);

/* dbs/<id>/colls/<id>, percent-encoded: <above>/<type>/<id>, or <above>/<type> without an id. In the op's arena. */
struct slice inside_path(struct op *op, struct slice above, const char *type, struct slice id);

/* ["a",1], the item's values at the paths of a partition key; in the op's arena. */
struct slice inside_key(struct op *op, struct json paths, struct json item);

/* ---- many items into one container ---- */

/*
 * bulk_open(), any number of bulk_add(), bulk_send() at the end. Each item has its own outcome: `judge` is told the status
 * of each, with the answer's body for it where there is one, in the order in which they came; what it returns ends the work.
 */
struct bulk {
    struct inside *inside;
    struct slice target;
    struct json paths; /* of the partition key */
    struct buf body;
    size_t first, count; /* which items are in the body: their place among all that came */
    struct arena_mark mark;
    enum status (*judge)(struct op *op, void *context, size_t index, int status, struct json body);
    void *context;
};

enum status bulk_open(struct op *op, struct bulk *bulk, struct slice container);
void bulk_begin(struct op *op,
                struct bulk *bulk); /* what the body takes is taken from here on; it is empty */
enum status bulk_add(struct op *op, struct bulk *bulk, struct json item);
enum status bulk_send(struct op *op, struct bulk *bulk);

/*
 * The object as text without its system properties and without members of these names, a list that ends with NULL. The first is for
 * definitions. The second is for items and attachments, whose users may have names of their own that begin with an underscore.
 */
void inside_print_without(struct buf *out, struct json object, const char *const *names);
void inside_print_own(struct buf *out, struct json object, const char *const *names);
