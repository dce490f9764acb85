/*
 * src/resource/child_kind.h - the kinds of small resources: a row each says all that tells one from another.
 */
#pragma once
#include "resource/call.h"

enum property_form { PROPERTY_STRING, PROPERTY_ONE_OF, PROPERTY_OBJECT, PROPERTY_ARRAY };

struct child_property {
    const char *name;
    bool required;
    enum property_form form;
    const char *const
        *values; /* of PROPERTY_ONE_OF, NULL at the end; in any case, and given back as they came */
};

enum { CHILD_PROPERTIES_MAX = 4 };

/* One being printed: for members that differ from one to the next. */
struct child_printing {
    const struct child *child;
    const struct call *call;
    int64_t now_ms;
    int64_t token_seconds; /* how long a permission's token is to hold */
};

struct child_kind {
    const char *type; /* in paths: sprocs */
    enum rid_type rid_type;
    const char *collective;                               /* of a feed */
    const char *extra;                                    /* members that the service adds */
    struct child_property property[CHILD_PROPERTIES_MAX]; /* besides id */
    /* More than the table can say; each may be NULL. */
    enum status (*check)(struct op *op, const struct call *call, struct json body);
    void (*print_extra)(struct buf *out, const struct child_printing *printing);
};

/* NULL when the type is none of them. */
const struct child_kind *child_kind_find(struct slice type);

/* A client's body to what is stored: checked, without system properties. ST_BAD_REQUEST tells what is wrong. */
enum status child_define(struct op *op, const struct call *call, const struct child_kind *kind,
                         struct json body, struct json *defined);
