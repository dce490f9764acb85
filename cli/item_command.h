/* cli/item_command.h - the commands of a shell that are about one item, or one resource with a link. */
#pragma once
#include "shell.h"

bool command_cat(struct shell *shell, const char *rest);
bool command_put(struct shell *shell, const char *rest);
bool command_patch(struct shell *shell, const char *rest);
bool command_rm(struct shell *shell, const char *rest);
