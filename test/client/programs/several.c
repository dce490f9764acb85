/*
 * test/client/programs/several.c - a query over three collections answers what it answers over one that has everything.
 * usage: several ENDPOINT KEY, or DIRECTORY, or memory. Ends with "N passed, M failed".
 */
#include "../../../examples/example.h"

enum { DOCUMENTS = 240, ROWS_MAX = 2 * DOCUMENTS, COLLECTIONS = 3 };

static int passed, failed;
static const char foxes[] = "fox owl fox tree fox moss fox salt fox wind fox";

enum comparison { IN_ORDER, ANY_ORDER, COUNT_ONLY };

static const struct question {
    const char *sql;
    enum comparison comparison;
} questions[] = {
    { "SELECT c.id FROM c", ANY_ORDER },
    { "SELECT c.id, c.u FROM c WHERE c.u < 60", ANY_ORDER },
    { "SELECT c.id FROM c ORDER BY c.u", IN_ORDER },
    { "SELECT c.id FROM c ORDER BY c.u DESC", IN_ORDER },
    { "SELECT VALUE c.t FROM c WHERE c.u > 50 ORDER BY c.t", IN_ORDER },
    { "SELECT TOP 11 c.id FROM c ORDER BY c.u DESC", IN_ORDER },
    { "SELECT c.id FROM c ORDER BY c.u OFFSET 5 LIMIT 20", IN_ORDER },
    { "SELECT c.id FROM c WHERE c.u > 1000 ORDER BY c.u", IN_ORDER },
    { "SELECT TOP 7 c.id FROM c", COUNT_ONLY },
    { "SELECT c.id FROM c OFFSET 3 LIMIT 9", COUNT_ONLY },
    { "SELECT DISTINCT VALUE c.g FROM c", ANY_ORDER },
    { "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.g", IN_ORDER },
    { "SELECT TOP 30 c.id FROM c ORDER BY RANK VectorDistance(c.v, [1, 0])", IN_ORDER },
    { "SELECT c.id FROM c ORDER BY VectorDistance(c.v, [0, 1]) OFFSET 7 LIMIT 50", IN_ORDER },
    { "SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(VectorDistance(c.v, [1, 0]), FullTextScore(c.w, 'fox'), "
      "[5, 1])",
      IN_ORDER },
    { "SELECT VALUE COUNT(1) FROM c", IN_ORDER },
    { "SELECT VALUE SUM(c.u) FROM c", IN_ORDER },
    { "SELECT VALUE MIN(c.t) FROM c", IN_ORDER },
    { "SELECT VALUE MAX(c.u) FROM c WHERE c.g = 'b'", IN_ORDER },
    { "SELECT VALUE AVG(c.u) FROM c", IN_ORDER },
    { "SELECT COUNT(1) AS n, MAX(c.u) AS m FROM c", IN_ORDER },
    { "SELECT c.g, COUNT(1) AS n, SUM(c.u) AS s, AVG(c.u) AS a FROM c GROUP BY c.g", ANY_ORDER },
    { "SELECT VALUE COUNT(1) FROM c WHERE c.u > 1000", IN_ORDER },
    { "SELECT VALUE AVG(c.big) FROM c", IN_ORDER },
    { "SELECT VALUE SUM(c.u) + 1 FROM c", IN_ORDER },
    { "SELECT SUM(c.u) / COUNT(1) AS mean, COUNT(1), \"x\" AS x FROM c", IN_ORDER },
    { "SELECT MAX(c.u) - MIN(c.u), SUM(c.u)*2 total FROM c WHERE c.u < 100", IN_ORDER },
    { "SELECT VALUE { \"a\": SUM(c.u), \"b\": [AVG(c.u), MIN(c.t)] } FROM c", IN_ORDER },
    { "SELECT UPPER(MIN(c.t)) AS first, MIN(c.none) + 1 AS nothing FROM c", IN_ORDER },
    { "SELECT c.g, SUM(c.u) / COUNT(1) AS mean, AVG(c.u) FROM c GROUP BY c.g", ANY_ORDER },
    { "SELECT VALUE { \"k\": UPPER(c[\"g\"]), \"n\": COUNT(1) % 7 } FROM c GROUP BY c[\"g\"]", ANY_ORDER },
    { "SELECT c.g, COUNT(1) > 40 ? \"many\" : \"few\" AS how -- , COUNT(\n FROM c GROUP BY c.g -- all",
      ANY_ORDER },
};

