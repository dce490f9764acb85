/* src/query/run/compile.h - a compiled query, for those who run it. */
#pragma once
#include "query/bind/bind.h"
#include "query/eval/eval.h"

struct position;
struct ranking;

struct query {
    struct select *select;
    struct bound bound;
    struct query_options options;
    bool gathers_elsewhere; /* another range answers for all: the subquery in FROM has no rows */
    uint64_t hash;
    const struct position *resume; /* where rows begin, if the client says so itself: resume.h */
    struct ranking *ranking; /* ORDER BY RANK, whose words were counted; NULL: those of the source count */
    uint32_t runs;           /* so far: what a built-in keeps is good for one */
};

/* An evaluation of its own, whose slots are undefined. */
struct eval query_eval(struct op *op, struct query *query);

/* SELECT VALUE <expression> FROM c, of one document, without system properties. */
enum status query_value(struct op *op, struct query *query, struct json document, struct value *value);
