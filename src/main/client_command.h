/* src/main/client_command.h - the commands that are clients: another program has them, so that the server stays small. */
#pragma once
#include <stdbool.h>

bool client_command_exists(const char *name);

/* Becomes orrery-cli, with the same words. It returns only if that fails: the exit status. */
int client_command(char **argv);
