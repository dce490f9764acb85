/*
 * src/index/path.h - the paths that indexing policies are written with, taken apart.
 *
 *     /a/b/?               the value there; with a star for the question mark, all below as well
 *     /a/"b c"/?           quotes for unusual names; \" and \\ inside them
 *     /a/[]/b/?            of every element of an array
 *     /a/[]/{b, c/d}/?     a tuple: several values of one element
 *     /a/b                 in a composite index: the value there
 *
 * Tuples may also go through one element, as in [1]; such a path is well formed, and never has entries.
 */
#pragma once
#include "index/policy.h"

struct policy_path {
    struct index_path path; /* of a tuple: up to and with the array's element */
    bool below;             /* it ends in a star */
    bool unusable;          /* it goes through one element of an array, or deeper than any document */
    size_t part_count;      /* of a tuple; 0 for all others */
    struct index_path part[INDEX_PARTS_MAX];
};

/* Gives the place where the path goes wrong, counted from 1; 0 when it is well formed. Its steps lie in the arena. */
size_t policy_path_parse(struct arena *arena, struct slice text, struct policy_path *parsed);

/* The same for a path of a composite index. */
size_t composite_path_parse(struct arena *arena, struct slice text, struct policy_path *parsed);

/*
 * Reads a label behind its slash, quoted or not, and leaves out the quotes. Gives its end; 0 when there is no label.
 */
size_t path_label(struct slice path, size_t at, struct slice *label);
