/*
 * src/main/copy_attachments.h - an attachment of an item that is copied, with the bytes if they are kept here.
 *
 * Threads. One, which may wait.
 */
#pragma once
#include "main/inside.h"

/* Whether items of the container, whose resource this is, have any: mostly not, and then no item is asked for them. */
enum status copy_has_attachments(struct op *op, const struct inside *from, struct json container, bool *any);

/* One attachment of an item, where the copy of the item has been written. */
struct attachment_copy {
    struct op *op;
    struct inside *from, *to;
    struct slice item; /* the path of the copy */
    struct slice key;  /* its partition key */
};

enum status copy_attachment(const struct attachment_copy *copy, struct json attachment);
