/*
 * cli/commands.c - the commands of a shell. To add one: write command_it(), add its row and its line in docs/shell.md.
 * Each tells its own failure. item_command.c has those that are about one item.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "commands.h"
#include "item_command.h"
#include "link.h"
#include "statement.h"
#include "watch.h"

enum { LIST_MAX = 100 }; /* of ls: a container may have millions */

void command_print(struct shell *shell, const char *json, size_t size)
{
    struct text out = { 0 };

    print_indented(&out, json, size, shell->colours);
    puts(text_of(&out));
    text_free(&out);
}

static bool usage(const char *text)
{
    tell("usage: %s", text);
    return false;
}

static void tell_cost(const struct shell *shell, double charge, int64_t began)
{
    struct took took = { .charge = charge, .us = clock_us() - began };

    took_tell(&took, shell->charge, shell->timing);
}

/* ---- queries */

bool command_select(struct shell *shell, const char *sql)
{
    struct question question = { .link = text_of(&shell->here), .sql = sql, .explain = shell->explain };
    struct printer printer;
    struct took took;
    orrery_status status;
    bool written;

    if (!link_is_container(question.link)) {
        tell("a query is asked in a container: cd dbs/x/colls/y");
        return false;
    }
    printer_open(&printer, stdout, shell->format);
    status = query_run(&shell->cli, &question, &printer, &took);
    written = printer_close(&printer);
    if (took.plan)
        fprintf(stderr, "%s\n", took.plan);
    free(took.plan);
    if (!orrery_failed(status) && shell->format == FORMAT_TABLE)
        fprintf(stderr, "(%zu row%s)\n", took.rows, took.rows == 1 ? "" : "s");
    took_tell(&took, shell->charge, shell->timing);
    return !orrery_failed(status) && written;
}

/* on, off, or the other one of the two */
static bool toggle(const char *rest, bool *what, const char *name)
{
    char *word = statement_word(&rest);
    bool known = !word || strcmp(word, "on") == 0 || strcmp(word, "off") == 0;

    if (known)
        *what = word ? strcmp(word, "on") == 0 : !*what;
    free(word);
    if (!known)
        return usage("\\charge, \\timing, \\explain [on|off]");
    fprintf(stderr, "%s is %s\n", name, *what ? "on" : "off");
    return true;
}

static bool command_explain(struct shell *shell, const char *rest)
{
    bool before = shell->explain, done;

    if (strncasecmp(rest, "select", 6) != 0)
        return toggle(rest, &shell->explain, "explain");
    shell->explain = true;
    done = command_select(shell, rest);
    shell->explain = before;
    return done;
}

static bool command_plan(struct shell *shell, const char *rest)
{
    char *plan;

    if (strncasecmp(rest, "select", 6) != 0 || !link_is_container(text_of(&shell->here)))
        return usage("\\plan SELECT ..., in a container");
    plan = query_plan(&shell->cli, text_of(&shell->here), rest);
    if (plan)
        command_print(shell, plan, strlen(plan));
    free(plan);
    return plan;
}

static bool command_charge(struct shell *shell, const char *rest)
{
    return toggle(rest, &shell->charge, "charge");
}

static bool command_timing(struct shell *shell, const char *rest)
{
    return toggle(rest, &shell->timing, "timing");
}

static bool command_format(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest);
    bool known = !word || format_find(word, &shell->format);

    free(word);
    if (!known)
        return usage("\\format table|json|jsonl|csv|typed-csv");
    fprintf(stderr, "format is %s\n", format_name(shell->format));
    return true;
}

/* ---- where we are */

static bool command_pwd(struct shell *shell, const char *rest)
{
    (void)rest;
    printf("/%s\n", text_of(&shell->here));
    return true;
}

static bool command_cd(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest);
    struct text link = { 0 };
    orrery_status status = ORRERY_OK;

    link_resolve(text_of(&shell->here), word ? word : "/", &link);
    free(word);
    if (link_depth(text_of(&link)) % 2) {
        text_free(&link);
        return usage("cd LINK, as dbs/x/colls/y, x/y or ..");
    }
    if (link.size)
        status = orrery_read(shell->cli.client, text_of(&link), NULL, NULL);
    if (orrery_failed(status)) {
        cli_tell(&shell->cli, status, NULL);
    } else {
        text_empty(&shell->here);
        text_puts(&shell->here, text_of(&link));
    }
    text_free(&link);
    return !orrery_failed(status);
}

