/*
 * cli/plan.h - a plan of how containers would be otherwise: a file, for `advise --try` and for `reshape`.
 *     {"database":"dbs/shop","containers":[{"id":"orders","partitionKey":{...},"items":"SELECT VALUE {...} FROM c"}]}
 */
#pragma once
#include <orrery.h>

#include "text.h"

/* NULL: it was told why there is none. */
orrery_json *plan_read(const char *path);

/* The container's definition as it is, under that id, but for what the plan says; an undefined plan changes nothing. */
void plan_define(struct text *to, const char *id, orrery_value definition, orrery_value plan);

/* The query whose rows are the new items; NULL: they are the old ones. */
const char *plan_mapping(orrery_value plan);

/* ["id","key"]: what makes an item the one that it is, by the paths of a partition key. */
void plan_identify(struct text *out, orrery_value paths, orrery_value item);
void plan_print_level(struct text *out, orrery_value value); /* {}, which no key is: it is undefined */

/* The value at /a/b of an item; undefined: there is none. */
orrery_value plan_value_at(orrery_value item, const char *path);
