/* src/query/computed.h - computed properties: what their definitions may say, and their values. */
#pragma once
#include "index/policy.h"

/*
 * Each of a container's computedProperties, which have a name and a query: SELECT VALUE <expression> FROM <name>, without anything that
 * looks at more than one item, changes from call to call, or costs too much. ST_BAD_REQUEST otherwise.
 */
enum status computed_check(struct op *op, struct json properties);

/* An index_compute: what the index keeps of one (index/policy.h). The definition is compiled each time. */
enum status computed_value(struct op *op, struct json computed, size_t which, struct json document,
                           struct index_computed *result);
