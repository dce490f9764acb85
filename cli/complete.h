/* cli/complete.h - what may follow in a line of the shell: commands, links, words of the query language, paths of items. */
#pragma once
#include "lines.h"

/* Its context is a struct shell. It asks the server; what goes wrong there means that there is nothing to offer. */
void complete_line(void *context, const char *line, const char *word, struct candidates *candidates);

struct paths;
void paths_free(struct paths *paths);