/* What ls shows of a link: the feed below it. */
static void feed_of(const char *link, struct text *feed)
{
    size_t depth = link_depth(link), size;
    const char *kind = depth == 4 ? link_part(link, 2, &size) : NULL;

    text_empty(feed);
    text_puts(feed, link);
    if (depth == 0)
        text_puts(feed, "dbs");
    else if (depth == 2)
        text_puts(feed, "/colls");
    else if (kind && size == 5 && memcmp(kind, "users", 5) == 0)
        text_puts(feed, "/permissions");
}

static bool list(struct shell *shell, const char *feed)
{
    orrery_options options = { .size = sizeof(options), .no_wait = 1, .page_items = LIST_MAX };
    orrery_query *cursor = NULL;
    orrery_status status = orrery_list_open(shell->cli.client, feed, NULL, &options, &cursor);
    int64_t began = clock_us();
    size_t count = 0;

    if (status == ORRERY_OK)
        while ((status = cursor_step(shell->cli.client, cursor)) == ORRERY_ROW && count < LIST_MAX) {
            struct text safe = { 0 };
            size_t size;
            const char *id = orrery_value_text(orrery_value_member(orrery_query_value(cursor), "id"), &size);

            text_safe(&safe, id, size);
            puts(text_of(&safe));
            text_free(&safe);
            count++;
        }
    if (orrery_failed(status))
        cli_tell(&shell->cli, status, NULL);
    else if (status == ORRERY_ROW)
        fprintf(stderr, "(the first %d)\n", LIST_MAX);
    tell_cost(shell, cursor ? orrery_query_charge(cursor) : 0, began);
    orrery_query_close(cursor);
    return !orrery_failed(status);
}

static bool command_ls(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest);
    struct text link = { 0 }, feed = { 0 };
    bool done;

    link_resolve(text_of(&shell->here), word ? word : "", &link);
    feed_of(text_of(&link), &feed);
    done = list(shell, text_of(&feed));
    free(word);
    text_free(&link);
    text_free(&feed);
    return done;
}

/* ---- making things */

static bool command_mkdb(struct shell *shell, const char *rest)
{
    char *name = statement_word(&rest);
    orrery_status status;

    if (!name)
        return usage("mkdb NAME");
    status = orrery_database_create(shell->cli.client, name, NULL, NULL);
    free(name);
    if (orrery_failed(status))
        cli_tell(&shell->cli, status, NULL);
    return !orrery_failed(status);
}

/* A number and nothing else. */
static bool read_throughput(const char *word, int *throughput)
{
    char *end;
    long number = strtol(word, &end, 10);

    *throughput = number > 0 && number < INT_MAX ? (int)number : 0;
    return *throughput && !*end;
}

/* mkcoll LINK /pk [/second [/third]] [RU] */
static bool command_mkcoll(struct shell *shell, const char *rest)
{
    char *word[5] = { 0 };
    orrery_container container = { .size = sizeof(container) };
    orrery_options options = { .size = sizeof(options) };
    struct text link = { 0 }, database = { 0 };
    orrery_status status = ORRERY_EINVAL;
    size_t count = 0, paths = 0;
    bool good = true;

    while (count < 5 && (word[count] = statement_word(&rest)))
        count++;
    link_resolve(text_of(&shell->here), word[0] ? word[0] : "", &link);
    for (size_t i = 1; i < count; i++)
        if (word[i][0] == '/' && paths < 3)
            container.partition_key[paths++] = word[i];
        else
            good = good && i + 1 == count && read_throughput(word[i], &options.throughput);
    if (!link_is_container(text_of(&link)) || paths == 0 || !good) {
        usage("mkcoll dbs/x/colls/y /pk [/second [/third]] [RU]");
    } else {
        link_head(text_of(&link), 2, &database);
        container.id = strrchr(text_of(&link), '/') + 1;
        status = orrery_container_create(shell->cli.client, text_of(&database), &container, &options, NULL);
        if (orrery_failed(status))
            cli_tell(&shell->cli, status, NULL);
    }
    for (size_t i = 0; i < count; i++)
        free(word[i]);
    text_free(&link);
    text_free(&database);
    return !orrery_failed(status);
}

