/* test/unit/query/run/index_test.c - queries through an index: the same rows, pages and order as by a scan. */
#include <stdlib.h>

#include "keys/epk.h"
#include "query/plan/cost.h"
#include "query/plan/numbers.h"
#include "shelf.h"

static const char policy[] = "{'indexingMode':'consistent','automatic':true,'includedPaths':[{'path':'/*'}],"
                             "'excludedPaths':[{'path':'/hidden/?'}],'spatialIndexes':[{'path':'/loc/"
                             "*','types':['Point']}],'compositeIndexes':["
                             "[{'path':'/s','order':'ascending'},{'path':'/a','order':'descending'}],"
                             "[{'path':'/b','order':'descending'},{'path':'/s','order':'ascending'}],"
                             "[{'path':'/a','order':'ascending'},{'path':'/"
                             "mixed','order':'ascending'},{'path':'/b','order':'ascending'}]]}";

static const char *const queries[] = {
    /* filters */
    "SELECT * FROM c WHERE c.a = 3",
    "SELECT VALUE c.id FROM c WHERE c.a = 3 AND c.s = 'x5'",
    "SELECT VALUE c.id FROM c WHERE c.a = 3 OR c.s = 'x5' OR c.hidden = 1",
    "SELECT VALUE c.id FROM c WHERE c.a IN (1, 4, 'x') AND c.b > 20",
    "SELECT VALUE c.id FROM c WHERE c.b BETWEEN 10 AND 30.5",
    "SELECT VALUE c.id FROM c WHERE NOT (c.b < 50) AND c.mixed != 7",
    "SELECT VALUE c.id FROM c WHERE c.mixed = 9007199254740993",
    "SELECT VALUE c.id FROM c WHERE c.mixed = [1] OR c.mixed = {'x':2}",
    "SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.mixed) AND NOT IS_NUMBER(c.mixed)",
    "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.s, 'x') AND c.s LIKE 'x1%'",
    "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.long, '0') AND c.long > 'a' OR c.long != '1'",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.list, 2)",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS([1, 2], c.a)",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.objects, {'k':1}, true)",
    "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE o FROM o IN c.objects WHERE o.k = 1 AND o.v = 2)",
    "SELECT c.id, o FROM c JOIN o IN c.objects WHERE o.k = 1 AND o.v > 1",
    "SELECT c.id, t, u FROM c JOIN t IN c.list JOIN u IN c.list WHERE t = 1 AND u = 2",
    "SELECT VALUE c.id FROM c WHERE c.list[0] = 1",
    "SELECT VALUE c.id FROM c WHERE c.flag",
    "SELECT VALUE c.id FROM c WHERE NOT c.flag",
    "SELECT VALUE x.id FROM (SELECT * FROM c WHERE c.a = 2) AS x",
    "SELECT VALUE x.id FROM (SELECT * FROM c WHERE c.a = 2) AS x WHERE x.b > 20",
    "SELECT * FROM (SELECT * FROM (SELECT VALUE c FROM c) AS x) AS y WHERE y.a = 2",
    "SELECT * FROM (SELECT c.a AS k, c.id FROM c) AS x WHERE x.k = 2 AND x.id > '1'",
    "SELECT x FROM c JOIN (SELECT VALUE o FROM o IN c.objects) AS x WHERE x.k = 1 AND x.v > 1",
    "SELECT VALUE c.id FROM c WHERE ST_DISTANCE(c.loc, {'type':'Point','coordinates':[2, 3]}) < 200000",
    "SELECT VALUE c.id FROM c WHERE 300000 >= ST_DISTANCE({'type':'Point','coordinates':[179, 3]}, c.loc)",
    "SELECT VALUE c.id FROM c WHERE ST_DISTANCE(c.loc, {'type':'Point','coordinates':[2, 3]}) > 200000",
    "SELECT VALUE c.id FROM c WHERE ST_WITHIN(c.loc, {'type':'Polygon','coordinates':"
    "[[[0, 0], [3, 0], [3, 3], [0, 3], [0, 0]]]})",
    "SELECT VALUE c.id FROM c WHERE NOT ST_INTERSECTS(c.loc, {'type':'Polygon','coordinates':"
    "[[[0, 0], [3, 0], [3, 3], [0, 3], [0, 0]]]})",
    /* what composite indexes have of a filter */
    "SELECT VALUE c.id FROM c WHERE c.s = 'x3' AND c.a > 1 AND c.a <= 4",
    "SELECT VALUE c.id FROM c WHERE c.s = 'x3' AND c.a = 2 AND LOWER(c.s) = 'x3'",
    "SELECT VALUE c.id FROM c WHERE LOWER(c.s) != 'x4' AND c.a = 2 AND c.mixed = [1] AND c.b < 50",
    "SELECT VALUE c.id FROM c WHERE c.a = 2 AND c.mixed = {'x':2}",
    "SELECT VALUE c.id FROM c WHERE c.a = 2 AND STARTSWITH(c.mixed, 'a')",
    "SELECT VALUE c.id FROM c WHERE c.a = 2 AND NOT IS_DEFINED(c.mixed)",
    "SELECT VALUE c.id FROM c WHERE c.a = 1 AND c.mixed = 7 OR c.s = 'x1' AND c.a < 2 OR c.flag",
    "SELECT VALUE c.id FROM c WHERE c.b = 30.5 AND c.s >= 'x3' AND ARRAY_CONTAINS(c.list, 2)",
    "SELECT VALUE c.id FROM c WHERE c.s = 'x3' AND c.a > 4 AND c.a < 2",
    "SELECT VALUE COUNT(1) FROM c WHERE c.s = 'x3' AND c.a >= 1 AND c.a < 4",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 2 AND c.mixed = 7 AND c.b > 10",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 2 AND c.mixed = 7 AND c.flag",
    "SELECT VALUE COUNT(1) FROM c WHERE c.s = 'x3' AND c.a = 2 AND c.s = 'x4'",
    "SELECT VALUE COUNT(1) FROM c WHERE c.s = 'x3' AND c.a = 2 AND c.a = 3 OR c.flag",
    /* order */
    "SELECT c.id FROM c ORDER BY c.a",
    "SELECT c.id, c.a FROM c ORDER BY c.a DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.b",
    "SELECT VALUE c.id FROM c WHERE c.b > 30 AND c.b <= 70 ORDER BY c.b DESC",
    "SELECT VALUE c.id FROM c WHERE c.a = 3 ORDER BY c.b",
    "SELECT * FROM c ORDER BY c.mixed",
    "SELECT VALUE c.mixed FROM c ORDER BY c.mixed DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.long",
    "SELECT VALUE c.id FROM c ORDER BY c.long DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.s, c.a DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.s DESC, c.a",
    "SELECT VALUE c.id FROM c ORDER BY c.b DESC, c.s",
    "SELECT VALUE c.id FROM c ORDER BY c.b, c.s DESC",
    "SELECT VALUE c.id FROM c WHERE c.s = 'x3' ORDER BY c.a",
    "SELECT VALUE c.id FROM c WHERE c.s = 'x3' ORDER BY c.a DESC",
    "SELECT VALUE c.id FROM c WHERE c.a = 2 AND c.mixed = 7 ORDER BY c.b",
    "SELECT VALUE c.id FROM c WHERE c.a = 2 AND c.mixed > 0 ORDER BY c.mixed, c.b",
    "SELECT VALUE t FROM c JOIN t IN c.list ORDER BY c.b",
    "SELECT VALUE t FROM c JOIN t IN c.list ORDER BY c.a DESC",
    "SELECT VALUE x.id FROM (SELECT * FROM c) AS x ORDER BY x.a",
    "SELECT * FROM (SELECT * FROM (SELECT * FROM c WHERE c.a > 1) AS x) AS y WHERE y.a < 4 ORDER BY y.b DESC",
    "SELECT * FROM (SELECT * FROM c WHERE c.s = 'x3') AS x ORDER BY x.a DESC",
    "SELECT VALUE x.k FROM (SELECT c.mixed AS k FROM c) AS x ORDER BY x.k",
    "SELECT c.id FROM c ORDER BY c.a OFFSET 7 LIMIT 20",
    "SELECT TOP 12 VALUE c.id FROM c ORDER BY c.b DESC",
    "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s",
    /* gathered */
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 3",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 3 AND c.s = 'x5'",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a = 3 OR c.a > 3 OR c.s = 'x5'",
    "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.list, 2) OR c.a = 1",
    "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t = 1)",
    "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE c.a = 1)",
    "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE o FROM o IN c.objects WHERE o.k = 1 AND o.v = 2)",
    "SELECT VALUE COUNT(1) FROM (SELECT * FROM c) AS x",
    "SELECT VALUE COUNT(1) FROM (SELECT * FROM c WHERE c.a = 3) AS x WHERE x.b > 20",
    "SELECT VALUE COUNT(1) FROM (SELECT * FROM (SELECT * FROM c WHERE c.b > 20) AS x) AS y",
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT * FROM c WHERE c.a = 3) AS x",
    "SELECT VALUE COUNT(1) FROM (SELECT c.a FROM c) AS x",
    "SELECT VALUE COUNT(1) FROM (SELECT VALUE c.mixed FROM c) AS x",
    "SELECT VALUE COUNT(1) FROM c WHERE c.a != 3",
    "SELECT VALUE COUNT(1) FROM c WHERE c.long != '1' AND c.mixed != [1]",
    "SELECT VALUE COUNT(c.a) FROM c",
    "SELECT COUNT(1) AS n, COUNT(c.mixed) AS m FROM c WHERE NOT IS_STRING(c.mixed)",
    "SELECT SUM(c.b) AS total, AVG(c.b) AS mean, COUNT(c.b) AS n FROM c",
    "SELECT SUM(c.f) AS total, AVG(c.f) AS mean FROM c WHERE c.f > 0.05",
    "SELECT MIN(c.b) AS low, MAX(c.b) AS high FROM c",
    "SELECT MIN(c.mixed) AS low, MAX(c.mixed) AS high FROM c WHERE IS_PRIMITIVE(c.mixed)",
    "SELECT VALUE MAX(c.mixed) FROM c",
    "SELECT VALUE MIN(c.long) FROM c",
    "SELECT VALUE MAX(c.b) FROM c WHERE c.b % 2 < 1",
    "SELECT VALUE MIN(c.nowhere) FROM c",
    "SELECT DISTINCT VALUE c.s FROM c",
    "SELECT DISTINCT c.a FROM c",
    "SELECT DISTINCT VALUE c.mixed FROM c",
    "SELECT DISTINCT VALUE c.long FROM c",
    "SELECT c.s, COUNT(1) AS n FROM c GROUP BY c.s",
    "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a",
    "SELECT c.a, SUM(c.a) AS n FROM c WHERE c.a > 1 GROUP BY c.a OFFSET 1 LIMIT 3",
    "SELECT VALUE COUNT(1) FROM c GROUP BY c.mixed",
    "SELECT SUBSTRING(c.s, 1, 1) AS d, COUNT(1) AS n FROM c GROUP BY SUBSTRING(c.s, 1, 1)",
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.s FROM c)",
};

