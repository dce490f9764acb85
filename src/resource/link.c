/* src/resource/link.c - reads links of databases and of containers. */
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