/* call sprocs/NAME KEY [ARGUMENTS] */
static bool command_call(struct shell *shell, const char *rest)
{
    char *name = statement_word(&rest), *written = statement_word(&rest);
    struct text link = { 0 };
    struct key key = { 0 };
    orrery_response *response = NULL;
    orrery_status status = ORRERY_EINVAL;
    int64_t began = clock_us();
    size_t size;

    link_resolve(text_of(&shell->here), name ? name : "", &link);
    if (!written || link_depth(text_of(&link)) != 6 || !key_read(&key, written)) {
        usage("call sprocs/NAME KEY [ARGUMENTS], arguments as a JSON array");
    } else {
        rest += strspn(rest, " \t\n");
        status = orrery_procedure_run(shell->cli.client, text_of(&link), &key.key, *rest ? rest : "[]", NULL,
                                      &response);
        if (orrery_failed(status))
            cli_tell(&shell->cli, status, NULL);
        else
            command_print(shell, orrery_response_body(response, &size),
                          strlen(orrery_response_body(response, NULL)));
        tell_cost(shell, response ? orrery_response_charge(response) : 0, began);
    }
    orrery_response_free(response);
    key_free(&key);
    text_free(&link);
    free(name);
    free(written);
    return !orrery_failed(status);
}

/* ---- help */

static bool command_help(struct shell *shell, const char *rest)
{
    (void)shell, (void)rest;
    puts("  SELECT ...                        a query in the container, over any number of lines, up to ; or "
         "an empty line");
    for (size_t i = 0; i < command_count; i++) {
        char left[64];

        snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].arguments);
        if (*commands[i].help)
            printf("  %-33s %s\n", left, commands[i].help);
    }
    return true;
}

static bool command_exit(struct shell *shell, const char *rest)
{
    (void)rest;
    shell->ended = true;
    return true;
}

const struct command commands[] = {
    { "ls", "[LINK]", "what is there: databases, containers, items, sprocs, triggers, udfs, users",
      command_ls },
    { "cd", "LINK", "go there: dbs/x/colls/y, x/y, .. or /", command_cd },
    { "pwd", "", "where we are", command_pwd },
    { "cat", "ID [KEY]", "one item, or whatever else has a link (cat sprocs/hello)", command_cat },
    { "put", "ITEM | LINK ITEM", "create or replace an item; or a script: put sprocs {\"id\":...}",
      command_put },
    { "patch", "ID [KEY] OPERATIONS", "change parts: patch 1 [{\"op\":\"set\",\"path\":\"/a\",\"value\":1}]",
      command_patch },
    { "rm", "ID [KEY]", "delete an item, or whatever else has a link (rm dbs/x)", command_rm },
    { "mkdb", "NAME", "make a database", command_mkdb },
    { "mkcoll", "LINK /pk [/pk2 [/pk3]] [RU]", "make a container", command_mkcoll },
    { "call", "sprocs/NAME KEY [ARGUMENTS]", "run a stored procedure", command_call },
    { "\\explain", "[SELECT ... | on | off]", "how the server runs a query", command_explain },
    { "\\plan", "SELECT ...", "the plan that SDKs get for it", command_plan },
    { "\\charge", "[on | off]", "request units of every command", command_charge },
    { "\\timing", "[on | off]", "the time of every command", command_timing },
    { "\\format", "[FORMAT]", "table, json, jsonl, csv or typed-csv", command_format },
    { "\\watch", "[beginning] [all]", "items as they change, until Ctrl-C; all: deletions as well",
      command_watch },
    { "\\help", "", "this list", command_help },
    { "help", "", "", command_help },
    { "exit", "", "the end; so is Ctrl-D", command_exit },
    { "quit", "", "", command_exit },
    { "\\q", "", "", command_exit },
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);
