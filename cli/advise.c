/*
 * cli/advise.c - orrery advise dbs/x[/colls/y]: findings as text, as a page, or the whole report as JSON.
 * The exit status is 1 when there is a finding as severe as --fail-on says, so that a build can stop there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "advise.h"
#include "advise_html.h"
#include "connect.h"
#include "print.h"
#include "text.h"
#include "try.h"

enum { COLUMNS = 100, BAR = 20 };

static const char *const severities[] = { "high", "medium", "low" };
enum { SEVERITIES = sizeof(severities) / sizeof(severities[0]) };

/* SEVERITIES: there is none of that name. */
static size_t severity_of(const char *name)
{
    size_t i = 0;

    while (i < SEVERITIES && strcmp(severities[i], name) != 0)
        i++;
    return i;
}

/* ---- as text ---- */

static void add_safe(struct text *to, orrery_value value)
{
    size_t size;
    const char *text = orrery_value_text(value, &size);

    text_safe(to, text, size);
}

/* Words, broken at blanks, with blanks before each line. */
static void add_wrapped(struct text *to, const char *words)
{
    size_t column = 0;

    while (*words) {
        size_t size = strcspn(words, " ");

        if (column && column + 1 + size > COLUMNS - 8) {
            text_byte(to, '\n');
            column = 0;
        }
        text_puts(to, column ? " " : "        ");
        text_add(to, words, size);
        column += size + (column ? 1 : 0);
        words += size + strspn(words + size, " ");
    }
    text_byte(to, '\n');
}

/* A share from 0 to 1, as a small bar. */
static void add_bar(struct text *to, double share)
{
    text_puts(to, "  ");
    for (int i = 0; i < BAR; i++)
        text_puts(to, share * BAR > i ? "\u2588" : "\u2591");
}

static bool is_share(const char *name)
{
    return strstr(name, "hare") != NULL; /* shareOfBytes, largestShare */
}

static void add_value(struct text *to, orrery_value value);

/* id pub4, length 1503 */
static void add_members(struct text *to, orrery_value object)
{
    const char *name;
    orrery_value value;
    bool first = true;

    for (size_t at = 0; orrery_value_next(object, &at, &name, &value); first = false) {
        text_puts(to, first ? "" : ", ");
        text_safe(to, name, strlen(name));
        text_byte(to, ' ');
        add_value(to, value); /* evidence is three levels deep at most */
    }
}

static void add_value(struct text *to, orrery_value value)
{
    orrery_value element;
    bool first = true;

    switch (orrery_value_type(value)) {
    case ORRERY_STRING:
        add_safe(to, value);
        break;
    case ORRERY_NUMBER:
        text_printf(to, "%.15g", orrery_value_number(value));
        break;
    case ORRERY_ARRAY:
        for (size_t at = 0; orrery_value_next(value, &at, NULL, &element); first = false) {
            text_puts(to, first ? "" : "; ");
            add_value(to, element);
        }
        break;
    case ORRERY_OBJECT:
        add_members(to, value);
        break;
    default:
        break;
    }
}

/* A text of several lines, such as a script: below its name. */
static bool add_lines(struct text *to, orrery_value value)
{
    size_t size;
    const char *text = orrery_value_type(value) == ORRERY_STRING ? orrery_value_text(value, &size) : "";

    if (!strchr(text, '\n'))
        return false;
    while (*text) {
        size_t line = strcspn(text, "\n");

        text_puts(to, "\n            ");
        text_safe(to, text, line);
        text += line + (text[line] == '\n');
    }
    return true;
}

static void add_evidence(struct text *to, orrery_value evidence)
{
    const char *name;
    orrery_value value;

    for (size_t at = 0; orrery_value_next(evidence, &at, &name, &value);) {
        text_printf(to, "        %-24s", name);
        if (!add_lines(to, value))
            add_value(to, value);
        if (orrery_value_type(value) == ORRERY_NUMBER && is_share(name))
            add_bar(to, orrery_value_number(value));
        text_byte(to, '\n');
    }
}

static void add_place(struct text *to, orrery_value finding)
{
    orrery_value type = orrery_value_member(finding, "type"), path = orrery_value_member(finding, "path");

    text_puts(to, "  ");
    add_safe(to, orrery_value_member(finding, "container"));
    if (orrery_value_type(type) == ORRERY_STRING) {
        text_puts(to, " (");
        add_safe(to, type);
        text_puts(to, ")");
    }
    if (orrery_value_type(path) == ORRERY_STRING) {
        text_byte(to, ' ');
        add_safe(to, path);
    }
    text_byte(to, '\n');
}

static void add_cost(struct text *to, orrery_value cost)
{
    if (orrery_value_type(cost) == ORRERY_OBJECT)
        text_printf(to, "        %-24s%.15g RU, %.15g bytes\n", "a replace of it costs",
                    orrery_value_number(orrery_value_member(cost, "requestUnitsOfAReplace")),
                    orrery_value_number(orrery_value_member(cost, "bytesRewritten")));
}

