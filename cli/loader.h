/*
 * cli/loader.h - items on their way into one container: gathered into bulks, several of which are under way.
 * The one who reads the items gives each a number that grows. loader_done() is the number below which all are settled.
 *
 * What becomes of an item: it is written; it was there already (mode skip); or it is rejected, with the reason, which `reject`
 * is told. 429 and 449 are sent again until they are done. An item whose answer was lost is sent again, and is not rejected
 * when it turns out to be there.
 */
#pragma once
#include "connect.h"
#include "progress.h"

enum load_mode { LOAD_CREATE, LOAD_UPSERT, LOAD_SKIP };

struct load_item {
    const char *text; /* JSON, copied */
    size_t size;
    uint64_t number, line;
    int file;          /* for `reject`, as it was given */
    bool may_be_there; /* of a create: an earlier run may have written it, so a conflict is no failure */
};

typedef void load_reject(void *context, const struct load_item *item, int http, const char *why);

struct load_settings {
    struct cli *cli;
    const char *link;
    enum load_mode mode;
    size_t batch, in_flight;
    struct progress *progress;
    load_reject *reject;
    void *context;
    void (*settled)(void *context); /* a bulk has ended; NULL: nobody wants to know */
};

struct loader;

struct loader *loader_open(const struct load_settings *settings);

/* Waits while as many bulks are under way as may be. False: the server cannot be reached, which was told. */
bool loader_add(struct loader *loader, const struct load_item *item);
bool loader_finish(struct loader *loader); /* sends what is gathered, and waits for all */
uint64_t loader_done(const struct loader *loader, uint64_t next);
void loader_close(struct loader *loader);
