/* src/query/bind/bind_private.h - what the files of the binder share. */
#pragma once
#include "base/limits.h"
#include "query/bind/bind.h"
#include "query/function/builtins.h"
#include "query/text/mistake.h"

/* A name that may be used, and where its value stands. */
struct visible {
    const struct visible *outer;
    struct slice name;
    int slot;
};

/* What an expression may hold, where it stands. */
enum place {
    IN_SELECT,    /* aggregates are welcome */
    IN_AGGREGATE, /* an aggregate's argument: neither aggregates nor subqueries */
    IN_FILTER,    /* WHERE, FROM, GROUP BY: no aggregates */
};

struct parameter {
    struct slice name;
    struct value value;
};

struct binder {
    struct op *op;
    struct parameter *parameter; /* sorted by name */
    size_t parameter_count;
    const struct query_options *options;
    struct bound *bound;
    int udfs;
    int depth;                         /* of subqueries */
    bool in_computed;                  /* inside a computed property, which sees none of its kind */
    struct select *select;             /* whose aggregates are being gathered */
    struct span aggregate;             /* whose argument is being bound */
    struct span whole;                 /* of the text */
    bool is_item[QUERY_SLOTS_MAX + 1]; /* by slot: a whole item, with the container's computed properties */
};

/* `may_be_root`: the first FROM may name the container, because this statement is not inside a row. */
enum status bind_select(struct binder *b, struct select *select, const struct visible *outer,
                        bool may_be_root);
enum status bind_expr(struct binder *b, struct expr *expr, const struct visible *names, enum place place);

/* After everything is bound: GROUP BY's rules, and which parts of the select list are group keys. */
enum status bind_groups(struct binder *b, struct select *select);

/* ORDER BY's rules, by the container's indexing policy. */
enum status bind_order(struct binder *b, struct select *select);

bool expr_equal(const struct expr *a, const struct expr *b);
