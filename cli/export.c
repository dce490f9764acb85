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

static uint64_t session_lsn(const orrery_query *query)
{
    const orrery_response *page = orrery_query_response(query);
    const char *token = page ? orrery_response_session(page) : NULL;
    const char *at = token ? strrchr(token, '#') : NULL;

    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* A query's pages are each of their own moment. If nothing was written in between, that was one moment. */
static void tell_moments(const struct exporter *exporter, uint64_t first, uint64_t last)
{
    if (exporter->options->live || exporter->options->quiet)
        return;
    if (first == last)
        tell("the rows are as of LSN %llu", (unsigned long long)last);
    else
        tell("items were written meanwhile: the rows are of several moments, LSN %llu to %llu",
             (unsigned long long)first, (unsigned long long)last);
}

static bool export_query(struct exporter *exporter, const char *link)
{
    orrery_options options = { .size = sizeof(options), .no_wait = 1, .page_items = 1000 };
    orrery_query *query = NULL;
    orrery_status status = orrery_query_open(exporter->cli.client, link, exporter->options->query, NULL, 0,
                                             NULL, &options, &query);
    uint64_t first = 0, last = 0;
    bool good = true;

    while (good && !orrery_failed(status) &&
           (status = cursor_step(exporter->cli.client, query)) == ORRERY_ROW) {
        size_t size;
        const char *row = orrery_query_row(query, &size);

        last = session_lsn(query);
        first = first ? first : last;
        text_empty(&exporter->line);
        if (row[0] == '{' && !exporter->options->system)
            members_without_system(&exporter->line, row, size);
        else
            text_add(&exporter->line, row, size);
        text_byte(&exporter->line, '\n');
        exporter->progress.items++;
        exporter->progress.bytes += exporter->line.size;
        progress_look(&exporter->progress);
        good = stream_write(exporter->out, text_of(&exporter->line), exporter->line.size);
    }
    if (good && orrery_failed(status) && status != ORRERY_ECANCELED)
        cli_tell(&exporter->cli, status, exporter->options->query);
    else if (good && !orrery_failed(status))
        tell_moments(exporter, first, last);
    exporter->progress.charge += query ? orrery_query_charge(query) : 0;
    orrery_query_close(query);
    return good && !orrery_failed(status);
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
    if (good && !exporter->options->live && !exporter->options->quiet)
        tell("%s as of LSN %llu", link, (unsigned long long)lsn);
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
    good = stream_close(exporter.out) && good;
    progress_end(&exporter.progress);
    text_free(&exporter.line);
    cli_close(&exporter.cli);
    return good ? 0 : 1;
}
