/* cli/export.c - orrery export: items, rows or a whole database as JSON lines. snapshot.c reads items as of one LSN. */
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "export.h"
#include "link.h"
#include "members.h"
#include "progress.h"
#include "snapshot.h"
#include "stream.h"
#include "text.h"

struct exporter {
    const struct options *options;
    struct cli cli;
    struct stream *out;
    struct progress progress;
    struct text line;
    struct text held; /* rows of a query that may be of several moments */
    uint64_t held_rows;
    bool wrapped; /* in a whole database, an item stands in {"item":...} */
};

/* ---- items */

static bool write_item(void *context, const char *json, size_t size)
{
    struct exporter *exporter = context;

    text_empty(&exporter->line);
    if (exporter->wrapped)
        text_puts(&exporter->line, "{\"item\":");
    if (exporter->options->system)
        text_add(&exporter->line, json, size);
    else
        members_without_system(&exporter->line, json, size);
    text_puts(&exporter->line, exporter->wrapped ? "}\n" : "\n");
    exporter->progress.items++;
    exporter->progress.bytes += exporter->line.size;
    if (exporter->progress.items % 256 == 0)
        progress_look(&exporter->progress);
    return stream_write(exporter->out, text_of(&exporter->line), exporter->line.size);
}

static bool export_container(struct exporter *exporter, const char *link, uint64_t *lsn)
{
    return snapshot_read(&exporter->cli, link, exporter->options->live, write_item, exporter, lsn,
                         &exporter->progress.charge);
}

/* ---- a query */

/* So many bytes of rows are held back. A longer answer is read as of its moment from the start. */
enum { HELD_BYTES_MAX = 4 * 1024 * 1024 };

static void add_row(const struct exporter *exporter, struct text *line, const char *row, size_t size)
{
    if (row[0] == '{' && !exporter->options->system)
        members_without_system(line, row, size);
    else
        text_add(line, row, size);
    text_byte(line, '\n');
}

static bool write_row(struct exporter *exporter, const char *row, size_t size)
{
    text_empty(&exporter->line);
    add_row(exporter, &exporter->line, row, size);
    exporter->progress.items++;
    exporter->progress.bytes += exporter->line.size;
    progress_look(&exporter->progress);
    return stream_write(exporter->out, text_of(&exporter->line), exporter->line.size);
}

static bool hold_row(struct exporter *exporter, const char *row, size_t size)
{
    add_row(exporter, &exporter->held, row, size);
    exporter->held_rows++;
    return exporter->held.size <= HELD_BYTES_MAX;
}

/*
 * Each row of the query. With a moment, the server must know what that is. A failure was told; ORRERY_ECALLBACK: `take` ended it.
 */
static orrery_status each_row(struct exporter *exporter, const char *link, const char *moment,
                              bool (*take)(struct exporter *exporter, const char *row, size_t size))
{
    const char *const headers[] = { moment, NULL };
    orrery_options options = {
        .size = sizeof(options), .no_wait = 1, .page_items = 1000, .headers = headers
    };
    orrery_query *query = NULL;
    orrery_status status = orrery_query_open(exporter->cli.client, link, exporter->options->query, NULL, 0,
                                             NULL, &options, &query);
    const char *row;
    size_t size;

    while (!orrery_failed(status) && (status = cursor_step(exporter->cli.client, query)) == ORRERY_ROW) {
        const orrery_response *page = orrery_query_response(query);

        if (moment && !(page && orrery_response_header(page, "x-orrery-as-of"))) {
            tell("this server does not say what rows were at one moment; --live exports them as they are");
            status = ORRERY_ECALLBACK;
        } else {
            row = orrery_query_row(query, &size);
            status = take(exporter, row, size) ? ORRERY_OK : ORRERY_ECALLBACK;
        }
    }
    if (orrery_failed(status) && status != ORRERY_ECALLBACK && status != ORRERY_ECANCELED)
        cli_tell(&exporter->cli, status, exporter->options->query);
    exporter->progress.charge += query ? orrery_query_charge(query) : 0;
    orrery_query_close(query);
    return status;
}

/* Whether the rows are of the LSN: nothing was written while they were read, by an index if there is one for them. */
static bool hold_rows(struct exporter *exporter, const char *link, uint64_t lsn, orrery_status *status)
{
    uint64_t after = 0;

    *status = each_row(exporter, link, NULL, hold_row);
    return *status == ORRERY_DONE && snapshot_lsn(&exporter->cli, link, &after) && after == lsn;
}

