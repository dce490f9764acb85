/*
 * client/manager.h - the partitioning manager's parts: what is written down, what is moving, who is told.
 *
 * The arrangement is one item. It is changed only with the ETag that was read: of two managers that do so at once, one is
 * refused. The lease only spares them the attempt. Phases:
 *     stable     documents lie by `link`
 *     moving     from `link` to `next`; creates go to `next`, reads as the mode says
 *     dropping   documents lie by `link`; the collections in `next` are empty and about to go
 *
 * Before an item is copied, it is written down as a struct intent. After a kill the intents tell a copy of ours, which
 * may be written over, from what a client has written there since, which may not.
 */
#pragma once
#include "resolver_managed.h"

enum {
    MOVE_ITEMS_MAX = 1000, /* moved between two writes of the state, and what the state holds of them */
    MOVE_BYTES_MAX = 16 * 1024 * 1024,
    PUT_ATTEMPTS_MAX = 3,
    ITEM_ATTEMPTS_MAX = 20, /* of one that changes whenever it is copied; the next pass has it again */
    MANAGER_BYTES_MAX = 256 * 1024 * 1024,
    NAMES_TRIED_MAX = 64,
    ETAG_BYTES_MAX = 256,
    INTENTS_SPARE = 1000, /* for items that change while they are copied */
};

enum phase { PHASE_STABLE, PHASE_MOVING, PHASE_DROPPING };

struct intent {
    struct hash128 who;  /* the item: its collection, id and key */
    struct hash128 what; /* its contents when it was copied */
};

struct arrangement {
    struct arena arena; /* of all that it points to */
    enum phase phase;
    const char **link, **next;
    size_t count, next_count;
    orrery_read_mode mode;
    struct slice owner;
    char etag[ETAG_BYTES_MAX];
    int64_t until_ms, since_ms; /* the lease's end; when the phase began */
    int64_t grace_ms; /* what clients that go by it may rely on: how long after a change it still does */
    uint64_t seen, moved;
    struct intent *intent; /* of the batch; its memory is the pass's */
    size_t intent_count, intent_capacity;
};

/* What a manager or a follower was told, kept in an arena of its own. */
struct manager_settings {
    struct arena arena;
    struct remote remote;
    const char *database_link, *state_link, *prefix, *owner;
    orrery_extractor extractor;
    orrery_hash hash;
    orrery_hash_options hash_options;
    orrery_template shape;
    size_t count;
    orrery_read_mode mode;
    int64_t lease_ms, refresh_ms, grace_ms;
    bool makes_state; /* the state's container is ours to make */
    void (*progress)(void *context, size_t seen, size_t moved);
    void *context;
};

orrery_status settings_init(struct manager_settings *settings, struct remote remote,
                            const char *database_link, const orrery_manager_options *options);
void settings_free(struct manager_settings *settings);
orrery_status settings_ring(const struct manager_settings *settings, const char *const *links, size_t count,
                            orrery_resolver **resolver);

/* manager_state.c. Reading: ORRERY_ENOTFOUND, there is none. Writing: ORRERY_EBUSY, somebody else has written it. */
void arrangement_free(struct arrangement *arrangement);
orrery_status arrangement_read(struct arrangement *arrangement, const struct manager_settings *settings);
orrery_status arrangement_create(struct arrangement *arrangement, const struct manager_settings *settings);
orrery_status arrangement_write(struct arrangement *arrangement, const struct manager_settings *settings);

/* What clients go by while it holds. */
orrery_status arrangement_resolver(const struct arrangement *arrangement,
                                   const struct manager_settings *settings, orrery_resolver **resolver);

/* One item that is in the wrong place. */
struct stray {
    struct slice id, etag, text; /* text: without what the server adds */
    const char *from, *to;
    orrery_key key;
    struct hash128 who, what;
};

/* A collection that is gone through for them. */
struct searched {
    const char *link;
    const struct key_paths *paths; /* where its items have their partition keys */
    orrery_resolver *target;       /* where documents belong */
};

/* manager_move.c: an item as it was listed; *is_stray says whether it lies in the wrong place. */
orrery_status stray_of(struct arena *arena, const struct searched *in, struct json item, struct stray *stray,
                       bool *is_stray);

struct mover {
    const struct manager_settings *settings;
    struct arrangement *arrangement;
};

/* Creates them there and deletes them here. *moved: how many; those that were found to have gone do not count. */
orrery_status strays_move(const struct mover *mover, const struct stray *strays, size_t count, size_t *moved);

struct pass {
    bool is_open;
    size_t source;
    size_t strays; /* found in it so far */
    struct remote_cursor *cursor;
    struct key_paths paths;
    struct arena arena; /* of the paths */
};

struct orrery_manager {
    struct manager_settings settings;
    struct arrangement now;
    orrery_resolver *target; /* where documents belong; NULL: nothing is under way */
    struct arena arena;      /* of the sources and of earlier intents */
    const char **source;
    size_t source_count;
    struct intent *earlier;
    size_t earlier_count;
    struct pass pass;
    uint64_t moved; /* since it was opened */
    void (*progress)(void *context, size_t seen, size_t moved);
    void *context;
    orrery_status (*publish)(void *listener, const char *database_link,
                             orrery_resolver *resolver); /* may be NULL */
    void *listener;
};

/* manager_pass.c: some of what is left to move. ORRERY_OK: there may be more; ORRERY_WAIT; ORRERY_DONE: all in place. */
orrery_status pass_step(orrery_manager *manager, size_t items_max);
void pass_end(struct pass *pass);

/* manager.c, for whoever is asked. */
orrery_status manager_with(struct remote remote, const char *database_link,
                           const orrery_manager_options *options,
                           orrery_status (*publish)(void *listener, const char *database_link,
                                                    orrery_resolver *resolver),
                           void *listener, orrery_manager **manager);
orrery_status follow_with(struct remote remote, const char *database_link,
                          const orrery_manager_options *options, orrery_resolver **resolver);