/* Missing in every ninth document: what has no such property must count right as well. */
static void make_documents(void)
{
    for (int i = 0; i < DOCUMENTS; i++) {
        char json[256];
        int unique = i * 37 % DOCUMENTS;

        snprintf(json, sizeof(json),
                 "{\"id\":\"d%d\",\"u\":%d,\"big\":%lld,\"t\":\"%c%03d\",\"v\":[%d,%d],\"w\":\"%.*s\"%s%c%s}",
                 i, unique, 9007199254740993LL + unique, 'a' + unique % 26, unique, unique, DOCUMENTS,
                 unique % 40, foxes, i % 9 ? ",\"g\":\"" : ",\"h\":\"", "abcde"[i % 5], "\"");
        must(orrery_item_create(client, "dbs/several", json, ORRERY_TEXT, NULL, NULL, NULL));
        must(orrery_item_create(client, "dbs/several/colls/all", json, ORRERY_TEXT, NULL, NULL, NULL));
    }
}

static void make_collections(void)
{
    orrery_managed_options managed = { .size = sizeof(managed), .count = COLLECTIONS };
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_container all = { .size = sizeof(all), .id = "all", .partition_key = { "/id" } };
    orrery_resolver *resolver = NULL;

    orrery_delete(client, "dbs/several", NULL, NULL);
    must(orrery_database_create(client, "several", NULL, NULL));
    must(orrery_container_create(client, "dbs/several", &all, NULL, NULL));
    must(orrery_resolver_managed(client, "dbs/several", &by_id, &managed, &resolver));
    must(orrery_client_set_resolver(client, "dbs/several", resolver));
    orrery_resolver_unref(resolver);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows, each a text; how many. Counts how many collections they came from. */
static size_t ask(const char *link, const struct question *question, const orrery_options *options,
                  char **rows, size_t *links)
{
    orrery_query *query = NULL;
    orrery_status status;
    size_t count = 0;
    char seen[8][64] = { "" };

    *links = 0;
    must(orrery_query_open(client, link, question->sql, NULL, 0, NULL, options, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW && count < ROWS_MAX) {
        const char *from = orrery_query_link(query);
        size_t i = 0;

        rows[count++] = strdup(orrery_query_row(query, NULL));
        while (from && i < *links && strcmp(seen[i], from) != 0)
            i++;
        if (from && i == *links && i < 8)
            snprintf(seen[(*links)++], sizeof(seen[0]), "%s", from);
    }
    must(status);
    orrery_query_close(query);
    if (question->comparison == ANY_ORDER)
        qsort(rows, count, sizeof(*rows), by_text);
    return count;
}

static void compare(const struct question *question, int parallel, int page_items)
{
    orrery_options options = { .size = sizeof(options), .parallel = parallel, .page_items = page_items };
    char *one[ROWS_MAX], *many[ROWS_MAX];
    size_t links, count = ask("dbs/several/colls/all", question, NULL, one, &links);
    size_t other = ask("dbs/several", question, &options, many, &links);
    int is_same = count == other && (strcmp(question->sql, questions[0].sql) != 0 || links == COLLECTIONS);

    for (size_t i = 0; i < count && i < other && is_same && question->comparison != COUNT_ONLY; i++)
        is_same = strcmp(one[i], many[i]) == 0;
    for (size_t i = 0; i < count; i++)
        free(one[i]);
    for (size_t i = 0; i < other; i++)
        free(many[i]);
    if (is_same)
        passed++;
    else
        failed++;
    if (!is_same)
        printf("FAILED %s (parallel %d, pages of %d): %zu rows, %zu from one collection, %zu links\n",
               question->sql, parallel, page_items, other, count, links);
}

/* A list is one after another, each collection to its end. */
static void check_list(void)
{
    orrery_query *query = NULL;
    orrery_status status;
    int rows = 0, changes = 0;
    char last[64] = "";

    must(orrery_list_open(client, "dbs/several", NULL, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        rows++;
        changes += strcmp(last, orrery_query_link(query)) != 0;
        snprintf(last, sizeof(last), "%s", orrery_query_link(query));
    }
    must(status);
    orrery_query_close(query);
    if (rows == DOCUMENTS && changes == COLLECTIONS)
        passed++;
    else
        failed++;
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_collections();
    make_documents();
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        for (int parallel = 0; parallel <= 3; parallel += 3)
            for (int page_items = 0; page_items <= 7; page_items += 7)
                compare(&questions[i], parallel, page_items);
    check_list();
    must(orrery_delete(client, "dbs/several", NULL, NULL));
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
