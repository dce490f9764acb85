/* src/source/items_private.h - how an item becomes a row, for the sources of this folder. */
#pragma once
#include "keys/record.h"
#include "query/query.h"

void item_row(struct op *op, const struct record *item, struct query_row *row);

/* The members that follow a body: the same that a client sees, so that a query finds what clients were told. */
struct json item_system_members(struct arena *memory, const struct container *container,
                                const struct record *item);

/* One of them; undefined where there is none of that name. False when the memory's limit was reached. */
bool item_system_member(struct arena *memory, const struct container *container, const struct record *item,
                        struct slice name, struct json *value);
