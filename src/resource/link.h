/* src/resource/link.h - links as operators write them: dbs/x and dbs/x/colls/y, by names or by rids. */
#pragma once
#include "json/json.h"

struct link {
    struct slice database;
    struct slice container; /* empty: the link is a database's */
};

/* False when the value is no such link. The slices point into it. */
bool link_read(struct json value, struct link *link);
