/*
 * client/resolver_managed.h - collections that are made to a template, and what is known of those that are there.
 */
#pragma once
#include "remote.h"
#include "resolver.h"

/* A template that the arena keeps. */
orrery_status template_copy(struct arena *arena, const orrery_template *from, orrery_template *to);

/*
 * Makes the collection "database_link/colls/id", with its scripts. One that is there is left as it is; scripts are put
 * only into what was made just now, and in the order procedures, triggers, functions.
 */
orrery_status collection_make(const struct remote *remote, const char *database_link, const char *id,
                              const orrery_template *shape);

/* What a collection's items are found by: the paths of its partition key. */
struct key_paths {
    struct slice path[3];
    size_t count;
};

orrery_status key_paths_read(const struct remote *remote, struct arena *arena, const char *link,
                             struct key_paths *paths);

/* The partition key of an item, its memory the arena's. */
orrery_status key_paths_key(const struct key_paths *paths, struct arena *arena, struct json item,
                            orrery_key *key);

/* "database_link/colls/id" */
char *collection_link(struct arena *arena, const char *database_link, const char *id);

/* orrery_resolver_managed() and orrery_resolver_spillover(), whoever is asked. */
orrery_status managed_with(struct remote remote, const char *database_link, const orrery_extractor *extractor,
                           const orrery_managed_options *options, orrery_resolver **resolver);
orrery_status spillover_with(struct remote remote, const char *database_link,
                             const orrery_spillover_options *options, orrery_resolver **resolver);
