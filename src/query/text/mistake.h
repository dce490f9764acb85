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

/* ST_QUERY_MEMORY: what a query needs is past the operation's budget. */
enum status mistake_memory(struct op *op);
