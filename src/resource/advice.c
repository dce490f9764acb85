/* src/resource/advice.c - which containers advice is wanted of. */
#include "advise/advise.h"
#include "resource/advice.h"
#include "resource/link.h"

enum { CONTAINERS_MAX = 64 };

/* References in it are the caller's, to release. */
struct chosen {
    struct database *database;
    struct container *container[CONTAINERS_MAX];
    size_t count;
};

static enum status choose_all(struct op *op, struct catalog *catalog, struct chosen *chosen)
{
    struct container *more = NULL;
    struct slice after = { 0 };

    chosen->count =
        catalog_list_containers(catalog, chosen->database, after, chosen->container, CONTAINERS_MAX);
    if (chosen->count < CONTAINERS_MAX)
        return ST_OK;
    after = slice_make(chosen->container[CONTAINERS_MAX - 1]->rid.bytes,
                       chosen->container[CONTAINERS_MAX - 1]->rid.size);
    if (catalog_list_containers(catalog, chosen->database, after, &more, 1) == 0)
        return ST_OK;
    container_release(more);
    return op_fail(op, ST_BAD_REQUEST,
                   "The database has more than %d containers: ask for advice on one of them by its link.",
                   CONTAINERS_MAX);
}

static enum status choose(struct op *op, struct catalog *catalog, struct json value, struct chosen *chosen)
{
    struct link link;
    enum status st = catalog_catch_up(op, catalog);

    if (st != ST_OK)
        return st;
    if (!link_read(value, &link))
        return op_fail(op, ST_BAD_REQUEST, "\"of\" must be a link: dbs/x or dbs/x/colls/y.");
    chosen->database = catalog_find_database(catalog, link.database);
    if (!chosen->database)
        return op_fail_as(op, ST_NOT_FOUND);
    if (link.container.size == 0)
        return choose_all(op, catalog, chosen);
    chosen->container[0] = catalog_find_container(catalog, chosen->database, link.container);
    chosen->count = chosen->container[0] != NULL;
    return chosen->count ? ST_OK : op_fail_as(op, ST_NOT_FOUND);
}

enum status advice_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "of", "values", NULL };
    struct chosen chosen = { 0 };
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(choose(op, service->catalog, json_get(wanted, "of"), &chosen));
    TRY(advise(op,
               &(struct advise_options){ .container = chosen.container,
                                         .count = chosen.count,
                                         .workload = service->workload,
                                         .values = json_kind(json_get(wanted, "values")) == JSON_TRUE },
               answer));
out:
    for (size_t i = 0; i < chosen.count; i++)
        container_release(chosen.container[i]);
    database_release(chosen.database);
    return st;
}
