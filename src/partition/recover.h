/*
 * src/partition/recover.h - makes index entries again that the store lost in a crash, because it had them in memory
 * only. For each item that was changed since the entries were last settled, the change log has the item as it was
 * before, and the store has it as it is now. The difference of the two was lost. After a clean end there is nothing
 * to do.
 *
 * Threads. One, before anything is written.
 */
#pragma once
#include "catalog/catalog.h"

enum status recover_index(struct op *op, struct catalog *catalog);

/* For a store whose items have no entries yet: marks everything written so far as settled. */
enum status recover_begin(struct op *op, struct catalog *catalog);
