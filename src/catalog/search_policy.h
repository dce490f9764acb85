/*
 * src/catalog/search_policy.h - what the policies for vectors and for full text may say, and the indexes that
 * rest on them. Refusals have the service's words, as far as the SDKs' own tests quote them.
 */
#pragma once
#include "json/json.h"

/* A container's vectorEmbeddingPolicy. */
enum status embedding_policy_check(struct op *op, struct json policy);

/* A container's fullTextPolicy. */
enum status full_text_policy_check(struct op *op, struct json policy);

/* The indexing policy's vectorIndexes. Each must name a path for which the client's body has an embedding. */
enum status vector_indexes_check(struct op *op, struct json list, struct json body);

/* The indexing policy's fullTextIndexes. Each must name a path of the body's fullTextPolicy. */
enum status full_text_indexes_check(struct op *op, struct json list, struct json body);
