/* src/catalog/indexing.h - indexing policies: checked, and defaults filled in as the service does. */
#pragma once
#include "catalog/definition.h"

/* Adds the full policy to the builder, as the value of a name already added. */
enum status indexing_policy_define(struct op *op, struct json policy, bool is_geometry,
                                   struct json_builder *out);
