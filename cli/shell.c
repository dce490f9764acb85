/* cli/shell.c - orrery shell: statements from a terminal, a file, standard input or the command line. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "complete.h"
#include "lines.h"
#include "link.h"
#include "shell.h"
#include "statement.h"

/* ---- one statement */

static const struct command *find(const char *name, size_t size)
{
    for (size_t i = 0; i < command_count; i++)
        if (strlen(commands[i].name) == size && strncasecmp(commands[i].name, name, size) == 0)
            return &commands[i];
    return NULL;
}

bool shell_run(struct shell *shell, const char *statement)
{
    size_t size = strcspn(statement, " \t\r\n");
    const struct command *command = find(statement, size);
    char *name;

    interrupt_clear();
    if (command) {
        statement += size;
        statement += strspn(statement, " \t\r\n");
        return command->run(shell, statement);
    }
    if (strncasecmp(statement, "select", 6) == 0)
        return command_select(shell, statement);
    name = must_copy(statement, size);
    tell("no command named %s (\\help lists them)", name);
    free(name);
    return false;
}

/* ---- from a terminal */

/* $XDG_STATE_HOME/orrery/history, and its folders; NULL: there is no place for it. */
static char *history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct text path = { 0 };

    if (state && *state == '/') {
        text_puts(&path, state);
    } else if (home && *home) {
        text_printf(&path, "%s/.local", home);
        mkdir(text_of(&path), 0700);
        text_puts(&path, "/state");
    } else {
        return NULL;
    }
    mkdir(text_of(&path), 0700);
    text_puts(&path, "/orrery");
    mkdir(text_of(&path), 0700);
    text_puts(&path, "/history");
    return path.data;
}

static void make_prompt(const struct shell *shell, bool begun, struct text *prompt)
{
    text_empty(prompt);
    if (begun)
        text_puts(prompt, "   ...> ");
    else
        text_printf(prompt, "%s> ", shell->here.size ? text_of(&shell->here) : "orrery");
}

static int run_terminal(struct shell *shell)
{
    char *history = history_path();
    struct lines *lines = lines_open(history, complete_line, shell);
    struct text typed = { 0 }, statement = { 0 }, prompt = { 0 };
    bool gave_up, good = true;
    const char *line;

    interrupt_catch();
    while (lines && !shell->ended) {
        make_prompt(shell, statement_begun(&typed), &prompt);
        line = lines_read(lines, text_of(&prompt), &gave_up);
        if (!line)
            break;
        if (gave_up)
            text_empty(&typed);
        else
            text_puts(&typed, line);
        while (!shell->ended && statement_take(&typed, false, &statement)) {
            lines_remember(lines, text_of(&statement));
            good = shell_run(shell, text_of(&statement));
        }
    }
    if (!shell->ended)
        putchar('\n');
    lines_close(lines);
    free(history);
    text_free(&typed);
    text_free(&statement);
    text_free(&prompt);
    return good ? 0 : 1;
}

/* ---- from anywhere else */

/* The first statement that fails ends the script. */
static int run_text(struct shell *shell, struct text *script, bool is_all)
{
    struct text statement = { 0 };
    bool good = true;

    while (good && !shell->ended && statement_take(script, is_all, &statement))
        good = shell_run(shell, text_of(&statement)) && fflush(stdout) == 0;
    text_free(&statement);
    return good ? 0 : 1;
}

static int run_file(struct shell *shell, FILE *file)
{
    struct text script = { 0 };
    char *line = NULL;
    size_t room = 0;
    int result = 0;

    while (result == 0 && !shell->ended && getline(&line, &room, file) >= 0) {
        text_puts(&script, line);
        result = run_text(shell, &script, false);
    }
    if (result == 0 && ferror(file)) {
        tell("the script could not be read");
        result = 1;
    }
    if (result == 0 && !shell->ended)
        result = run_text(shell, &script, true);
    free(line);
    text_free(&script);
    return result;
}

static int run_named(struct shell *shell, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    int result;

    if (!file) {
        tell("%s cannot be read", path);
        return 2;
    }
    result = run_file(shell, file);
    if (file != stdin)
        fclose(file);
    return result;
}

static int run(struct shell *shell, const struct options *options)
{
    struct text script = { 0 };
    int result;

    if (options->in) {
        struct text command = { 0 };
        bool there;

        text_printf(&command, "cd %s", options->in);
        there = shell_run(shell, text_of(&command));
        text_free(&command);
        if (!there)
            return 1;
    }
    if (options->text) {
        text_puts(&script, options->text);
        result = run_text(shell, &script, true);
        text_free(&script);
        return result;
    }
    if (options->file)
        return run_named(shell, options->file);
    if (!isatty(STDIN_FILENO))
        return run_file(shell, stdin);
    return run_terminal(shell);
}

int shell_command(const struct options *options)
{
    struct shell shell = { .charge = options->charge,
                           .timing = options->timing,
                           .format = isatty(STDOUT_FILENO) ? FORMAT_TABLE : FORMAT_LINES };
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    int result;

    if (options->word_count || (options->text && options->file)) {
        tell("usage: orrery shell [-c TEXT | -f FILE] [--in dbs/x/colls/y]");
        return 2;
    }
    if (options->format && !format_find(options->format, &shell.format)) {
        tell("no format named %s", options->format);
        return 2;
    }
    if (!cli_open(&shell.cli, options))
        return 2;
    shell.colours = isatty(STDOUT_FILENO) && !(no && *no) && !(kind && strcmp(kind, "dumb") == 0);
    result = run(&shell, options);
    paths_free(shell.paths);
    text_free(&shell.here);
    cli_close(&shell.cli);
    return result;
}