static bool write_held(struct exporter *exporter)
{
    exporter->progress.items += exporter->held_rows;
    exporter->progress.bytes += exporter->held.size;
    return stream_write(exporter->out, text_of(&exporter->held), exporter->held.size);
}

/* The rows that the query had at the LSN, which the server finds by a scan of all items. */
static bool write_rows_of(struct exporter *exporter, const char *link, uint64_t lsn)
{
    struct text moment = { 0 };
    orrery_status status;

    text_printf(&moment, "x-orrery-as-of: %llu", (unsigned long long)lsn);
    status = each_row(exporter, link, text_of(&moment), write_row);
    if (status == ORRERY_EBADREQUEST)
        tell("these rows cannot be had as of one moment; --live exports them as they are when they are read");
    text_free(&moment);
    return status == ORRERY_DONE;
}

static bool export_query(struct exporter *exporter, const char *link)
{
    orrery_status status = ORRERY_OK;
    uint64_t lsn = 0;
    bool good;

    if (exporter->options->live)
        return each_row(exporter, link, NULL, write_row) == ORRERY_DONE;
    if (!snapshot_lsn(&exporter->cli, link, &lsn))
        return false;
    if (hold_rows(exporter, link, lsn, &status))
        good = write_held(exporter);
    else
        good = (status == ORRERY_DONE || status == ORRERY_ECALLBACK) && write_rows_of(exporter, link, lsn);
    if (good && !exporter->options->quiet)
        tell("the rows are as of LSN %llu", (unsigned long long)lsn);
    return good;
}

/* ---- a whole database */

static bool put(struct exporter *exporter)
{
    text_byte(&exporter->line, '\n');
    return stream_write(exporter->out, text_of(&exporter->line), exporter->line.size);
}

/* ,"offer":{...} for what has throughput of its own. */
static bool add_offer(struct exporter *exporter, const char *link, struct text *line)
{
    int throughput = 0, autoscale = 0;
    orrery_status status = orrery_throughput_read(exporter->cli.client, link, &throughput, &autoscale);

    if (status == ORRERY_OK)
        text_printf(line, ",\"offer\":{\"%s\":%d}", autoscale ? "maxThroughput" : "throughput", throughput);
    else if (status != ORRERY_ENOTFOUND)
        cli_tell(&exporter->cli, status, NULL);
    return status == ORRERY_OK || status == ORRERY_ENOTFOUND;
}

/* The relative name of what a permission is for: links begin with their database. */
static const char *relative(const char *link)
{
    const char *slash = strncmp(link, "dbs/", 4) == 0 ? strchr(link + 4, '/') : NULL;

    return slash ? slash + 1 : link;
}

static void add_body(struct text *line, const char *kind, orrery_value body)
{
    const char *name;
    orrery_value value;
    bool first = true;

    text_printf(line, "{\"%s\":{", kind);
    for (size_t at = 0; orrery_value_next(body, &at, &name, &value);) {
        char *text = NULL;

        if (name[0] == '_') /* what the service adds */
            continue;
        text_puts(line, first ? "" : ",");
        text_json(line, name, strlen(name));
        text_byte(line, ':');
        first = false;
        if (strcmp(kind, "permission") == 0 && strcmp(name, "resource") == 0) {
            const char *resource = relative(orrery_value_text(value, NULL));

            text_json(line, resource, strlen(resource));
        } else if (orrery_value_print(value, &text, NULL) == ORRERY_OK) {
            text_puts(line, text);
        }
        orrery_free(text);
    }
    text_byte(line, '}');
}

/* Each thing of a feed, one line, and `below` for each, if it is not NULL. */
typedef bool below_it(struct exporter *exporter, const char *link, orrery_value body);

