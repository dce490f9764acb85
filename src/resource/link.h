/* src/resource/link.h - links as operators write them: dbs/x and dbs/x/colls/y, by names or by rids. */
#pragma once
#include "base/op.h"
#include "catalog/catalog.h"
#include "json/json.h"

struct link {
    struct slice database;
    struct slice container; /* empty: the link is a database's */
};

/* False when the value is no such link. The slices point into it. */
bool link_read(struct json value, struct link *link);

/* The container whose link is that member of what is wished for; a reference. ST_BAD_REQUEST, ST_NOT_FOUND. */
enum status link_find(struct op *op, struct catalog *catalog, struct json wanted, const char *member,
                      struct container **container);
enum status link_find_named(struct op *op, struct catalog *catalog, struct slice database_name,
                            struct slice name, struct container **container);

/* A misspelled member would be ignored, and the request mean something else. `names` ends with NULL. */
enum status link_check_names(struct op *op, struct json wanted, const char *const *names);
