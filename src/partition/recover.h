/*
 * src/partition/recover.h - after a crash: index entries that the store had in memory only.
 * The change log has, for each item that was changed since, how it was before; what it is now is in the
 * store. The difference of the two is what was lost. After a clean end there is nothing to do.
 *
 * Threads. One, before anything is written.
 */
#pragma once
#include "catalog/catalog.h"

enum status recover_index(struct op *op, struct catalog *catalog);

/* Of a store whose items have no entries yet: there is nothing to make again of what was written so far. */
enum status recover_begin(struct op *op, struct catalog *catalog);