static bool export_feed(struct exporter *exporter, const char *parent, const char *feed, const char *kind,
                        below_it *write_it, below_it *below)
{
    struct text list = { 0 }, link = { 0 };
    orrery_query *query = NULL;
    orrery_status status;
    bool good = true;

    text_printf(&list, "%s/%s", parent, feed);
    status = orrery_list_open(exporter->cli.client, text_of(&list), NULL, NULL, &query);
    while (good && !orrery_failed(status) && (status = orrery_query_step(query)) == ORRERY_ROW) {
        orrery_value body = orrery_query_value(query);

        text_empty(&link);
        text_printf(&link, "%s/%s", text_of(&list), orrery_value_text(orrery_value_member(body, "id"), NULL));
        text_empty(&exporter->line);
        if (write_it) {
            good = write_it(exporter, text_of(&link), body);
        } else {
            add_body(&exporter->line, kind, body);
            text_byte(&exporter->line, '}');
            good = put(exporter);
        }
        good = good && (!below || below(exporter, text_of(&link), body)) && !interrupted();
    }
    if (good && orrery_failed(status))
        cli_tell(&exporter->cli, status, NULL);
    orrery_query_close(query);
    text_free(&list);
    text_free(&link);
    return good && !orrery_failed(status);
}

static bool write_container(struct exporter *exporter, const char *link, orrery_value body)
{
    add_body(&exporter->line, "container", body);
    if (!add_offer(exporter, link, &exporter->line))
        return false;
    text_byte(&exporter->line, '}');
    return put(exporter);
}

static bool below_container(struct exporter *exporter, const char *link, orrery_value body)
{
    uint64_t lsn = 0;

    (void)body;
    return export_feed(exporter, link, "sprocs", "sproc", NULL, NULL) &&
           export_feed(exporter, link, "triggers", "trigger", NULL, NULL) &&
           export_feed(exporter, link, "udfs", "udf", NULL, NULL) && export_container(exporter, link, &lsn);
}

static bool below_user(struct exporter *exporter, const char *link, orrery_value body)
{
    (void)body;
    return export_feed(exporter, link, "permissions", "permission", NULL, NULL);
}

static bool export_database(struct exporter *exporter, const char *link)
{
    orrery_response *database = NULL;
    orrery_status status = orrery_read(exporter->cli.client, link, NULL, &database);
    bool good = !orrery_failed(status);

    if (!good)
        cli_tell(&exporter->cli, status, NULL);
    exporter->wrapped = true;
    text_puts(&exporter->line, "{\"orreryExport\":1,\"database\":");
    text_json(&exporter->line, link + 4, strlen(link + 4));
    text_byte(&exporter->line, '}');
    good = good && put(exporter);
    text_empty(&exporter->line);
    if (good)
        add_body(&exporter->line, "database", orrery_response_json(database));
    good = good && add_offer(exporter, link, &exporter->line);
    text_byte(&exporter->line, '}');
    good = good && put(exporter) &&
           export_feed(exporter, link, "colls", "container", write_container, below_container) &&
           export_feed(exporter, link, "users", "user", NULL, below_user);
    text_empty(&exporter->line);
    text_printf(&exporter->line, "{\"end\":{\"items\":%llu}}", (unsigned long long)exporter->progress.items);
    good = good && put(exporter);
    orrery_response_free(database);
    return good;
}

/* ---- the command */

static bool run(struct exporter *exporter, const char *link)
{
    uint64_t lsn = 0;
    bool good;

    if (exporter->options->all)
        return export_database(exporter, link);
    if (exporter->options->query)
        return export_query(exporter, link);
    good = export_container(exporter, link, &lsn);
    if (good && !exporter->options->live && !exporter->options->quiet && lsn)
        tell("%s as of LSN %llu", link, (unsigned long long)lsn);
    else if (good && !exporter->options->live && !exporter->options->quiet)
        tell("%s as of one LSN of each range", link);
    return good;
}

int export_command(const struct options *options)
{
    struct exporter exporter = { .options = options };
    const char *link = options->word_count == 1 ? options->word[0] : "";
    bool good;

    if (options->all
            ? link_depth(link) != 2 || strncmp(link, "dbs/", 4) != 0 || options->query || options->system
            : !link_is_container(link)) {
        tell("usage: orrery export dbs/x/colls/y [--query SQL] [--out FILE], or orrery export dbs/x --all");
        return 2;
    }
    if (!cli_open(&exporter.cli, options))
        return 2;
    interrupt_catch();
    exporter.out = stream_create(options->out ? options->out : "-");
    progress_begin(&exporter.progress, "exported", options->quiet);
    good = exporter.out && run(&exporter, link) && !interrupted();
    if (good)
        good = stream_close(exporter.out);
    else
        stream_abandon(exporter.out);
    progress_end(&exporter.progress);
    text_free(&exporter.line);
    text_free(&exporter.held);
    cli_close(&exporter.cli);
    return good ? 0 : 1;
}
