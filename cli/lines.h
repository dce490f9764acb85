/* cli/lines.h - lines that somebody types: editing, history, completion. It wraps libedit, which nothing else calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct lines;

/* What may stand where the cursor is: each is told to `add`, as the whole word that begins at `word`. */
struct candidates;
void candidates_add(struct candidates *candidates, const char *word);

/* `line` ends at the cursor, and `word` is the last word in it. */
typedef void lines_completer(void *context, const char *line, const char *word,
                             struct candidates *candidates);

/* `history` is the file that keeps it; NULL: none does. NULL: there is no terminal that could be edited on. */
struct lines *lines_open(const char *history, lines_completer *completer, void *context);
void lines_close(struct lines *lines);

/* The next line with its line end, until the next call; NULL: there is no more. `interrupted`: Ctrl-C was pressed in it. */
const char *lines_read(struct lines *lines, const char *prompt, bool *interrupted);

void lines_remember(struct lines *lines, const char *statement);
