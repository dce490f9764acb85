/* src/query/text/mistake.h - what is wrong with a query, as the service says it. */
#pragma once
#include "query/value/tree.h"

/*
 * ST_BAD_QUERY with {"errors":[{"severity":"Error","location":{"start":7,"end":9},"code":"SC2001",
 * "message":"..."}]} as the operation's error: return mistake(op, span, "SC2001", "...").
 * A code of NULL is left out: the service has its words for some things and no code.
 */
__attribute__((format(printf, 4, 5))) enum status mistake(struct op *op, struct span span, const char *code,
                                                          const char *fmt, ...);

/* The same for the few that have a number for a code and no place: mistake_number(op, 2206, "..."). */
__attribute__((format(printf, 3, 4))) enum status mistake_number(struct op *op, int code, const char *fmt,
                                                                 ...);

/* And for those that have neither: {"Errors":["..."]}. */
__attribute__((format(printf, 2, 3))) enum status mistake_bare(struct op *op, const char *fmt, ...);

/*
 * What is wrong with a query, gathered, so that one answer tells it all:
 *     TRY(mistakes_take(op, &list, mistake(op, span, "SC2001", "...")));     goes on behind a mistake
 *     TRY(mistakes_tell(op, &list));                                         ST_BAD_QUERY if there was any
 * After very many it does not go on, and they are told.
 */
struct mistakes {
    struct buf text;
    size_t count;
};

void mistakes_init(struct mistakes *list, struct op *op);
enum status mistakes_take(struct op *op, struct mistakes *list, enum status st);
enum status mistakes_tell(struct op *op, const struct mistakes *list);

/* ST_QUERY_MEMORY: what a query needs is past the operation's budget. */
enum status mistake_memory(struct op *op);
