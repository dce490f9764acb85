/*
 * src/source/items.h - items as the rows of a query: those of a container or of a part of it, or one by itself.
 *     item_source_open(op, container, &scope, &items);     or _open_in(): as a transaction sees them
 *     query_run(op, query, item_source_rows(items), ...);
 *     item_source_close(items);                                  NULL is welcome
 * Rows come in the order of their numbers, without items that have expired. Where the items have an index, the source
 * offers it together with what is known of the scope. The index changes nothing but speed.
 *
 * Ownership. A source lies in the op's arena and has a snapshot from open to close. The bytes of a row live until the
 *     next one is asked for. The container, the scope's points and its key's values, and the transaction outlive it.
 * Threads. A source is used by one thread, and waits on the store.
 */
#pragma once
#include "partition/partition.h"
#include "query/query.h"

struct item_source;

enum status item_source_open(struct op *op, const struct container *container,
                             const struct partition_scope *scope, struct item_source **items);

/* The transaction writes nothing for as long as the source is open. */
enum status item_source_open_in(struct op *op, const struct partition_txn *txn,
                                const struct partition_scope *scope, struct item_source **items);

struct query_source *item_source_rows(struct item_source *items);
void item_source_close(struct item_source *items);

/* A source with one row. The container and the item outlive it. There is nothing to close. */
struct query_source *item_source_of_one(struct op *op, const struct container *container,
                                        const struct record *item);