static void add_finding(struct text *to, orrery_value finding)
{
    static const char *const members[] = { "severity", "rule", "title" };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        text_puts(to, i ? "  " : "");
        add_safe(to, orrery_value_member(finding, members[i]));
    }
    text_byte(to, '\n');
    add_place(to, finding);
    add_evidence(to, orrery_value_member(finding, "evidence"));
    add_cost(to, orrery_value_member(finding, "cost"));
    add_wrapped(to, orrery_value_text(orrery_value_member(finding, "advice"), NULL));
    text_byte(to, '\n');
}

static void add_summary(struct text *to, orrery_value report)
{
    orrery_value findings = orrery_value_member(report, "findings"), containers, one;
    size_t count = orrery_value_count(findings);

    containers = orrery_value_member(report, "containers");
    for (size_t at = 0; orrery_value_next(containers, &at, NULL, &one);) {
        add_safe(to, orrery_value_member(one, "container"));
        text_printf(to, ": %.15g items, %.15g of them looked at, %.15g partition keys\n",
                    orrery_value_number(orrery_value_member(one, "items")),
                    orrery_value_number(orrery_value_member(one, "itemsLookedAt")),
                    orrery_value_number(orrery_value_member(one, "keys")));
    }
    for (size_t at = 0; orrery_value_next(orrery_value_member(report, "notSeen"), &at, NULL, &one);) {
        text_puts(to, "not seen: ");
        add_safe(to, one);
        text_byte(to, '\n');
    }
    text_printf(to, "%zu finding%s\n", count, count == 1 ? "" : "s");
}

static void print_report(orrery_value report)
{
    struct text out = { 0 };
    orrery_value finding;

    for (size_t at = 0; orrery_value_next(orrery_value_member(report, "findings"), &at, NULL, &finding);)
        add_finding(&out, finding);
    add_summary(&out, report);
    fputs(text_of(&out), stdout);
    text_free(&out);
}

/* ---- the command ---- */

static bool is_as_severe(orrery_value report, size_t wanted)
{
    orrery_value finding;

    for (size_t at = 0; orrery_value_next(orrery_value_member(report, "findings"), &at, NULL, &finding);)
        if (severity_of(orrery_value_text(orrery_value_member(finding, "severity"), NULL)) <= wanted)
            return true;
    return false;
}

static orrery_status ask(const struct cli *cli, orrery_response **response)
{
    struct text body = { 0 };
    orrery_status status;

    text_puts(&body, "{\"of\":");
    text_json(&body, cli->options->word[0], strlen(cli->options->word[0]));
    text_puts(&body, cli->options->values ? ",\"values\":true}" : "}");
    status = orrery_create(cli->client, "_orrery/advise", text_of(&body), body.size, NULL, response);
    text_free(&body);
    return status;
}

/* False: it was told why there is no such file. */
static bool write_page(const char *path, orrery_value report)
{
    struct text page = { 0 };
    FILE *file = fopen(path, "w");
    bool is_written;

    advise_html(&page, report);
    is_written = file && fputs(text_of(&page), file) != EOF;
    if (file)
        is_written = fclose(file) == 0 && is_written;
    if (!is_written)
        tell("cannot write %s: %s", path, strerror(errno));
    text_free(&page);
    return is_written;
}

/* As JSON, as a page, or as text; a page and JSON may be wanted both. */
static bool show(const struct cli *cli, orrery_response *response)
{
    const struct options *options = cli->options;

    if (options->json)
        puts(orrery_response_body(response, NULL));
    else if (!options->html)
        print_report(orrery_response_json(response));
    return !options->html || write_page(options->html, orrery_response_json(response));
}

static int advise(const struct cli *cli, size_t fail_on)
{
    orrery_response *response = NULL;
    orrery_status status = ask(cli, &response);
    bool fails = orrery_failed(status);

    if (fails)
        cli_tell(cli, status, NULL);
    else
        fails = !show(cli, response) ||
                (fail_on < SEVERITIES && is_as_severe(orrery_response_json(response), fail_on));
    orrery_response_free(response);
    return fails ? 1 : 0;
}

int advise_command(const struct options *options)
{
    size_t fail_on = options->fail_on ? severity_of(options->fail_on) : SEVERITIES;
    struct cli cli;
    int result;

    if (options->word_count != 1 || (options->fail_on && fail_on == SEVERITIES)) {
        tell("advise wants one link, dbs/x or dbs/x/colls/y, and --fail-on high, medium or low");
        return 2;
    }
    if (options->try)
        return try_command(options);
    if (!cli_open(&cli, options))
        return 2;
    result = advise(&cli, fail_on);
    cli_close(&cli);
    return result;
}
