/* src/advise/rules_private.h - the functions of the rules, for the table. */
#pragma once
#include "advise/rules.h"

typedef enum status rule_find(struct op *op, const struct rule *rule, struct advice *advice);

/* rules.c */
rule_find find_unbounded_arrays, find_names_as_data, find_mixed_types, find_mixed_dates, find_dead_members;

/* rules_asked.c */
rule_find find_unnamed_keys, find_fan_outs, find_hot_keys, find_repeated_counts, find_missing_composites;

/* rules_changed.c */
rule_find find_busy_parts, find_unasked_paths, find_ttl_by_hand;

/* rules_together.c */
rule_find find_read_together, find_two_containers;

/* rules_apart.c */
rule_find find_unique_by_hand, find_large_tenants, find_no_resolvers;

/* rules_whole.c */
rule_find find_large_items, find_skewed_keys, find_few_keys, find_dangling_references, find_drifted_copies;

/* A path of a container's partition key, /a/b, in the op's arena. */
struct slice key_path_text(struct op *op, const struct container *container, size_t index);
bool is_key_path(struct op *op, const struct container *container, struct slice path);

/* How items would spread by the values at a path. False: too few items have a text there, or it has too few values. */
struct candidate {
    const struct node *node;
    uint64_t distinct;
    double largest_share;
};
bool candidate_judge(const struct look *look, const struct node *node, struct candidate *candidate);
