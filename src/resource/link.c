/* src/resource/link.c - reads links of databases and of containers. */
#include <assert.h>

#include "resource/link.h"

/* Up to the next slash, which is left out. */
static struct slice take_segment(struct slice *rest)
{
    const char *slash = rest->size ? memchr(rest->data, '/', rest->size) : NULL;
    struct slice taken = *rest;

    if (slash)
        taken.size = (size_t)(slash - taken.data);
    *rest = slice_after(*rest, taken.size + (slash != NULL));
    return taken;
}

bool link_read(struct json value, struct link *link)
{
    struct slice rest, dbs, colls;

    if (json_kind(value) != JSON_STRING)
        return false;
    rest = json_string(value);
    if (slice_starts_with(rest, "/"))
        rest = slice_after(rest, 1);
    dbs = take_segment(&rest);
    link->database = take_segment(&rest);
    colls = take_segment(&rest);
    link->container = take_segment(&rest);
    if (!slice_is(dbs, "dbs") || link->database.size == 0 || rest.size)
        return false;
    return colls.size == 0 ? link->container.size == 0 : slice_is(colls, "colls") && link->container.size > 0;
}

enum status link_find_named(struct op *op, struct catalog *catalog, struct slice database_name,
                            struct slice name, struct container **container)
{
    struct database *database = NULL;
    enum status st;

    assert(!*container);
    TRY(catalog_catch_up(op, catalog));
    database = catalog_find_database(catalog, database_name);
    if (database)
        *container = catalog_find_container(catalog, database, name);
    if (!*container)
        st = op_fail_as(op, ST_NOT_FOUND);
out:
    database_release(database);
    return st;
}

enum status link_find(struct op *op, struct catalog *catalog, struct json wanted, const char *member,
                      struct container **container)
{
    struct link link;

    if (!link_read(json_get(wanted, member), &link) || link.container.size == 0)
        return op_fail(op, ST_BAD_REQUEST, "\"%s\" must be the container's link: dbs/x/colls/y.", member);
    return link_find_named(op, catalog, link.database, link.container, container);
}

static bool is_one_of(struct slice name, const char *const *names)
{
    for (; *names; names++)
        if (slice_is(name, *names))
            return true;
    return false;
}

enum status link_check_names(struct op *op, struct json wanted, const char *const *names)
{
    for (struct json_iter i = json_iter(wanted); json_next(&i);)
        if (!is_one_of(i.name, names))
            return op_fail(op, ST_BAD_REQUEST, "There is no \"%.*s\" to be wished for.",
                           i.name.size > 100 ? 100 : (int)i.name.size, i.name.data);
    return ST_OK;
}
