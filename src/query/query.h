/* src/query/query.h - the query language. So far one sentence of it: everything. */
#pragma once
#include "base/slice.h"

/* SELECT * FROM <name>, in any case and spacing: the query that lists every item. */
bool query_is_everything(struct slice text);
