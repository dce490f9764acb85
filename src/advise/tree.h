/*
 * src/advise/tree.h - what the items of one type look like: a tree of their members, each with what was seen there.
 *     tree_init(&tree, arena, seed);   tree_add(op, &tree, &item);  ...   then the nodes are read
 * Names that differ from item to item would make a tree without end: a node takes NODE_CHILDREN_MAX names, a tree
 * TREE_NODES_MAX nodes. What finds no room is counted where it would have been.
 *
 * Ownership. Everything lies in the arena that it was given. It copies what it keeps of an item.
 */
#pragma once
#include "advise/form.h"
#include "advise/spread.h"
#include "base/op.h"
#include "json/json.h"

enum { NODE_CHILDREN_MAX = 128, TREE_NODES_MAX = 2000, NODE_SAMPLES = 192, NODE_LONGEST = 3 };
enum { KEPT_ID_BYTES_MAX = 255, KEPT_VALUE_BYTES_MAX = 4096, LENGTH_STEPS = 32 };

/* How long arrays are, or how large values: the number of those of 2^i to 2^(i+1) - 1 in step i. */
struct lengths {
    uint64_t count, total, least, most;
    uint64_t step[LENGTH_STEPS];
};

/* The upper end of the step in which so large a part of all lie, 0 to 1; `most` where that is less. */
uint64_t lengths_at(const struct lengths *lengths, double part);

/* A value, and an item that it was seen in. */
struct sample_value {
    uint64_t hash;
    struct json value;
    struct slice id;
};

struct long_array {
    uint64_t length, bytes, item_bytes;
    struct slice id;
};

struct node {
    struct slice name; /* empty: the elements of an array, and the items themselves */
    struct node *parent, *child, *last_child, *next;
    size_t child_count;
    bool of_array;                  /* its parent is an array */
    uint64_t kind[JSON_OBJECT + 1]; /* values of each kind; true and false are both counted as true */
    uint64_t items;                 /* that have at least one of them */
    uint64_t last_item;             /* the tree's own */
    uint64_t empty;                 /* null, "", [] and {} */
    uint64_t bytes;                 /* of all values */
    uint64_t unnamed;               /* members of its objects that found no room */
    uint64_t form[FORM_COUNT];      /* of strings */
    struct lengths lengths;         /* of arrays */
    struct long_array longest[NODE_LONGEST];
    struct spread *spread; /* of scalars that lie in no array; NULL: there was none */
    struct sample_value
        *sample; /* of strings, and of objects with an id: each different one with the same chance */
    size_t sample_count;
};

struct tree {
    struct arena *arena;
    struct hash_seed seed;
    struct node *root;
    size_t node_count;
    uint64_t items, bytes;
    struct slice type; /* the discriminator's value; data is NULL where items have none */
};

/* An item as it is looked at. */
struct seen_item {
    struct json document;
    struct slice id;
    uint64_t bytes;
};

/* ST_TOO_LARGE when the arena is full. */
enum status tree_init(struct op *op, struct tree *tree, struct arena *arena, struct hash_seed seed);
enum status tree_add(struct op *op, struct tree *tree, const struct seen_item *item);

/* /a/b/[]/c */
void node_print_path(struct buf *out, const struct node *node);
struct node *node_child(const struct node *node, struct slice name);

/* for (node = tree.root; node; node = node_after(node)): all of them, owners first. */
struct node *node_after(const struct node *node);

/* How many there are, of all kinds. */
uint64_t node_values(const struct node *node);
