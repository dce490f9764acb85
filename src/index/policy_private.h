/*
 * src/index/policy_private.h - what a policy is made of, for policy.c and entries.c only.
 * A policy is a tree of the steps that it names. A walk over a document goes down the tree at the same time. A step
 * that has no node of its own is at its parent's `rest`; the rest of a rest is itself.
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
    bool is_bare; /* nothing here or below has an entry, a slot or cells: the walk need not look */
    bool stored;  /* false: a system or a computed property has this name; stored values have no entry */
    int slot;     /* the slot in which composites and tuples find the value here; or NONE */
    int spatial;  /* which spatial index a geometry here is in; or NONE */
    int text;     /* the language of a text here, whose words have entries; or NONE */
    int tuple;    /* at an array's element: the first of its tuples; or NONE */
};

/* The slots of the values that make an entry of a composite index, or of a tuple. */
struct joined_slots {
    int slot[INDEX_PARTS_MAX]; /* NONE: _ts */
    int next;                  /* the next tuple at the same element; or NONE */
};

struct index_policy {
    bool is_empty, is_manual, planar;
    bool has_forms; /* words of texts have entries as they were written, too */
    struct hash_seed seed;
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

/* Where texts of that language have their entries, at a path whose id for ranges is given. */
struct index_text index_text_at(const struct index_policy *policy, path_id path, int language);
