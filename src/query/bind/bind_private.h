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

/* Where an expression stands, which says what it may hold. */
enum place {
    IN_SELECT,    /* aggregates are welcome, as in ORDER BY */
    IN_AGGREGATE, /* an aggregate's argument: no aggregates but those of subqueries */
    IN_FROM,
    IN_WHERE, /* no aggregates */
    IN_GROUP, /* neither aggregates nor subqueries */
};

/* What is known of a slot's value. */
struct bind_slot {
    const struct source *source; /* NULL: the container's item */
    bool is_item;                /* a whole item, with the container's computed properties */
};

struct binder {
    struct op *op;
    const struct parameters *parameters;
    const struct query_options *options;
    struct bound *bound;
    struct mistakes mistakes; /* so far: binding goes on behind them */
    int udfs;
    int depth;              /* of subqueries */
    bool in_computed;       /* inside a computed property, which sees none of its kind */
    bool in_rank;           /* inside ORDER BY RANK, where scores may stand */
    bool nested_aggregate;  /* an aggregate's argument has another in it */
    struct select *select;  /* whose aggregates are being gathered */
    struct slice text;      /* of the query */
    struct span whole;      /* all of it */
    struct bind_slot *slot; /* as many as bound->slots */
};

/* TRY(bind_wrong(b, mistake(b->op, ...))) notes what is wrong, and goes on. */
static inline enum status bind_wrong(struct binder *b, enum status st)
{
    return mistakes_take(b->op, &b->mistakes, st);
}

/* `may_be_root`: the first FROM may name the container, because this statement is not inside a row. */
enum status bind_select(struct binder *b, struct select *select, const struct visible *outer,
                        bool may_be_root);
enum status bind_expr(struct binder *b, struct expr *expr, const struct visible *names, enum place place);

/* A column or a member of an object is called as one before it. */
enum status bind_repeated_name(struct binder *b, struct slice name, struct span span);

/* Where a subquery stands: without its parentheses, or with the word before it and these. */
static inline struct span bind_subquery_span(const struct expr *expr)
{
    return expr->kind == EXPR_SUBQUERY ? expr->select->span : expr->span;
}

/* An aggregate or a subquery stands there. */
enum status bind_not_in_group(struct binder *b, struct span span);

/* The expressions of GROUP BY. */
enum status bind_group_list(struct binder *b, struct select *select, const struct visible *names);

/* After everything is bound, and nothing is wrong: which parts of ORDER BY and the select list are group keys. */
enum status bind_groups(struct binder *b, struct select *select);

/* ASC or DESC of an item that has been bound. */
enum status bind_direction(struct binder *b, struct order_item *item);

/* ORDER BY's rules: what no plan is made of, and what does not run, by the container's indexing policy. */
enum status bind_order(struct binder *b, struct select *select);

/* ORDER BY RANK: what may stand there, and beside it. bind_rank_list() binds the clause's one item. */
enum status bind_rank_sources(struct binder *b, const struct select *select);
enum status bind_rank_groups(struct binder *b, const struct select *select);
enum status bind_rank_list(struct binder *b, struct select *select, const struct visible *names);
enum status bind_rank_columns(struct binder *b, const struct select *select);

/* A path from the item down: names, and [] for an element of an array. */
enum { ORIGIN_STEPS_MAX = 64 };

struct origin {
    size_t count;
    struct slice step[ORIGIN_STEPS_MAX];
};

/* Where in an item the expression's value stands, through whatever sources. False when it is computed. */
bool bind_origin(const struct binder *b, const struct expr *expr, struct origin *origin);

/* The query's own words there. */
struct slice bind_cited(const struct binder *b, struct span span);

static inline bool expr_is_step(const struct expr *expr)
{
    return expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX;
}

/* Whether both are the same of every row. */
bool expr_equal(const struct expr *a, const struct expr *b);
