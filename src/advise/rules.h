/*
 * src/advise/rules.h - what may be wrong with a data model: a table of rules, each with what it looks for.
 * To add one: write its function, add its row, its section in docs/modelling/rules.md, and a model with and without it in
 * test/advise/. Ids of rules are stable: programs name them.
 */
#pragma once
#include "advise/links.h"
#include "advise/look.h"

enum severity { SEVERITY_HIGH, SEVERITY_MEDIUM, SEVERITY_LOW };
extern const char *const severity_names[];

struct finding {
    const struct rule *rule;
    enum severity severity;
    size_t order;     /* in which it was found */
    struct json body; /* container, type, path, evidence, cost, advice */
};

/* What was seen, and what follows from it. */
struct advice {
    const struct look *look;
    size_t look_count;
    struct json workload; /* what was recorded of it, as workload/ shows it; undefined: nothing */
    bool values;          /* of items and keys may be told */
    struct links links;
    struct finding *finding;
    size_t count, capacity;
};

struct rule {
    const char *id, *title;
    enum status (*find)(struct op *op, const struct rule *rule, struct advice *advice);
};

extern const struct rule rules[];
extern const size_t rule_count;

/* Adds the findings of every rule, in the op's arena. */
enum status rules_apply(struct op *op, struct advice *advice);
