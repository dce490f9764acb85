/*
 * cli/main.c - orrery-cli: the commands for people at a terminal and for scripts. `orrery` starts it with the same words.
 * To add one: its row here and in src/main/client_command.c, its flags in options.c, its lines in docs/shell.md.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "advise.h"
#include "export.h"
#include "import.h"
#include "options.h"
#include "query.h"
#include "reshape.h"
#include "samples.h"
#include "shell.h"
#include "wait.h"

static const struct row {
    const char *name, *arguments, *help;
    enum command_bit bit;
    int (*run)(const struct options
                   *options); /* the exit status: 0, 1 for a failure, 2 for words that make no sense */
} rows[] = {
    { "shell", "[flags]", "a prompt: \\help lists what can be typed", FOR_SHELL, shell_command },
    { "query", "\"SELECT ...\" --in dbs/x/colls/y [flags]", "the rows of a query", FOR_QUERY, query_command },
    { "import", "FILE... --to dbs/x/colls/y [flags]",
      "items of files into a container: JSON lines, JSON arrays, CSV, .gz and .zst; - is standard input",
      FOR_IMPORT, import_command },
    { "export", "dbs/x/colls/y [flags]",
      "a container as JSON lines, as of one LSN; dbs/x --all: a whole database", FOR_EXPORT, export_command },
    { "samples", "[NAME | NAME/bad] [flags]", "worked models; without a name: which there are", FOR_SAMPLES,
      samples_command },
    { "advise", "dbs/x[/colls/y] [flags]", "which rules of modelling the data breaks, with the evidence",
      FOR_ADVISE, advise_command },
    { "reshape", "PLAN.json [flags]",
      "carries a plan out while the containers are in use: copies, compares, switches", FOR_RESHAPE,
      reshape_command },
    { "wait", "[LINK...] [flags]", "ends when the server serves, and has what the links name", FOR_WAIT,
      wait_command },
};

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static bool help_wanted(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static struct options options; /* it is large */
    const struct row *row = argc > 1 ? find(argv[1]) : NULL;

    setlocale(LC_CTYPE, "C.UTF-8"); /* whatever the environment says: data is UTF-8 */
    signal(SIGPIPE, SIG_IGN);
    if (!row) {
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            fprintf(stderr, "orrery %s %s\n        %s\n", rows[i].name, rows[i].arguments, rows[i].help);
        return 2;
    }
    if (help_wanted(argc, argv)) {
        printf("orrery %s %s\n%s\n\n", row->name, row->arguments, row->help);
        options_print_help(row->bit);
        return 0;
    }
    if (!options_read(&options, row->bit, argc, argv))
        return 2;
    return row->run(&options);
}
