/*
 * cli/statement.h - where a statement ends. A query (SELECT, and \explain or \plan before it) goes on until a semicolon or
 * an empty line; a command until the end of its line, or until its brackets are closed.
 */
#pragma once
#include "text.h"

/* Takes the first statement out of the text, without its semicolon. False: it has none that is whole. */
bool statement_take(struct text *from, bool is_all, struct text *statement);

/* Whether something of a statement has been typed. */
bool statement_begun(const struct text *from);

/* The next word of a line, quoted or not, out of which it is taken; NULL: there is none. free() it. */
char *statement_word(const char **line);
