/* cli/commands.h - what can be typed in a shell, as a table. */
#pragma once
#include "shell.h"

struct command {
    const char *name, *arguments, *help;
    bool (*run)(struct shell *shell, const char *rest); /* what stands behind its name */
};

extern const struct command commands[];
extern const size_t command_count;

/* A query as the shell is set to run it. */
bool command_select(struct shell *shell, const char *sql);

/* Prints one JSON text with line ends. */
void command_print(struct shell *shell, const char *json, size_t size);
