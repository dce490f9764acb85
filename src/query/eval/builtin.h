/*
 * src/query/eval/builtin.h - the built-in functions: one row each.
 * The binder has checked the argument count. A function is called only when every argument is
 * defined, unless its row says TAKES_UNDEFINED; no argument is ever a row (value.h). A wrong type gives
 * undefined: a value, and not an error.
 *
 * A row says everything that others decide by: the binder, the planner, the plan for SDKs. Nobody looks at a
 * function's name but builtin_find() and those who print it. function/README.md says how to add one.
 */
#pragma once
#include "query/value.h"

struct eval;
struct expr;
struct query_options;

typedef struct value builtin_code(struct eval *eval, const struct value *arg, int count);

enum { ARGS_NO_MAX = 0x7fff };

enum builtin_flags {
    TAKES_UNDEFINED = 1 << 0,
    NOT_CONSTANT = 1 << 1, /* differs from row to row or from call to call: RAND, GETCURRENTDATETIME */
    AGGREGATE = 1 << 2,    /* no code: aggregate.c computes it over many rows */
    SPATIAL = 1 << 3,      /* not allowed in computed properties */
    TAKES_ROW = 1 << 4,    /* the one argument is a source's name: DOCUMENTID */
    NOT_OF_ITEM = 1 << 5,  /* depends on the container's definition, too: no index has its values */
    RANKS = 1 << 6,        /* may be all of ORDER BY, nearest first; clients cannot merge that row by row */
    ORDERS = 1 << 7,       /* likewise, either way */
    DESCENDS = 1 << 8,     /* likewise, from the greatest down unless the statement says otherwise */
    SCORES = 1 << 9,       /* no code: stands in ORDER BY RANK alone */
    FUSES = 1 << 10,       /* no code: joins what ranks in ORDER BY RANK, and is no function elsewhere */
    LATE = 1 << 11,        /* the service's planner does not compute it, though its arguments are constants */
    TAKES_LONG = 1 << 12,  /* whatever its arguments are: no loop thread calls it */
};

/* What is known of a path among the arguments where a call is true or, of the last two, compared with a constant. */
enum claim_kind {
    CLAIM_NOTHING,
    CLAIM_KINDS,     /* the first argument is of the kinds [first, last] */
    CLAIM_BEGINS,    /* the first is a string that begins with the second; a third may say: in any case */
    CLAIM_EQUALS,    /* the first is the same string as the second; likewise */
    CLAIM_HOLDS,     /* the first is an array that has the second; a third may say: or has more than it */
    CLAIM_HOLDS_ALL, /* the first is an array that has all the others */
    CLAIM_HOLDS_ANY, /* or one of them */
    CLAIM_TOUCHES,   /* the two are geometries that share a place */
    CLAIM_DISTANCE,  /* how far two geometries lie apart */
    CLAIM_WORDS,     /* the first is a string that has all the others as keywords */
    CLAIM_ANY_WORDS, /* or one of them */
    CLAIM_MAGNITUDE, /* the first argument, a number, without its sign */
    CLAIM_LOWER,     /* the argument in small letters */
    CLAIM_UPPER,     /* in capitals */
    CLAIM_REVERSE,   /* from its end */
    CLAIM_LENGTH,    /* how many characters it has */
    CLAIM_CHOICE,    /* the second where the first is true, else the third */
    CLAIM_CHOSEN,    /* that of the others which the first counts */
};

struct builtin_claim {
    enum claim_kind kind;
    enum json_kind first, last; /* CLAIM_KINDS */
    bool exact;                 /* CLAIM_KINDS: of whatever has one of them the call is true */
};

/* What each range is asked for, so that a client can join the answers. */
enum aggregate_shape {
    SHAPE_PLAIN,   /* the aggregate itself */
    SHAPE_AVERAGE, /* a sum and a count */
    SHAPE_EXTREME, /* the aggregate, and how many values it was chosen from */
};

/* Of rows that have AGGREGATE. */
struct builtin_aggregate {
    const char *type; /* what the plan for SDKs calls it */
    enum aggregate_shape shape;
    const char *word;    /* SHAPE_EXTREME: what clients call its value */
    const char *feature; /* what a client must know beyond plain aggregates; NULL: nothing */
    bool sums;           /* numbers, and rounds at the end */
    bool counts;         /* every value alike, whatever it is */
    bool counts_true;    /* and nothing else */
    bool keeps_order;    /* its result depends on the order of rows */
};

struct builtin {
    const char *name; /* upper case */
    int args_min, args_max;
    const char *also; /* a second spelling, with underscores or without; NULL: there is none */
    builtin_code *code;
    unsigned flags;
    struct builtin_claim claim;
    struct builtin_aggregate aggregate;

    /* What the binder checks and prepares beyond the arguments, which are bound; NULL: nothing. */
    enum status (*bind)(struct op *op, const struct query_options *options, struct expr *call);
};

/* A family's rows, in no order: builtin_find() has an index of its own. */
struct builtin_family {
    const struct builtin *row;
    size_t count;
};
