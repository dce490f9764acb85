/* src/advise/rules_private.h - the functions of the rules, for the table. */
#pragma once
#include "advise/rules.h"

typedef enum status rule_find(struct op *op, const struct rule *rule, struct advice *advice);

/* rules.c */
rule_find find_unbounded_arrays, find_names_as_data, find_mixed_types, find_mixed_dates, find_dead_members;

/* rules_whole.c */
rule_find find_large_items, find_skewed_keys, find_few_keys, find_dangling_references, find_drifted_copies;
