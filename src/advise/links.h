/*
 * src/advise/links.h - values that are ids of other items (references), and objects that repeat other items (copies).
 * Found by asking: sampled values are looked for among the ids of every container of the database.
 */
#pragma once
#include "advise/look.h"

enum { LINK_EXAMPLES = 3, COPY_MEMBERS = 8 };

/* Nearly all values at `node` are ids of items of `to`. */
struct reference {
    const struct look *from, *to;
    const struct tree *tree;
    const struct node *node;
    size_t asked, missing;               /* different values */
    struct slice from_id[LINK_EXAMPLES]; /* items whose reference leads nowhere */
    size_t examples;
};

/* Objects at `node` have the id and other members of items of `to`. */
struct copied {
    const struct look *from, *to;
    const struct tree *tree;
    const struct node *node;
    size_t compared, drifted;          /* objects; drifted: a member has another value than the item's */
    struct slice member[COPY_MEMBERS]; /* that differ in some of them */
    size_t member_count;
    struct slice from_id[LINK_EXAMPLES]; /* items with an object that has drifted */
    size_t examples;
};

struct links {
    struct reference *reference;
    size_t reference_count, reference_capacity;
    struct copied *copy;
    size_t copy_count, copy_capacity;
};

/* Everything lies in the op's arena. */
enum status links_find(struct op *op, const struct look *look, size_t look_count, struct links *links);
