/*
 * src/query/value/tree.h - a query as a tree: what the parser makes, the binder completes, the evaluator
 * walks and the printer writes back as text.
 *
 * Ownership. Everything lies in the arena of the op that parsed it; names and strings point into
 *     the query's text where they can.
 */
#pragma once
#include "query/value.h"

struct builtin;
struct select;

/* Where in the text, in characters from 0: [start, end). Errors cite it. */
struct span {
    uint32_t start, end;
};

enum operator_kind {
    OPERATOR_OR,
    OPERATOR_AND,
    OPERATOR_NOT,
    OPERATOR_COALESCE, /* ?? */
    OPERATOR_CONCAT,   /* || */
    OPERATOR_BIT_OR,
    OPERATOR_BIT_XOR,
    OPERATOR_BIT_AND,
    OPERATOR_BIT_NOT,
    OPERATOR_EQUAL,
    OPERATOR_NOT_EQUAL, /* != and <> */
    OPERATOR_LESS,
    OPERATOR_LESS_EQUAL,
    OPERATOR_GREATER,
    OPERATOR_GREATER_EQUAL,
    OPERATOR_SHIFT_LEFT,
    OPERATOR_SHIFT_RIGHT,          /* >> */
    OPERATOR_SHIFT_RIGHT_UNSIGNED, /* >>> */
    OPERATOR_ADD,
    OPERATOR_SUBTRACT,
    OPERATOR_MULTIPLY,
    OPERATOR_DIVIDE,
    OPERATOR_MODULO,
    OPERATOR_PLUS,  /* unary */
    OPERATOR_MINUS, /* unary */
};

enum expr_kind {
    EXPR_LITERAL,   /* value: null, true, false, undefined, number (NaN and Infinity too), string */
    EXPR_PARAMETER, /* name with its @; the binder sets value */
    EXPR_NAME,      /* name of a source; the binder sets slot */
    EXPR_MEMBER,    /* kid[0].name, kid[0]["name"]; `quoted` tells which it was */
    EXPR_INDEX,     /* kid[0][kid[1]]: an element, or a member by a computed name */
    EXPR_UNARY,     /* operation, kid[0] */
    EXPR_BINARY,    /* operation, kid[0], kid[1]; AND and OR take all that they join, two kids or more */
    EXPR_TERNARY,   /* kid[0] ? kid[1] : kid[2] */
    EXPR_BETWEEN,   /* kid[0] [NOT] BETWEEN kid[1] AND kid[2] */
    EXPR_IN,        /* kid[0] [NOT] IN (kid[1], ...) */
    EXPR_LIKE,      /* kid[0] [NOT] LIKE kid[1] [ESCAPE kid[2]] */
    EXPR_CALL,      /* name(kid...): a built-in; the binder sets builtin */
    EXPR_UDF,       /* udf.name(kid...) */
    EXPR_ARRAY,     /* [kid, ...] */
    EXPR_OBJECT,    /* {names[i]: kid[i], ...} */
    EXPR_SUBQUERY,  /* (SELECT ...) as a scalar */
    EXPR_EXISTS,    /* EXISTS(SELECT ...) */
    EXPR_ARRAY_OF,  /* ARRAY(SELECT ...) */
    EXPR_ALL,       /* ALL(SELECT ...); the binder makes NOT EXISTS of it */
    EXPR_FIRST,     /* FIRST(SELECT ...) */
    EXPR_LAST,      /* LAST(SELECT ...) */
    EXPR_RESULT,    /* made by the binder: a group's key, by its slot among the results */
};

enum { HEIGHT_LEVEL = 8 }; /* QUERY_DEPTH_MAX levels at most */

