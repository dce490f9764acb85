/*
 * src/query/function/vector.h - VectorDistance: what the binder and ORDER BY need to know of it.
 * The function is the one that the call's options name, else the path's policy, else cosine.
 */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"
#include "vector/code.h"

/* One element of a container's vectorEmbeddingPolicy. The binder leaves it in the call's memo. */
struct vector_policy {
    bool prepared; /* false: set by fn_vector.c alone, in a copy of its own */
    enum vector_function function;
    enum vector_type type;
    uint32_t dimensions; /* 0: any */
};

/* Of the first argument that is a path with a policy, in the op's arena; NULL when there is none. */
const struct vector_policy *vector_policy_of(struct op *op, const struct expr *call, struct json vectors);

/* Options that the service refuses before it runs the query: their names, their values, their ranges. */
enum status vector_check_call(struct op *op, const struct expr *call, const struct vector_policy *policy);

/* What the binder does with a call: checks it, and leaves its policy in its memo. */
enum status vector_bind(struct op *op, const struct query_options *options, struct expr *call);

/* One of the call's options, which are constants; undefined when it is not given. */
struct value vector_option(const struct expr *call, const char *name);

/* By the options, then the policy, which may be NULL. */
enum vector_function vector_function_of(const struct expr *call, const struct vector_policy *policy);

enum vector_type vector_type_of(const struct expr *call, const struct vector_policy *policy);

/* The element of an indexing policy's vectorIndexes that is of this path; undefined when there is none. */
struct json vector_index_of(const struct expr *path, struct json indexing);

/* Which way ORDER BY goes, since it always gives the nearest first: a similarity falls, a distance rises. */
bool vector_nearest_is_greatest(const struct expr *call, const struct vector_policy *policy);

/* By their names in policies and options, in any case; false when it is no name. */
bool vector_function_named(struct slice name, enum vector_function *function);
bool vector_type_named(struct slice name, enum vector_type *type);
