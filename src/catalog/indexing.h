/* src/catalog/indexing.h - indexing policies: checked, and defaults filled in as the service does. */
#pragma once
#include "catalog/definition.h"

struct indexing_options {
    bool is_geometry; /* the container's shapes lie on a plane */
    bool is_old;      /* for clients of old: the mode lazy is kept, and an index that is not automatic */
    bool is_keyless;  /* it has no partition key: it shows the kinds of index that it was given, as long ago */
};

/* Adds the full policy to the builder, as the value of a name already added. */
enum status indexing_policy_define(struct op *op, struct json policy, struct indexing_options options,
                                   struct json_builder *out);

/* Whether the path of a spatial index begins with that member of an item. */
bool spatial_index_is_of(struct slice path, struct slice name);
