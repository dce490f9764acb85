/* cli/watch.h - \watch: a container's change feed as it comes. */
#pragma once
#include "shell.h"

bool command_watch(struct shell *shell, const char *rest);
