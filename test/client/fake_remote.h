/*
 * test/client/fake_remote.h - a made-up server for what asks through remote.h: collections and items in memory.
 * Before every request it may do something else (a client at work), and it may be cut off at one: the request or its
 * answer is lost, and everything after it fails, as after a kill.
 */
#pragma once
#include "remote.h"

struct fake_item {
    struct fake_item *next;
    char *id, *text; /* text: as it was given, without what a server adds */
    size_t size;
    uint64_t number, version; /* when it was made, when it was written */
};

struct fake_collection {
    struct fake_collection *next;
    char *link;
    struct fake_item *items; /* in the order of their numbers */
    char quota[64], usage[64];
    size_t scripts;
};

enum fault { FAULT_NONE, FAULT_REQUEST_LOST, FAULT_ANSWER_LOST };

struct fake {
    struct fake_collection *collections;
    uint64_t versions; /* given out so far */
    int64_t now_ms;
    int64_t bound_ms; /* how long what a resolver said last may be gone by */
    uint64_t names;
    size_t requests;
    size_t fault_at; /* of the requests, counted from 1; 0: none */
    enum fault fault;
    bool is_dead;
    bool is_quiet; /* the requests are a test's own: no hook, no fault, not counted */
    void (*before)(struct fake *fake, void *context);
    void *context;
    size_t cursors; /* open ones */
};

struct remote fake_remote(struct fake *fake);
void fake_free(struct fake *fake);

/* After a kill: what is there stays, and is served again. */
void fake_revive(struct fake *fake);

struct fake_collection *fake_find(struct fake *fake, const char *link);
size_t fake_count(struct fake *fake, const char *link); /* items in it */
