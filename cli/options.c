/*
 * cli/options.c - flags: one table for all commands.
 * To add one: its member in struct options, its row here, its line in docs/shell.md.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* The well-known key of the Cosmos DB emulator, which a server takes on loopback only. */
static const char emulator_key[] =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

enum kind { TEXT, NUMBER, YES, LIST };

#define AT(member) offsetof(struct options, member)

static const struct flag {
    const char *name; /* without its dashes; one letter: one dash */
    enum kind kind;
    size_t at;
    unsigned commands;
    const char *variable; /* of the environment; NULL: none */
    const char *argument, *help;
} flags[] = {
    { "endpoint", TEXT, AT(endpoint), FOR_ALL, "ORRERY_ENDPOINT", "URL",
      "where the server is (http://localhost:8081)" },
    { "key", TEXT, AT(key), FOR_ALL, "ORRERY_KEY", "BASE64",
      "the account's key (the emulator's well-known one)" },
    { "token", TEXT, AT(token), FOR_ALL, "ORRERY_TOKEN", "TOKEN", "a resource token instead of a key" },
    { "ca-file", TEXT, AT(ca_file), FOR_ALL, "ORRERY_CA_FILE", "FILE", "https: certificates to trust, PEM" },
    { "insecure", YES, AT(insecure), FOR_ALL, NULL, NULL, "https: trust any certificate" },
    { "in", TEXT, AT(in), FOR_SHELL | FOR_QUERY, NULL, "LINK",
      "the container, dbs/x/colls/y; of a shell: where it begins" },
    { "in", TEXT, AT(in), FOR_RESHAPE, NULL, "LINK", "the database, dbs/x (the one that the plan names)" },
    { "switch", YES, AT(switches), FOR_RESHAPE, NULL, NULL,
      "put the new container in the place of the old one, once it has everything" },
    { "follow", YES, AT(follow), FOR_RESHAPE, NULL, NULL, "go on taking over changes, until Ctrl-C" },
    { "cancel", YES, AT(cancel), FOR_RESHAPE, NULL, NULL,
      "remove the new container, and what is kept of it" },
    { "c", TEXT, AT(text), FOR_SHELL, NULL, "TEXT", "run these statements instead of asking for some" },
    { "f", TEXT, AT(file), FOR_SHELL, NULL, "FILE", "run the statements of a file" },
    { "format", TEXT, AT(format), FOR_SHELL | FOR_QUERY, NULL, "FORMAT",
      "table, json, jsonl or csv (table on a terminal, else jsonl)" },
    { "pk", TEXT, AT(pk), FOR_QUERY, NULL, "KEY", "only items of this partition key: a text, or JSON" },
    { "param", LIST, AT(parameter), FOR_QUERY, NULL, "@NAME=VALUE",
      "a parameter: JSON, or else a text; several times" },
    { "rows", NUMBER, AT(rows), FOR_QUERY, NULL, "N", "end after so many rows" },
    { "charge", YES, AT(charge), FOR_SHELL | FOR_QUERY, NULL, NULL, "tell request units, on standard error" },
    { "timing", YES, AT(timing), FOR_SHELL | FOR_QUERY, NULL, NULL,
      "tell the time taken, on standard error" },
    { "explain", YES, AT(explain), FOR_QUERY, NULL, NULL, "tell how the server ran it, on standard error" },
    { "to", TEXT, AT(to), FOR_IMPORT | FOR_SAMPLES, NULL, "LINK",
      "the container, dbs/x/colls/y; of a whole database and of samples: dbs/x" },
    { "format", TEXT, AT(format), FOR_IMPORT, NULL, "FORMAT",
      "json, jsonl or csv (what name and content say)" },
    { "pk", TEXT, AT(pk), FOR_IMPORT, NULL, "NAME", "the property that becomes the partition key" },
    { "id", TEXT, AT(id), FOR_IMPORT, NULL, "NAME", "the property that becomes the id" },
    { "mode", TEXT, AT(mode), FOR_IMPORT, NULL, "MODE", "create, upsert, or skip what is there (create)" },
    { "rejects", TEXT, AT(rejects), FOR_IMPORT, NULL, "FILE",
      "where items go that could not be written, with the reason" },
    { "resume", TEXT, AT(resume), FOR_IMPORT, NULL, "FILE", "keeps how far it came, and goes on there" },
    { "batch", NUMBER, AT(batch), FOR_IMPORT, NULL, "N", "items of one bulk (500)" },
    { "in-flight", NUMBER, AT(in_flight), FOR_IMPORT, NULL, "N", "bulks under way at a time (4)" },
    { "out", TEXT, AT(out), FOR_EXPORT, NULL, "FILE", "instead of standard output; .gz and .zst compress" },
    { "query", TEXT, AT(query), FOR_EXPORT, NULL, "SQL", "the rows of a query instead of all items" },
    { "all", YES, AT(all), FOR_EXPORT, NULL, NULL,
      "a database with policies, scripts, users and throughput" },
    { "system", YES, AT(system), FOR_EXPORT, NULL, NULL, "keep _ts, _etag and the like" },
    { "live", YES, AT(live), FOR_EXPORT, NULL, NULL,
      "do not hold still: items as they are when they are read" },
    { "quiet", YES, AT(quiet), FOR_IMPORT | FOR_EXPORT | FOR_SAMPLES | FOR_RESHAPE, NULL, NULL,
      "tell nothing of how far it is" },
    { "json", YES, AT(json), FOR_ADVISE, NULL, NULL, "the whole report as JSON" },
    { "fail-on", TEXT, AT(fail_on), FOR_ADVISE, NULL, "SEVERITY",
      "exit status 1 when there is a finding as severe: high, medium or low" },
    { "try", TEXT, AT(try), FOR_ADVISE, NULL, "PLAN",
      "what a changed model would cost: makes it in a database of its own, and asks it what was recorded" },
    { "html", TEXT, AT(html), FOR_ADVISE, NULL, "FILE", "the report as a page with plots, into a file" },
    { "values", YES, AT(values), FOR_ADVISE, NULL, NULL, "tell values, too: a partition key that is hot" },
    { "timeout", NUMBER, AT(timeout_s), FOR_WAIT, NULL, "SECONDS", "how long to wait (60)" },
    { "from", TEXT, AT(from), FOR_SAMPLES, NULL, "DIR",
      "models of your own, instead of those that came along" },
};
static const size_t flag_count = sizeof(flags) / sizeof(flags[0]);

