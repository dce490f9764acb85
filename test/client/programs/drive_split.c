/*
 * test/client/programs/drive_split.c - cursors, continuations and a bulk over a container whose ranges change meanwhile.
 * usage: drive_split ENDPOINT KEY. It prints "ready" when its cursors stand in the middle and goes on when it is sent a line,
 * "again" or "end"; "bulk" says that one is under way. Each of the container's numbers must come exactly once, in order where
 * the query says so. The last line is "N passed, M failed".
 */
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 400, BULK = 600, FIRST_ROWS = 7, PAGE = 11 };

static const char database[] = "dbs/split", items[] = "dbs/split/colls/items";
static orrery_client *client;
static int passed, failed;

static void check(int good, const char *what, const char *of)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED %s: %s  %s\n", of, what, orrery_error(client));
}

enum kind { QUERY, LIST, CHANGES };

struct row {
    enum kind kind;
    const char *sql;
    int parallel, first, last; /* the numbers that come */
    int is_ordered;
};

static const struct row rows[] = {
    { QUERY, "SELECT * FROM c", 0, 0, NUMBERS, 0 },
    { QUERY, "SELECT * FROM c", 2, 0, NUMBERS, 0 },
    { QUERY, "SELECT * FROM c ORDER BY c.n", 0, 0, NUMBERS, 1 },
    { QUERY, "SELECT * FROM c ORDER BY c.n", 1, 0, NUMBERS, 1 },
    { QUERY, "SELECT * FROM c ORDER BY c.n", 4, 0, NUMBERS, 1 },
    { QUERY, "SELECT TOP 100 * FROM c ORDER BY c.n", 2, 0, 100, 1 },
    { QUERY, "SELECT * FROM c ORDER BY c.n OFFSET 20 LIMIT 60", 2, 20, 80, 1 },
    { LIST, "a list", 0, 0, NUMBERS, 0 },
    { CHANGES, "changes", 0, 0, NUMBERS, 0 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

struct cursor {
    orrery_query *query;
    char *continuation;
    int seen[NUMBERS], last;
    int out_of_order;
};

static orrery_status open_cursor(const struct row *row, struct cursor *cursor)
{
    orrery_options options = { .size = sizeof(options),
                               .parallel = row->parallel,
                               .page_items = PAGE,
                               .continuation = cursor->continuation };

    if (row->kind == CHANGES)
        return orrery_changes_open(client, items, NULL, ORRERY_FROM_BEGINNING, 0, &options, &cursor->query);
    if (row->kind == LIST)
        return orrery_list_open(client, items, NULL, &options, &cursor->query);
    return orrery_query_open(client, items, row->sql, NULL, 0, NULL, &options, &cursor->query);
}

static orrery_status take(struct cursor *cursor, int count)
{
    orrery_status status = ORRERY_ROW;

    for (int i = 0; i != count && (status = orrery_query_step(cursor->query)) == ORRERY_ROW; i++) {
        int n = (int)orrery_value_int(orrery_value_member(orrery_query_value(cursor->query), "n"));

        if (n >= 0 && n < NUMBERS)
            cursor->seen[n]++;
        cursor->out_of_order += n < cursor->last;
        cursor->last = n;
    }
    return status;
}

static void check_seen(const struct row *row, const struct cursor *cursor)
{
    int missing = 0, twice = 0;
    char text[80];

    for (int n = 0; n < NUMBERS; n++) {
        int wanted = n >= row->first && n < row->last;

        missing += cursor->seen[n] < wanted;
        twice += cursor->seen[n] > wanted;
    }
    snprintf(text, sizeof(text), "%d missing, %d too many", missing, twice);
    check(!missing && !twice, text, row->sql);
    check(!row->is_ordered || !cursor->out_of_order, "in order", row->sql);
}

/* Every second cursor is closed and opened again from where it stood. */
static void begin(const struct row *row, struct cursor *cursor, int is_closed)
{
    *cursor = (struct cursor){ .last = -1 };
    check(open_cursor(row, cursor) == ORRERY_OK, "opens", row->sql);
    check(take(cursor, FIRST_ROWS) == ORRERY_ROW, "begins", row->sql);
    if (!is_closed)
        return;
    check(orrery_query_continuation(cursor->query, &cursor->continuation) == ORRERY_OK, "is told where",
          row->sql);
    orrery_query_close(cursor->query);
    cursor->query = NULL;
}

/* It is asked for its continuation again, after the change, and goes on from that once more. */
static void finish(const struct row *row, struct cursor *cursor)
{
    if (!cursor->query)
        check(open_cursor(row, cursor) == ORRERY_OK, "opens again", row->sql);
    check(take(cursor, 2 * PAGE) == ORRERY_ROW, "goes on", row->sql);
    orrery_free(cursor->continuation);
    check(orrery_query_continuation(cursor->query, &cursor->continuation) == ORRERY_OK, "is told again",
          row->sql);
    orrery_query_close(cursor->query);
    check(open_cursor(row, cursor) == ORRERY_OK, "opens a third time", row->sql);
    check(take(cursor, -1) == ORRERY_DONE, "comes to its end", row->sql);
    check_seen(row, cursor);
    orrery_query_close(cursor->query);
    orrery_free(cursor->continuation);
}

static int told(const char *word)
{
    char line[16] = "";

    puts(word);
    fflush(stdout);
    return fgets(line, sizeof(line), stdin) && strcmp(line, "again\n") == 0;
}

static int once(void)
{
    static struct cursor cursors[2 * ROWS];
    int goes_on;

    for (int i = 0; i < 2 * ROWS; i++)
        begin(&rows[i / 2], &cursors[i], i % 2);
    goes_on = told("ready");
    for (int i = 0; i < 2 * ROWS; i++)
        finish(&rows[i / 2], &cursors[i]);
    return goes_on;
}

static void fill(int first, int count, const char *kind)
{
    orrery_batch *batch = NULL;
    orrery_response *response = NULL;
    char document[96];
    orrery_status status;

    orrery_batch_new(&batch);
    for (int n = first; n < first + count; n++) {
        snprintf(document, sizeof(document), "{\"id\":\"%d\",\"pk\":\"p%d\",\"n\":%d}", n, n % 53, n);
        orrery_batch_create(batch, document, ORRERY_TEXT, NULL);
    }
    status = orrery_bulk_run(client, items, batch, NULL, &response);
    check(status == ORRERY_OK, orrery_status_text(status), kind);
    orrery_response_free(response);
    orrery_batch_free(batch);
}

static void count(int wanted)
{
    orrery_query *query = NULL;

    check(orrery_query_open(client, items, "SELECT VALUE COUNT(1) FROM c", NULL, 0, NULL, NULL, &query) ==
                  ORRERY_OK &&
              orrery_query_step(query) == ORRERY_ROW && atoi(orrery_query_row(query, NULL)) == wanted,
          "all are there", "a bulk");
    orrery_query_close(query);
}

int main(int argc, char **argv)
{
    orrery_settings settings = {
        .size = sizeof(settings),
        .endpoint = argv[1],
        .key = argc > 2 ? argv[2] : NULL,
        .connections_max = 1,
        .direct = argc > 3,
    };
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/pk" } };

    if (argc < 3 || orrery_open(&settings, &client) != ORRERY_OK)
        return 2;
    check(orrery_database_create(client, "split", NULL, NULL) == ORRERY_OK, "is made", database);
    check(orrery_container_create(client, database, &container, NULL, NULL) == ORRERY_OK, "is made", items);
    fill(0, NUMBERS, "the first bulk");
    while (once())
        ;
    puts("bulk"); /* the one at the other end divides a range while it runs */
    fflush(stdout);
    fill(NUMBERS, BULK, "a bulk beside a split");
    count(NUMBERS + BULK);
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
