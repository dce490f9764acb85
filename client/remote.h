/*
 * client/remote.h - what managed resolvers, spillover and the manager ask of a server.
 * remote_client.c asks through a client. A test asks a made-up server, which fails, and moves the clock, at any request.
 *
 * Memory. What comes back lies in the arena that was handed in.
 */
#pragma once
#include "base/arena.h"
#include "json/json.h"
#include "orrery.h"

/* One request's answer. */
struct remote_answer {
    struct json body; /* undefined: none */
    struct slice etag;
    struct slice quota, usage; /* "documentsSize=10;..." of a collection; empty: the server does not say */
};

/* Which item a request is about. */
struct remote_item {
    const char *link, *id; /* of its collection, and its own; a create needs no id: the document has it */
    const orrery_key *key;
    const char *if_match; /* the ETag that it must still have; NULL: any */
};

/* One of many creates and deletes, and what became of it. */
struct remote_write {
    bool is_delete; /* else it is created */
    struct remote_item item;
    struct slice json;
    orrery_status status;
    struct slice etag; /* of what was created */
};

struct remote_cursor;

struct remote_calls {
    orrery_status (*read)(void *self, struct arena *arena, const char *link, struct remote_answer *answer);
    orrery_status (*create)(void *self, const char *feed_link, const char *json,
                            const orrery_options *options);
    orrery_status (*drop)(void *self, const char *link);

    /* Reads and creates do not look at if_match. */
    orrery_status (*item_read)(void *self, struct arena *arena, const struct remote_item *item,
                               struct remote_answer *answer);
    orrery_status (*item_create)(void *self, struct arena *arena, const struct remote_item *item,
                                 struct slice json, struct remote_answer *answer);
    orrery_status (*item_replace)(void *self, struct arena *arena, const struct remote_item *item,
                                  struct slice json, struct remote_answer *answer);
    orrery_status (*item_delete)(void *self, const struct remote_item *item);

    /* Each by itself. ORRERY_OK: each has its status; anything else: none has, and some may have happened. */
    orrery_status (*write_many)(void *self, struct arena *arena, struct remote_write *writes, size_t count);

    /*
     * Lists the items of a collection, or the collections of a database ("dbs/x/colls"). The next row: ORRERY_ROW,
     * or ORRERY_DONE. A row lives until the next one.
     */
    orrery_status (*list_open)(void *self, const char *link, struct remote_cursor **cursor);
    orrery_status (*list_next)(struct remote_cursor *cursor, struct json *row);
    void (*list_close)(struct remote_cursor *cursor);

    int64_t (*now_ms)(void *self);                     /* since 1970 */
    void (*sleep_ms)(void *self, int64_t ms);          /* waits */
    void (*name)(void *self, char *text, size_t size); /* one that nobody else has */

    /* Says for how long the resolver's next answer holds: a write that goes by it must have ended by then. */
    void (*bound)(void *self, int64_t ms);
};

struct remote {
    const struct remote_calls *calls;
    void *self;
};

/* Asks through a client, which must outlive it. */
struct remote remote_of_client(orrery_client *client);
