/*
 * src/catalog/search_policy.h - what the policies for vectors and for full text may say, and the indexes that
 * rest on them. What is refused is refused with the service's words, as far as SDKs' own tests quote them.
 */
#pragma once
#include "json/json.h"

/* A container's vectorEmbeddingPolicy. */
enum status embedding_policy_check(struct op *op, struct json policy);

/* A container's fullTextPolicy. */
enum status full_text_policy_check(struct op *op, struct json policy);

/* The indexing policy's vectorIndexes: each of a path that the client's own body has an embedding for. */
enum status vector_indexes_check(struct op *op, struct json list, struct json body);

/* Its fullTextIndexes likewise. */
enum status full_text_indexes_check(struct op *op, struct json list, struct json body);
