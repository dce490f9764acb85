/*
 * src/resource/permission.h - what permissions have beyond other small resources: a link to what they are for,
 * and a token.
 */
#pragma once
#include "resource/child_kind.h"

/* dbs/a, dbs/a/colls/b or dbs/a/colls/b/docs/c taken apart; absent parts have no data. */
struct resource_link {
    struct slice database, container, type, id;
};

bool resource_link_parse(struct slice text, struct resource_link *link);

/* How many seconds the tokens hold that this request makes. */
enum status permission_token_seconds(struct op *op, const struct call *call, int64_t *seconds);

/* For child_kind.c. */
enum status permission_check(struct op *op, const struct call *call, struct json body);
void permission_print_token(struct buf *out, const struct child_printing *printing);