struct expr {
    enum expr_kind kind;
    enum operator_kind operation; /* EXPR_UNARY, EXPR_BINARY */
    bool negated;                 /* NOT BETWEEN, NOT IN, NOT LIKE */
    bool quoted;                  /* EXPR_MEMBER: written in brackets */
    uint16_t height;  /* of the tree from here down: HEIGHT_LEVEL a level, 1 a link in a chain of operators */
    struct span span; /* from the first token to the last; of a call, the name and its parentheses */
    struct span name_span; /* of the name alone, where there is one */
    struct slice name;
    struct value value;
    struct expr **kid;
    size_t kid_count;
    struct slice *names;   /* EXPR_OBJECT: one for each kid, escapes resolved */
    struct span *places;   /* and where each stands */
    struct select *select; /* the subquery's */

    /* Set by the binder. */
    const struct builtin *builtin;
    int slot;             /* EXPR_NAME: which source's value; EXPR_CALL of an aggregate: which accumulator */
    struct expr *instead; /* what to evaluate in its place: a computed property, a group's key */
    bool constant;        /* the same for every row */
    bool refused;         /* it is wrong by itself, whatever its parts are */
    void *memo;           /* what the binder prepared: an IN list, a vector's policy */
    void *kept; /* a built-in's own memory between the rows of an execution, such as a compiled pattern */
    uint32_t kept_run; /* of which execution (eval.run) */
};

/* EXPR_IN whose list is constant and long: in memo, sorted by value_compare(). */
struct in_list {
    size_t count;
    struct value *value;
};

enum source_kind {
    SOURCE_PATH,     /* FROM c, FROM c.a["b"] x: a name, or a path below one */
    SOURCE_ITERATE,  /* x IN <path, subquery or call>: one row an element */
    SOURCE_SUBQUERY, /* (SELECT ...) x: one row for each of its */
};

struct source {
    enum source_kind kind;
    struct span span;
    struct slice alias; /* as written, or inferred from the path's last step; empty when there is none */
    bool alias_written; /* AS x, or a name beside it */
    struct span alias_span;
    struct expr *path; /* SOURCE_PATH; SOURCE_ITERATE: what to iterate (EXPR_SUBQUERY for IN (SELECT ...)) */
    struct select *select; /* SOURCE_SUBQUERY */

    /* Set by the binder. */
    int slot;
};

/* The subquery that the source reads: (SELECT ...) x, or x IN (SELECT ...). NULL: it reads none. */
static inline struct select *source_rows(const struct source *source)
{
    return source->kind == SOURCE_SUBQUERY ? source->select : source->path->select;
}

struct select_item {
    struct expr *expr;
    struct slice alias; /* as written; empty when there is none: the binder sets name */
    struct span alias_span;
    struct slice name; /* what the property is called: alias, last step of the path, $1 */
    struct span span;
};

struct order_item {
    struct expr *expr;
    bool descending;
    bool direction_written;
    struct span span;
};

/* TOP n, OFFSET n, LIMIT n: a literal or a parameter; NULL when the clause is absent. */
struct select {
    struct span span; /* the whole of it */
    uint16_t height;  /* of the highest expression in it */
    bool distinct, star, value;
    struct span star_span;
    struct expr *top;
    struct select_item *item;
    size_t item_count;
    struct source *source; /* FROM first, then each JOIN; none when there is no FROM */
    size_t source_count;
    struct expr *where;
    struct expr **group;
    size_t group_count;
    struct order_item *order;
    size_t order_count;
    bool rank;                                                /* ORDER BY RANK: one item, a call */
    struct span order_span, group_span, limit_span, top_span; /* the clauses, keyword to last token */
    struct expr *offset, *limit;

    /* Set by the binder. */
    struct expr **aggregate; /* the aggregate calls of the select list: EXPR_CALL, slot = index */
    size_t aggregate_count;
    int group_slot;      /* of the first GROUP BY expression's value among the results; the others follow */
    bool whole;          /* a subquery in FROM that is no part of one item: over all of them */
    const char *refusal; /* why it does not run, though clients get a plan of it; NULL: it runs */
};
