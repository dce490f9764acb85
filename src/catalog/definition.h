/*
 * src/catalog/definition.h - a container's properties: checked, defaulted, and in the order in
 * which the service echoes them. What is refused is refused with the service's words where known.
 */
#pragma once
#include "catalog/catalog.h"

struct define_options {
    bool key_required; /* clients of API versions before 2018-12-31 may leave partitionKey out */
    struct json old;   /* the definition that is to be replaced; absent for a new container */
};

/* A client's body to the full definition. ST_BAD_REQUEST tells what is wrong with it. */
enum status container_define(struct op *op, struct json body, struct define_options options,
                             struct json *definition);

/* Whether a container may be changed from one to the other: what its items were written by may not. */
enum status container_check_replace(struct op *op, struct json old, struct json definition);

/* Parts of the definition, taken apart into the container's fields. */
void container_read_key(struct container *container);
void container_read_ttl(struct container *container);
void container_read_retention(struct container *container);
void container_read_unique_keys(struct container *container);

bool definition_has_unique_keys(struct json definition);

/* A container's defaultTtl or an item's ttl: seconds above 0, or -1 for never. */
enum status ttl_check(struct op *op, struct json ttl);

/* Ids of databases, containers and scripts. */
enum status resource_id_check(struct op *op, struct json id);

/* /a/"b c"/d to its segments, which point into `path`; false when malformed, or has a wildcard. */
bool key_path_parse(struct slice path, struct key_path *parsed);