static const char *const mixed[] = { "null", "true",      "false",           "7", "-1.5", "\"a\"",
                                     "[1]",  "{\"x\":2}", "9007199254740993" };

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct query_row *)a)->number, y = ((const struct query_row *)b)->number;

    return x < y ? -1 : x > y;
}

/* Few values each, so that there are ties; some lack a property; strings that differ only past where terms end. */
static void fill(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->table.count; i++) {
        struct query_row *row = &shelf->table.row[i];
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"id\":\"%zu\"", i);
        if (test_random() % 8)
            buf_printf(&text, ",\"a\":%d", (int)(test_random() % 6));
        buf_printf(&text, ",\"b\":%d.5,\"f\":0.%d,\"s\":\"x%d\",\"list\":[", (int)(test_random() % 100),
                   (int)(test_random() % 1000), (int)(test_random() % 9));
        for (int n = (int)(test_random() % 4), k = 0; k < n; k++)
            buf_printf(&text, "%s%d", k ? "," : "", (int)(test_random() % 5));
        buf_printf(&text, "],\"objects\":[{\"k\":%d,\"v\":1},{\"k\":1,\"v\":%d}]", (int)(test_random() % 3),
                   (int)(test_random() % 4));
        if (test_random() % 3)
            buf_printf(&text, ",\"long\":\"%0700d%d\"", 0, (int)(test_random() % 4));
        else
            buf_printf(&text, ",\"long\":\"%d\"", (int)(test_random() % 4));
        if (test_random() % 5)
            buf_printf(&text, ",\"mixed\":%s", mixed[test_random() % 9]);
        buf_printf(&text, ",\"loc\":{\"type\":\"Point\",\"coordinates\":[%d.%d,%d]}",
                   test_random() % 9 ? (int)(test_random() % 5) : 179, (int)(test_random() % 10),
                   (int)(test_random() % 5));
        buf_printf(&text, ",\"flag\":%s,\"hidden\":%d}", test_random() % 2 ? "true" : "false",
                   (int)(test_random() % 3));
        row->counter = i + 1;
        row->number = number_make((uint32_t)(test_random() % 7), row->counter);
        CHECK(json_parse(test_op(), buf_as_slice(&text), &row->body) == ST_OK);
    }
    qsort(shelf->table.row, shelf->table.count, sizeof(struct query_row), by_number);
    shelf_index(shelf);
}

