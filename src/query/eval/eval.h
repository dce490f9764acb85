/*
 * src/query/eval/eval.h - computing one row: the context that built-ins see, and expressions.
 * What goes wrong on the way (memory, time, a UDF that throws) is kept in `status`, because a value
 * cannot say it. The code that walks the rows looks at `status` once a row.
 */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"

struct eval {
    struct op *op;        /* memory, time, work */
    enum status status;   /* the first thing that went wrong */
    uint32_t run;         /* which execution of the query this is */
    void **memo;          /* the running call's own pointer, kept for the query's life; NULL at first */
    struct arena *kept;   /* memory for what a memo points to: op->arena is rewound after each row */
    struct arena *item;   /* memory for the item being looked at: reset before the next one */
    int64_t static_ticks; /* 100 ns since 1970, the same for the whole query */
    bool planar;          /* the container's geometry is a plane, not the earth */
    query_udf *udf;       /* NULL: there are none */
    query_udf_told *udf_told;
    bool tells; /* calls are told, and not made */
    void *udf_context;
    struct value *slot;   /* the sources' values, by EXPR_NAME's slot */
    struct value *result; /* aggregates and keys of a group, by the slots of EXPR_CALL and EXPR_RESULT */
    uint64_t steps, told; /* work done so far, and how much of it the op was told of */
    uint64_t check_at;    /* when to tell it again */
    size_t nodes;         /* of all expressions */
    size_t row_bytes;     /* that they may look at for a row, all together; counted on a loop thread only */
};

/* The members that follow the row's body; undefined, and a failure, where there is no memory for them. */
struct json eval_system(struct eval *eval, struct query_row *row);

/* Records the first failure and gives back undefined, so that code may say return eval_fail(...). */
struct value eval_fail(struct eval *eval, enum status status);

/* Memory of a size the data chooses; NULL past the budget, which is then recorded as the failure. */
void *eval_alloc(struct eval *eval, size_t bytes);

/* What the builder built; undefined with the failure recorded when it ran out of memory. */
struct value eval_built(struct eval *eval, struct json_builder *builder);

struct value eval_expr(struct eval *eval, const struct expr *expr);

/* What lies at an EXPR_MEMBER that nothing stands in for: in the item itself, or in what was computed. */
struct json eval_member(struct eval *eval, const struct expr *expr);

/* A row as the object it stands for, system properties included; anything else as it is. */
struct value eval_plain(struct eval *eval, struct value value);

/* Counts work, a row or so many bytes: now and then it looks whether time is up. False: stop. */
bool eval_spend(struct eval *eval, size_t bytes);

/* Puts a value into what is being built, where arrays of arrays may be much larger than what they are made of. False: stop. */
bool eval_add(struct eval *eval, struct json_builder *out, struct value value);

/* A copy of what a value points to, in the op's arena. */
struct value eval_copy(struct eval *eval, struct value value);
