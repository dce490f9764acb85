/* cli/query.c - orrery query, and how the shell asks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query.h"

/* What a client would have to know to use the plan: all of it, so that the plan is told and not refused. */
#define FEATURES                                                                              \
    "NonValueAggregate, Aggregate, Distinct, MultipleOrderBy, OffsetAndLimit, OrderBy, Top, " \
    "CompositeAggregate, GroupBy, MultipleAggregates, ListAndSetAggregate, CountIf, DCount, " \
    "NonStreamingOrderBy, HybridSearch, WeightedRankFusion"
static const char features[] = "x-ms-cosmos-supported-query-features: " FEATURES;

static const char *const explaining[] = { "x-orrery-explain: true", NULL };

static void note_plan(const orrery_query *query, struct took *took)
{
    const orrery_response *page = orrery_query_response(query);
    const char *plan = page ? orrery_response_header(page, "x-orrery-plan") : NULL;

    if (!plan)
        return;
    free(took->plan);
    took->plan = must_copy(plan, strlen(plan));
}

orrery_status query_run(const struct cli *cli, const struct question *question, struct printer *printer,
                        struct took *took)
{
    orrery_options options = { .size = sizeof(options),
                               .no_wait = 1,
                               .headers = question->explain ? explaining : NULL };
    orrery_query *query = NULL;
    int64_t began = clock_us();
    orrery_status status = orrery_query_open(cli->client, question->link, question->sql, question->parameter,
                                             question->parameter_count, question->key, &options, &query);

    *took = (struct took){ 0 };
    while (status == ORRERY_OK || status == ORRERY_ROW) {
        size_t size;
        const char *row;

        if (question->rows_max && took->rows == question->rows_max)
            break;
        status = cursor_step(cli->client, query);
        row = status == ORRERY_ROW ? orrery_query_row(query, &size) : NULL;
        if (row) {
            printer_row(printer, row, size);
            took->rows++;
        }
        if (query && question->explain)
            note_plan(query, took);
    }
    if (orrery_failed(status) && status != ORRERY_ECANCELED)
        cli_tell(cli, status, question->sql);
    took->us = clock_us() - began;
    took->charge = query ? orrery_query_charge(query) : 0;
    orrery_query_close(query);
    return status;
}

char *query_plan(const struct cli *cli, const char *link, const char *sql)
{
    static const char *const headers[] = {
        "x-ms-cosmos-is-query-plan-request: True", features,
        "x-ms-cosmos-query-version: 1.4",          "x-ms-documentdb-isquery: true",
        "Content-Type: application/query+json",    NULL,
    };
    orrery_options options = { .size = sizeof(options), .headers = headers };
    orrery_response *response = NULL;
    struct text feed = { 0 }, body = { 0 };
    orrery_status status;
    char *plan = NULL;

    text_printf(&feed, "%s/docs", link);
    text_puts(&body, "{\"query\":");
    text_json(&body, sql, strlen(sql));
    text_byte(&body, '}');
    status = orrery_create(cli->client, text_of(&feed), text_of(&body), body.size, &options, &response);
    if (status == ORRERY_OK)
        plan = must_copy(orrery_response_body(response, NULL), strlen(orrery_response_body(response, NULL)));
    else
        cli_tell(cli, status, sql);
    orrery_response_free(response);
    text_free(&feed);
    text_free(&body);
    return plan;
}

void took_tell(const struct took *took, bool charge, bool timing)
{
    if (charge)
        fprintf(stderr, "%.2f RU%s", took->charge, timing ? ", " : "\n");
    if (timing)
        fprintf(stderr, "%.1f ms\n", (double)took->us / 1000);
}

/* ---- the command */

/* "@age=30": the value is JSON, or else a text. */
static bool read_parameter(const char *given, orrery_parameter *parameter)
{
    const char *equals = strchr(given, '=');
    orrery_json *json = NULL;
    struct text value = { 0 };

    if (!equals || given[0] != '@' || equals == given + 1) {
        tell("--param wants @NAME=VALUE and not %s", given);
        return false;
    }
    if (orrery_json_parse(equals + 1, ORRERY_TEXT, &json) == ORRERY_OK)
        text_puts(&value, equals + 1);
    else
        text_json(&value, equals + 1, strlen(equals + 1));
    orrery_json_free(json);
    parameter->name = must_copy(given, (size_t)(equals - given));
    parameter->value = value.data;
    return true;
}

static int ask(const struct options *options, struct question *question, enum format format)
{
    struct cli cli;
    struct printer printer;
    struct took took;
    orrery_status status;
    bool written;

    if (!cli_open(&cli, options))
        return 2;
    interrupt_catch();
    printer_open(&printer, stdout, format);
    status = query_run(&cli, question, &printer, &took);
    written = printer_close(&printer);
    if (took.plan)
        fprintf(stderr, "%s\n", took.plan);
    took_tell(&took, options->charge, options->timing);
    free(took.plan);
    cli_close(&cli);
    return orrery_failed(status) || !written ? 1 : 0;
}

int query_command(const struct options *options)
{
    enum format format = isatty(STDOUT_FILENO) ? FORMAT_TABLE : FORMAT_LINES;
    orrery_parameter parameter[PARAMETERS_MAX] = { 0 };
    struct question question = { .link = options->in,
                                 .parameter = parameter,
                                 .explain = options->explain,
                                 .rows_max = (size_t)options->rows };
    struct key key = { 0 };
    int result = 2;

    if (options->word_count != 1 || !options->in) {
        tell("usage: orrery query \"SELECT ...\" --in dbs/x/colls/y");
        return 2;
    }
    if (options->format && !format_find(options->format, &format)) {
        tell("no format named %s", options->format);
        return 2;
    }
    question.sql = options->word[0];
    for (size_t i = 0; i < options->parameter_count; i++, question.parameter_count++)
        if (!read_parameter(options->parameter[i], &parameter[i]))
            goto out;
    if (options->pk && !key_read(&key, options->pk)) {
        tell("%s is no partition key", options->pk);
        goto out;
    }
    question.key = options->pk ? &key.key : NULL;
    result = ask(options, &question, format);
out:
    for (size_t i = 0; i < question.parameter_count; i++) {
        free((char *)parameter[i].name);
        free((char *)parameter[i].value);
    }
    key_free(&key);
    return result;
}
