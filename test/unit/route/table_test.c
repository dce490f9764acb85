/* test/unit/route/table_test.c - the routes as a table: no two alike, each reachable. */
#include "route/path.h"
#include "route/table.h"
#include "test.h"

TEST(no_two_rows_have_the_same_method_marker_and_shape)
{
    for (size_t i = 0; i < route_count; i++)
        for (size_t k = 0; k < i; k++)
            if (routes[i].method == routes[k].method && routes[i].marker == routes[k].marker &&
                strcmp(routes[i].shape, routes[k].shape) == 0)
                test_failed(__FILE__, __LINE__, routes[i].name);
}

TEST(no_two_rows_have_the_same_name)
{
    for (size_t i = 0; i < route_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(routes[i].name, routes[k].name) == 0)
                test_failed(__FILE__, __LINE__, routes[i].name);
}

TEST(every_row_is_found_by_a_path_of_its_shape)
{
    for (size_t i = 0; i < route_count; i++) {
        struct path path;
        bool known;

        if (path_parse(test_op(), slice_of(routes[i].shape), &path) != ST_OK ||
            !slice_is(path.shape, routes[i].shape) ||
            route_find(routes[i].method, routes[i].marker, path.shape, &known) != &routes[i] || !known)
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
}

static bool writes_one_item(const struct route *route)
{
    return route->flags & OF_ITEMS && (route->marker == MARK_NONE || route->marker == MARK_UPSERT);
}

static bool is_query(const struct route *route)
{
    return route->flags & OF_ITEMS && (route->marker == MARK_QUERY || route->marker == MARK_PLAN);
}

TEST(only_a_post_has_a_marker_and_only_what_reads_or_writes_one_item_and_queries_run_on_a_loop_thread)
{
    for (size_t i = 0; i < route_count; i++) {
        if (routes[i].marker != MARK_NONE && routes[i].method != METHOD_POST)
            test_failed(__FILE__, __LINE__, routes[i].name);
        if (routes[i].flags & RUN_INLINE &&
            !(routes[i].method == METHOD_GET || routes[i].method == METHOD_HEAD ||
              writes_one_item(&routes[i]) || is_query(&routes[i])))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
}

TEST(queries_plans_and_read_transactions_read_and_every_other_post_put_patch_and_delete_writes)
{
    for (size_t i = 0; i < route_count; i++) {
        bool asks =
            routes[i].marker == MARK_QUERY || routes[i].marker == MARK_PLAN || routes[i].marker == MARK_READ;
        bool gets = routes[i].method == METHOD_GET || routes[i].method == METHOD_HEAD;

        if (route_writes(&routes[i]) != (!gets && !asks))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
}

TEST(a_known_path_with_another_method_is_told_apart_from_an_unknown_path)
{
    bool known;

    CHECK(!route_find(METHOD_PUT, MARK_NONE, slice_of("dbs"), &known) && known);
    CHECK(!route_find(METHOD_GET, MARK_NONE, slice_of("nothing"), &known) && !known);
    CHECK(!route_find(METHOD_GET, MARK_NONE, slice_of("dbs/x/colls/x/docs/x/y"), &known) && !known);
}

/* Otherwise writes would wait behind queries. */
TEST(nothing_that_writes_is_slow_but_scripts_and_every_query_is)
{
    struct request request = { 0 };

    for (size_t i = 0; i < route_count; i++) {
        enum exchange_class class = route_class(&routes[i], &request);

        CHECK(!route_writes(&routes[i]) || class == CLASS_QUICK || routes[i].flags & RUNS_SCRIPTS);
        CHECK(class == CLASS_SCANS || (routes[i].marker != MARK_QUERY && routes[i].marker != MARK_PLAN));
    }
}

TEST(a_write_that_names_a_trigger_is_a_script)
{
    struct request request = { .header[HEADER_POST_TRIGGER] = slice_of("t") };
    bool known;
    const struct route *create = route_find(METHOD_POST, MARK_NONE, slice_of("dbs/x/colls/x/docs"), &known);

    CHECK(route_class(create, &request) == CLASS_SCRIPTS);
}
