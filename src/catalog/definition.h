/*
 * src/catalog/definition.h - a container's properties: checked, defaulted, and in the order in
 * which the service echoes them. Refusals have the service's words where these are known.
 */
#pragma once
#include "catalog/catalog.h"

struct define_options {
    bool
        is_old; /* clients of API versions before 2018-12-31 may leave partitionKey out; see indexing.h, too */
    struct json old; /* the definition that is to be replaced; absent for a new container */
};

/* Makes the full definition of a client's body. ST_BAD_REQUEST tells what is wrong with the body. */
enum status container_define(struct op *op, struct json body, struct define_options options,
                             struct json *definition);

/* Refuses a replacement that changes what existing items depend on, such as the partition key. */
enum status container_check_replace(struct op *op, struct json old, struct json definition);

/* Each reads one part of the definition into the container's fields. */
void container_read_key(struct container *container);
void container_read_ttl(struct container *container);
void container_read_retention(struct container *container);
void container_read_unique_keys(struct container *container);

bool definition_has_unique_keys(struct json definition);
bool definition_has_system_key(struct json definition); /* made without a partition key */

/* A container's defaultTtl or an item's ttl: seconds above 0, or -1 for never. */
enum status ttl_check(struct op *op, struct json ttl);

/* Ids of databases, containers and scripts. */
enum status resource_id_check(struct op *op, struct json id);

/* A space outside quotes: a new container may not have it in the path of its key. */
bool key_path_has_bare_space(struct slice path);

/* Takes /a/"b c"/d or /a/'b c'/d apart into segments that point into `path`. False when it is malformed, or has a wildcard. */
bool key_path_parse(struct slice path, struct key_path *parsed);
