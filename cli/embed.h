/*
 * cli/embed.h - a plan that makes items parts of others: whose part an item is, and what the whole is.
 *     {"id":"people","embed":[{"from":"contacts","on":{"/id":"/personId"},"as":"/emails","order":"/at",
 *                              "items":"SELECT VALUE {address: c.email} FROM c"}]}
 * An item of `from`, which may be the container itself, belongs to the owner whose values at the left paths of `on` are its own at the
 * right ones; one that has nothing at the path for the owner's id belongs to nobody. What `items` makes of it are elements of
 * the owner's member `as`, in the order of the values at `order`, then of ids.
 */
#pragma once
#include "connect.h"
#include "plan.h"
#include "text.h"

enum { EMBEDS_MAX = 8 };

struct embed {
    const char *from;    /* the id of a container */
    const char *member;  /* of the owner */
    const char *mapping; /* NULL: elements are the items as they are */
    const char *order;   /* a path; NULL: by ids */
    orrery_value on;
    bool single; /* the member is the one element, and no array */
};

struct embeds {
    struct embed embed[EMBEDS_MAX];
    size_t count;
    bool leaves_orphans; /* those that have no owner need none */
};

/* Of a plan without any, `count` is 0. False: it makes no sense, which was told. */
bool embeds_read(struct embeds *embeds, orrery_value plan);

/* A container that items come from. */
struct source {
    const char *id;
    struct text link;
    orrery_json *definition;
    orrery_value key; /* the paths of its partition key */
};
enum { SOURCES_MAX = EMBEDS_MAX + 1 };

/* The container itself, and those that are embedded in it, each once: its links, without asking. Their number. */
size_t embed_sources(const struct embeds *embeds, const char *database, const char *id,
                     struct source source[SOURCES_MAX]);

/* Reads their definitions. False: one is not there, or `on` does not name one owner only. It was told. */
bool embed_sources_define(const struct cli *cli, const struct embeds *embeds, struct source *source,
                          size_t count);
void embed_sources_free(struct source *source, size_t count);

/* ---- wholes: owners with their parts ---- */

struct part {
    char *name; /* which embed, and which item */
    char *text; /* {"n":7,"e":[{...}]}: what it is sorted by, its elements */
};

struct whole {
    char *name;  /* the owner's id and partition key */
    char *owner; /* JSON, without what the service adds; NULL: there is none */
    struct part *part;
    size_t count, room;
    char *made; /* for reshape_embed.c: identities of what was written for it, a JSON array; NULL: nothing */
    char *kept; /* as it is kept; NULL: it is not */
};

struct wholes {
    struct whole **whole;
    size_t count, room;
    size_t *slot; /* 1 more than an index; 0: free */
    size_t slots;
};

struct whole *wholes_get(struct wholes *wholes, const char *name); /* made, if there is none */
void wholes_free(struct wholes *wholes);
void whole_set(char **text, const char *value);                               /* NULL: to nothing */
void whole_set_part(struct whole *whole, const char *name, const char *text); /* likewise */

/* What a page has of a source, in order: items as they are, and as they were, which ends them. */
struct images {
    orrery_value *image;
    bool *removes;
    size_t count;
    bool *begins; /* it is what the item was before all of its changes; NULL: nobody asks */
};

/* Everything of which they are owner or part: whoever keeps wholes elsewhere fetches those next. */
void embed_touch(const struct embeds *embeds, const struct source *source, size_t at,
                 const struct images *images, struct wholes *wholes);

/* Puts them in their places. `parts` counts what became a part. False: it was told why not. */
bool embed_apply(const struct cli *cli, const struct embeds *embeds, const struct source *source, size_t at,
                 const struct images *images, struct wholes *wholes, uint64_t *parts);

/* The owner, which is there, with its parts. False: it cannot be, which was told. */
bool embed_join(const struct embeds *embeds, const struct whole *whole, struct text *item);
