/*
 * examples/timeseries.c - readings by time: the last month in a fast collection, all that is older in a slow one.
 *     cc examples/timeseries.c $(pkg-config --cflags --libs orrery) -o timeseries && ./timeseries http://localhost:8081 KEY
 */
#include "example.h"

#define DAY_MS (24 * 60 * 60 * INT64_C(1000))

static const char fast[] = "dbs/plant/colls/fast", slow[] = "dbs/plant/colls/slow";
static const int64_t may_2015 = INT64_C(1430438400000); /* 2015-05-01T00:00:00Z */

/* The fast one may do ten times as much in a second. */
static void make_collections(void)
{
    orrery_container container = { .size = sizeof(container), .partition_key = { "/sensor" } };
    orrery_options much = { .size = sizeof(much), .throughput = 4000 },
                   little = { .size = sizeof(little), .throughput = 400 };

    orrery_delete(client, "dbs/plant", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "plant", NULL, NULL));
    container.id = "fast";
    must(orrery_container_create(client, "dbs/plant", &container, &much, NULL));
    container.id = "slow";
    must(orrery_container_create(client, "dbs/plant", &container, &little, NULL));
}

/* Documents say when they were measured as text; ranges have times, both ends included. */
static void register_ranges(int64_t month_begins_ms)
{
    orrery_extractor by_time = { .size = sizeof(by_time), .property = "measured", .as = ORRERY_KEY_TIME };
    orrery_range ranges[] = {
        { orrery_key_time(month_begins_ms), orrery_key_time(month_begins_ms + 31 * DAY_MS - 1), fast },
        { orrery_key_time(0), orrery_key_time(month_begins_ms - 1), slow },
    };
    orrery_resolver *resolver = NULL;

    must(orrery_resolver_range(&by_time, ranges, 2, NULL, &resolver));
    must(orrery_client_set_resolver(client, "dbs/plant", resolver));
    orrery_resolver_unref(resolver);
}

static void add_reading(int number, const char *measured, double degrees)
{
    char json[160];

    snprintf(json, sizeof(json), "{\"id\":\"%d\",\"sensor\":\"boiler\",\"measured\":\"%s\",\"degrees\":%g}",
             number, measured, degrees);
    must(orrery_item_create(client, "dbs/plant", json, ORRERY_TEXT, NULL, NULL, NULL));
}

/* A key that is a range asks only the collections that have a part of it. */
static void print_readings(const char *what, int64_t from_ms, int64_t to_ms)
{
    orrery_key ends[] = { orrery_key_time(from_ms), orrery_key_time(to_ms) }, key = orrery_key_range(ends);
    orrery_query *query = NULL;
    orrery_status status;

    printf("%s:\n", what);
    must(orrery_query_open(client, "dbs/plant", "SELECT c.measured, c.degrees FROM c ORDER BY c.measured",
                           NULL, 0, &key, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        orrery_value row = orrery_query_value(query);

        printf("  %s %.1f from %s\n", orrery_value_text(orrery_value_member(row, "measured"), NULL),
               orrery_value_number(orrery_value_member(row, "degrees")), orrery_query_link(query));
    }
    must(status);
    orrery_query_close(query);
}

/* One figure over both collections. */
static void print_average(void)
{
    orrery_query *query = NULL;

    must(orrery_query_open(client, "dbs/plant", "SELECT VALUE AVG(c.degrees) FROM c", NULL, 0, NULL, NULL,
                           &query));
    if (orrery_query_step(query) == ORRERY_ROW)
        printf("on average: %s\n", orrery_query_row(query, NULL));
    orrery_query_close(query);
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_collections();
    register_ranges(may_2015);
    add_reading(1, "2015-03-09T08:00:00Z", 71);
    add_reading(2, "2015-04-30T23:59:59.999Z", 70);
    add_reading(3, "2015-05-01T02:00:00+02:00", 74); /* the first moment of May, UTC */
    add_reading(4, "2015-05-17T12:30:00Z", 77);
    print_readings("May", may_2015, may_2015 + 31 * DAY_MS - 1);
    print_readings("everything", 0, may_2015 + 31 * DAY_MS - 1);
    print_average();
    must(orrery_delete(client, "dbs/plant", NULL, NULL));
    orrery_close(client);
    return 0;
}