static const struct flag *flag_find(enum command_bit command, const char *name, size_t size)
{
    for (size_t i = 0; i < flag_count; i++)
        if ((flags[i].commands & (unsigned)command) && strlen(flags[i].name) == size &&
            memcmp(flags[i].name, name, size) == 0)
            return &flags[i];
    return NULL;
}

static bool wrong(const char *what, const char *word)
{
    fprintf(stderr, "orrery: %s %s (--help lists the flags)\n", what, word);
    return false;
}

static bool set_number(const struct flag *flag, const char *value, long *number)
{
    char *end;

    errno = 0;
    *number = strtol(value, &end, 10);
    if (errno || end == value || *end || *number <= 0 || *number > 1000000000)
        return wrong("a number above 0 is wanted for", flag->name);
    return true;
}

static bool set(struct options *options, const struct flag *flag, const char *value)
{
    char *at = (char *)options + flag->at;

    switch (flag->kind) {
    case TEXT:
        *(const char **)at = value;
        return true;
    case NUMBER:
        return set_number(flag, value, (long *)at);
    case YES:
        *(bool *)at = true;
        return true;
    case LIST:
        if (options->parameter_count == PARAMETERS_MAX)
            return wrong("too many of", flag->name);
        options->parameter[options->parameter_count++] = value;
    }
    return true;
}

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .endpoint = "http://localhost:8081", .batch = 500, .in_flight = 4, .timeout_s = 60, .mode = "create"
    };
    for (size_t i = 0; i < flag_count; i++) {
        const char *value = flags[i].variable ? getenv(flags[i].variable) : NULL;

        if (value && *value)
            *(const char **)((char *)options + flags[i].at) = value;
    }
}

static bool take_flag(struct options *options, enum command_bit command, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + (argv[*at][1] == '-' ? 2 : 1);
    const char *equals = argv[*at][1] == '-' ? strchr(name, '=') : NULL;
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const struct flag *flag = flag_find(command, name, size);

    if (!flag || (size == 1) == (argv[*at][1] == '-'))
        return wrong("no flag named", argv[*at]);
    if (flag->kind == YES)
        return equals ? wrong("no value is wanted for", argv[*at]) : set(options, flag, NULL);
    if (equals)
        return set(options, flag, equals + 1);
    if (*at + 1 == argc)
        return wrong("a value is missing behind", argv[*at]);
    return set(options, flag, argv[++*at]);
}

bool options_read(struct options *options, enum command_bit command, int argc, char **argv)
{
    bool flags_end = false;

    set_defaults(options);
    for (int i = 2; i < argc; i++) {
        if (!flags_end && strcmp(argv[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && argv[i][0] == '-' && argv[i][1]) {
            if (!take_flag(options, command, argc, argv, &i))
                return false;
        } else if (options->word_count == WORDS_MAX) {
            return wrong("too many words, at", argv[i]);
        } else {
            options->word[options->word_count++] = argv[i];
        }
    }
    if (!options->key && !options->token)
        options->key = emulator_key;
    if (options->token)
        options->key = NULL;
    return true;
}

void options_print_help(enum command_bit command)
{
    for (size_t i = 0; i < flag_count; i++) {
        const struct flag *flag = &flags[i];
        char left[64];

        if (!(flag->commands & (unsigned)command))
            continue;
        snprintf(left, sizeof(left), "%s%s %s", flag->name[1] ? "--" : "-", flag->name,
                 flag->argument ? flag->argument : "");
        printf("  %-22s %s%s%s%s\n", left, flag->help, flag->variable ? "; or " : "",
               flag->variable ? flag->variable : "", flag->variable ? " in the environment" : "");
    }
}
