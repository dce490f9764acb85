/*
 * script-host/sources.h - the scripts of this child by their keys; the least recently used goes when there are too many,
 * or when they are too large: what one container's scripts take, the next one's lack.
 *
 * Ownership. A script belongs to the list, and may end with the next sources_add().
 * Threads. One.
 */
#pragma once
#include "engine.h"

enum {
    KEY_BYTES_MAX = 64,
};

struct source {
    char key[KEY_BYTES_MAX + 1];
    struct script *script;
    uint64_t used; /* when, by the list's own clock */
    size_t bytes;  /* of the frame that it came with */
};

struct sources {
    struct source all[FRAME_SOURCES_MAX];
    size_t count, bytes;
    uint64_t clock;
};

/* The key that a payload begins with; false when it begins with none. */
bool source_key(const char *payload, char key[KEY_BYTES_MAX + 1]);

/* NULL when it is not there. */
struct script *sources_find(struct sources *sources, const char *key);

void sources_add(struct sources *sources, const char *key, struct script *script, size_t bytes);

/* Ends the contexts of all that were called as UDFs. */
void sources_forget(struct sources *sources);
