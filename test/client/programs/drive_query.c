/*
 * test/client/programs/drive_query.c - runs queries that it reads from its input, one to a line, and prints their rows.
 *     {"sql": "...", "parallel": 2, "page": 3, "every": 4}      every: closes and goes on after so many rows
 * usage: drive_query ENDPOINT KEY LINK. Each answer is a line: {"status": "...", "rows": [...]}
 */
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orrery_client *client;

static int number(orrery_value object, const char *name)
{
    return (int)orrery_value_int(orrery_value_member(object, name));
}

/* Rows until there is an end of them, or `every` were told; then where to go on. */
static orrery_status some_rows(orrery_query *query, int every, const char **comma, char **next)
{
    orrery_status status = ORRERY_ROW;

    for (int told = 0; (every == 0 || told < every) && status == ORRERY_ROW; told++) {
        status = orrery_query_step(query);
        if (status == ORRERY_ROW) {
            printf("%s%s", *comma, orrery_query_row(query, NULL));
            *comma = ",";
        }
    }
    return status == ORRERY_ROW ? orrery_query_continuation(query, next) : status;
}

static orrery_status run(const char *link, orrery_value line)
{
    const char *sql = orrery_value_text(orrery_value_member(line, "sql"), NULL), *comma = "";
    orrery_options options = { .size = sizeof(options),
                               .parallel = number(line, "parallel"),
                               .page_items = number(line, "page") };
    char *next = NULL;
    orrery_status status;

    do {
        orrery_query *query = NULL;
        char *after = NULL;

        options.continuation = next;
        status = orrery_query_open(client, link, sql, NULL, 0, NULL, &options, &query);
        if (status == ORRERY_OK)
            status = some_rows(query, number(line, "every"), &comma, &after);
        orrery_query_close(query);
        orrery_free(next);
        next = after;
    } while (!orrery_failed(status) && next);
    return status;
}

int main(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argv[1],
                                 .key = argc > 2 ? argv[2] : NULL };
    char *line = NULL;
    size_t capacity = 0;

    if (argc != 4 || orrery_open(&settings, &client) != ORRERY_OK)
        return 2;
    while (getline(&line, &capacity, stdin) > 0) {
        orrery_json *json = NULL;
        orrery_status status;

        if (orrery_json_parse(line, ORRERY_TEXT, &json) != ORRERY_OK)
            return 2;
        printf("{\"rows\":[");
        status = run(argv[3], orrery_json_root(json));
        printf("],\"status\":\"%s\"}\n", orrery_failed(status) ? orrery_status_text(status) : "ok");
        if (orrery_failed(status))
            fprintf(stderr, "%s\n", orrery_error(client));
        fflush(stdout);
        orrery_json_free(json);
    }
    free(line);
    orrery_close(client);
    return 0;
}