static const size_t page_rows[] = { 1, 3, 7, 20, 59, SIZE_MAX };

static void same_by_index(struct shelf *shelf, const char *text)
{
    struct query *by_scan = shelf_compile(text, QUERY_BY_SCAN),
                 *by_index = shelf_compile(text, QUERY_BY_INDEX);

    for (size_t i = 0; i < sizeof(page_rows) / sizeof(page_rows[0]); i++) {
        size_t bytes = i % 2 ? 300 : SIZE_MAX;
        struct slice scanned = shelf_pages(shelf, by_scan, page_rows[i], bytes);
        struct slice found = shelf_pages(shelf, by_index, page_rows[i], bytes);

        if (!slice_equal(scanned, found)) {
            fprintf(stderr, "pages of %zd\nby scan\n%.*sby index\n%.*s", (ssize_t)page_rows[i],
                    SLICE_ARGS(scanned), SLICE_ARGS(found));
            test_failed(__FILE__, __LINE__, text);
            return;
        }
    }
}

TEST(an_index_changes_neither_rows_nor_pages)
{
    struct shelf shelf;

    for (size_t round = 0; round < 3; round++) {
        shelf_open(&shelf, policy, 5 + 60 * round);
        fill(&shelf);
        for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
            same_by_index(&shelf, queries[i]);
        shelf_close(&shelf);
    }
}

