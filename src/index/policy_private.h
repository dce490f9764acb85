/*
 * src/index/policy_private.h - what a policy is made of, for policy.c and entries.c only.
 * A tree of the steps that the policy names. Whoever walks a document goes down both at once; what has no node
 * of its own is at its parent's `rest`, which is its own rest.
 */
#pragma once
#include "index/policy.h"

enum { NONE = -1 };

struct index_node {
    uint64_t hash; /* of the name: murmur3_128(), first half */
    struct slice name;
    struct index_node **child; /* members, by hash */
    size_t child_count;
    struct index_node *element; /* every element of an array; NULL: the rest */
    struct index_node *rest;
    bool value;   /* a value here has an entry */
    bool is_bare; /* nothing here or below has one, nor a slot, nor cells: there is no need to look */
    bool stored;  /* false: it is a system property, or a computed one, that has this name */
    int slot;     /* where composites and tuples look for the value here; or NONE */
    int spatial;  /* which spatial index a geometry here is in; or NONE */
    int tuple;    /* at an array's element: the first of its tuples; or NONE */
};

/* The values that a composite index, or a tuple, is made of. */
struct joined_slots {
    int slot[INDEX_PARTS_MAX]; /* NONE: _ts */
    int next;                  /* the next tuple at the same element; or NONE */
};

struct index_policy {
    bool is_empty, is_manual, planar;
    const struct index_node *root;
    size_t slot_count;
    size_t composite_count, tuple_count, spatial_count;
    struct index_joined *composite, *tuple;
    struct joined_slots *composite_slots, *tuple_slots;
    double (*box)[4]; /* of each spatial index */
    struct json computed;
    size_t computed_count;
    const struct index_node **computed_node; /* in the order of `computed`; NULL: it cannot be computed */
    path_id *computed_path;
    index_compute *compute;
};

/* The node of a member, whose name has this hash, or of an element. */
const struct index_node *index_node_member(const struct index_node *parent, struct hash128 hash,
                                           struct slice name);
const struct index_node *index_node_element(const struct index_node *parent);
