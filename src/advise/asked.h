/*
 * src/advise/asked.h - the record of the workload as rules read it: what was asked of a container.
 * It is the JSON that workload_print() shows.
 */
#pragma once
#include "advise/rules.h"

/* Of a container that was looked at. The record is undefined where nothing was recorded. */
struct asked {
    const struct look *look;
    struct json record;
};

/* Of every container that has a record. */
typedef enum status asked_rule(struct op *op, const struct rule *rule, struct advice *advice,
                               const struct asked *asked);
enum status asked_each(struct op *op, const struct rule *rule, struct advice *advice, asked_rule *find);

struct asked asked_of(const struct advice *advice, const struct look *look);

/* The look of the container with that rid, as text; NULL: it was not looked at. */
const struct look *asked_look(struct op *op, const struct advice *advice, struct slice rid);

uint64_t asked_number(struct json object, const char *name); /* 0 where there is none */
double asked_charge(struct json object);
struct slice asked_text(struct json object, const char *name);
bool asked_is(struct json object, const char *name); /* true */

/* How often such operations were done, and what they cost. */
uint64_t asked_count(const struct asked *asked, const char *operation);
double asked_cost(const struct asked *asked, const char *operation);
uint64_t asked_writes(const struct asked *asked); /* create, upsert, replace, patch */
double asked_cost_of_all(const struct asked *asked);

/* Queries that were begun, and those of them that name the partition key. */
uint64_t asked_executed(const struct asked *asked);
uint64_t asked_single(const struct asked *asked);

struct json asked_queries(const struct asked *asked);

/* Whether the query uses the path so: "equal", "range", "order". */
bool asked_uses(struct json query, struct slice path, const char *use);

/* The first path that the query uses so, from a place on, which moves behind it; no data: none. */
struct slice asked_path(struct json query, const char *use, size_t *at);

/* What was seen at a path, in the type that has it most often; NULL: nothing. */
const struct node *asked_node(const struct look *look, struct slice path, const struct tree **tree);