/* A term of arrays has a hash, so that its items are picked by numbers that lie in the cursor. */
TEST(looking_from_the_other_end_leaves_no_items_of_the_first_to_pick)
{
    struct shelf shelf;

    shelf_open(&shelf, policy, 4);
    for (size_t i = 0; i < shelf.table.count; i++) {
        struct query_row *row = &shelf.table.row[i];

        row->number = row->counter = i + 1;
        CHECK(json_parse(test_op(), slice_of("{\"mixed\":[1]}"), &row->body) == ST_OK);
    }
    shelf_index(&shelf);
    same_by_index(&shelf, "SELECT VALUE MIN(c.mixed) FROM c");
    same_by_index(&shelf, "SELECT MAX(c.mixed) AS most FROM c WHERE IS_ARRAY(c.mixed)");
    shelf_close(&shelf);
}

/* How many items a query looks at, one after another or by their numbers. */
TEST(items_that_were_left_out_of_the_index_are_found_nevertheless)
{
    struct shelf shelf;

    shelf_open(&shelf, policy, 65);
    shelf.left_out_every = 9;
    fill(&shelf);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        same_by_index(&shelf, queries[i]);
    shelf_close(&shelf);
}

static size_t items_read(struct shelf *shelf, const char *text, enum query_way way)
{
    shelf->table.reads = shelf->picked = 0;
    shelf_pages(shelf, shelf_compile(text, way), 10, SIZE_MAX);
    return shelf->table.reads + shelf->picked;
}

TEST(a_query_that_the_index_knows_reads_few_items)
{
    struct shelf shelf;

    shelf_open(&shelf, policy, 2000);
    fill(&shelf);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = '7'", QUERY_BY_COST) == 1);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = '7' AND c.b > 0", QUERY_BY_COST) == 1);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id IN ('7', '9', 'x')", QUERY_BY_COST) == 2);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = 'none'", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT TOP 5 * FROM c ORDER BY c.id", QUERY_BY_COST) < 50);
    CHECK(
        items_read(&shelf,
                   "SELECT * FROM c WHERE ST_DISTANCE(c.loc, {'type':'Point','coordinates':[40, 40]}) < 1000",
                   QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT VALUE COUNT(1) FROM c", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT VALUE COUNT(1) FROM c WHERE c.a = 3", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT * FROM (SELECT * FROM c) AS s WHERE s.id = '7'", QUERY_BY_COST) == 1);
    CHECK(items_read(&shelf, "SELECT TOP 5 * FROM (SELECT * FROM c WHERE c.b > 0) AS s ORDER BY s.id",
                     QUERY_BY_COST) < 50);
    CHECK(items_read(&shelf, "SELECT VALUE COUNT(1) FROM (SELECT * FROM c WHERE c.a = 3) AS s",
                     QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT MAX(c.b), MIN(c.b) FROM c", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT SUM(c.b) FROM c WHERE c.b > 3", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT c.s, COUNT(1) FROM c GROUP BY c.s", QUERY_BY_COST) == 0);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = '7'", QUERY_BY_SCAN) > 2000);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.hidden = 1", QUERY_BY_COST) > 2000);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.flag", QUERY_BY_COST) > 1000);
    shelf_close(&shelf);
}

