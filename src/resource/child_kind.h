/*
 * src/resource/child_kind.h - what the table of kinds (keys/kinds.def) means for bodies: the properties that a client
 * may send, and what a kind has beyond its row.
 */
#pragma once
#include "keys/kind.h"
#include "resource/call.h"

enum property_form { PROPERTY_STRING, PROPERTY_ONE_OF, PROPERTY_OBJECT, PROPERTY_ARRAY };

struct child_property {
    const char *name; /* NULL behind the last one */
    bool required;
    enum property_form form;
    const char *const
        *values; /* of PROPERTY_ONE_OF, NULL at the end; in any case, and given back as they came */
};

enum { CHILD_PROPERTIES_MAX = 4 };

/* A child that is being printed, and what its members depend on. */
struct child_printing {
    const struct child *child;
    const struct call *call;
    int64_t now_ms;
    int64_t token_seconds; /* how long a permission's token is to hold */
};

/* The properties of a kind besides id, in the order of its row. */
const struct child_property *child_properties(const struct kind *kind);

/* Checks a client's body and takes system properties out: `defined` is stored. ST_BAD_REQUEST tells what is wrong. */
enum status child_define(struct op *op, const struct call *call, const struct kind *kind, struct json body,
                         struct json *defined);

/* Prints the members that the service adds, with a comma before each. */
void child_print_added(struct buf *out, const struct kind *kind, const struct child_printing *printing);