static uint64_t entries_read(struct shelf *shelf, const char *text)
{
    uint64_t before = test_op()->work.entries_read;

    shelf_pages(shelf, shelf_compile(text, QUERY_BY_INDEX), SIZE_MAX, SIZE_MAX);
    return test_op()->work.entries_read - before;
}

/* Two paths by their own entries would be at least as many as the first has. */
TEST(of_a_filter_that_a_composite_index_has_few_entries_are_read)
{
    struct shelf shelf;
    uint64_t alone, together;

    shelf_open(&shelf, policy, 2000);
    fill(&shelf);
    alone = entries_read(&shelf, "SELECT * FROM c WHERE c.s = 'x3'");
    together = entries_read(&shelf, "SELECT * FROM c WHERE c.s = 'x3' AND c.a > 2 AND c.a < 5");
    CHECK(together > 0 && together < alone);
    CHECK(entries_read(&shelf, "SELECT * FROM c WHERE c.a > 2 AND c.s = 'x3' AND c.a < 5") == together);
    CHECK(entries_read(&shelf,
                       "SELECT * FROM c WHERE c.s = 'x3' AND LOWER(c.s) = 'x3' AND c.a > 2 AND c.a < 5") ==
          together);
    CHECK(entries_read(&shelf, "SELECT VALUE COUNT(1) FROM c WHERE c.s = 'x3' AND c.a > 2 AND c.a < 5") <
          alone);
    shelf_close(&shelf);
}

TEST(of_items_left_out_of_the_index_a_query_reads_them_all_and_of_others_few)
{
    struct shelf shelf;

    shelf_open(&shelf, policy, 2000);
    shelf.left_out_every = 100;
    fill(&shelf);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = '7'", QUERY_BY_COST) <= 25);
    CHECK(items_read(&shelf, "SELECT * FROM c WHERE c.id = 'nobody'", QUERY_BY_COST) >= 20);
    shelf_close(&shelf);
}

/* All numbers of a filter, gathered so many at a time. */
static struct slice numbers_of(struct shelf *shelf, const char *filter, size_t room)
{
    struct planner planner = { .op = test_op(), .index = &shelf->index };
    struct numbers numbers = { 0 };
    struct access *access;
    struct cost cost;
    struct buf text;

    planner.key = access_of_key(&planner);
    access = access_of_select(&planner, query_select(shelf_compile(filter, QUERY_BY_INDEX)));
    CHECK(cost_access(&planner, access, (double)shelf->table.count, &cost) == ST_OK);
    buf_init(&text, &test_op()->arena);
    do {
        if (numbers_gather(&planner, &test_op()->arena, access, numbers.end, room, &numbers) != ST_OK) {
            test_failed(__FILE__, __LINE__, filter);
            break;
        }
        CHECK(numbers.count <= room);
        for (size_t i = 0; i < numbers.count; i++)
            buf_printf(&text, "%llu\n", (unsigned long long)numbers.number[i]);
    } while (numbers.end != numbers_end);
    return buf_as_slice(&text);
}

TEST(numbers_come_in_order_however_many_there_is_room_for)
{
    static const char *const filters[] = {
        "SELECT * FROM c WHERE c.a = 3",
        "SELECT * FROM c WHERE c.b > 20",
        "SELECT * FROM c WHERE c.a = 3 AND c.s = 'x5' AND c.b < 90",
        "SELECT * FROM c WHERE c.a = 3 OR c.s = 'x5' OR c.b < 10",
        "SELECT * FROM c WHERE (c.a = 3 OR c.s = 'x5') AND (c.b > 50 OR c.flag) OR c.a = 1 AND c.s = 'x1'",
        "SELECT * FROM c WHERE ARRAY_CONTAINS(c.list, 1) AND IS_DEFINED(c.mixed)",
        "SELECT * FROM c WHERE c.a = 7",
    };
    struct shelf shelf;

    shelf_open(&shelf, policy, 700);
    fill(&shelf);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct slice whole = numbers_of(&shelf, filters[i], 100000);

        for (size_t room = 1; room < 400; room = 3 * room + 1)
            if (!slice_equal(numbers_of(&shelf, filters[i], room), whole))
                test_failed(__FILE__, __LINE__, filters[i]);
    }
    shelf_close(&shelf);
}
