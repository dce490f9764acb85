/*
 * src/vector/columns.h - which columns there are: a container's stand on its shelf.
 *     vector_shelf_find(shelf, &key, account, &column)
 *         VECTOR_READY   it may be used until vector_column_done()
 *         VECTOR_NEW     nobody has it: the caller fills it and calls vector_shelf_publish() or vector_shelf_give_up()
 *         VECTOR_BUSY    somebody is making it
 * Columns can be made again from items at any time. So when memory is short, those that were not used for longest are let
 * go (vector_columns_let_go()). The list of all columns is the process's, as its memory is.
 * A thread builds graphs while there are any to build. It works at a lower priority than requests do.
 *
 * Threads. Any.
 *
 * Promises
 * 1. A column that somebody uses stays.       columns_test.c
 * 2. A shelf that is released leaves nothing behind: nobody works on its columns any more.
 */
#pragma once
#include "vector/column.h"

struct vector_shelf;

struct vector_shelf *vector_shelf_new(void);
struct vector_shelf *vector_shelf_take(struct vector_shelf *shelf);
void vector_shelf_release(struct vector_shelf *shelf); /* NULL is welcome */

enum vector_found { VECTOR_READY, VECTOR_NEW, VECTOR_BUSY };

enum vector_found vector_shelf_find(struct vector_shelf *shelf, const struct vector_key *key,
                                    struct account *account, struct vector_column **column);

/* The column is ready, and the caller uses it. */
void vector_shelf_publish(struct vector_column *column);

/* It was not made. */
void vector_shelf_give_up(struct vector_column *column);

/* The caller holds no lock of it. */
void vector_column_done(struct vector_column *column); /* NULL is welcome */

/* Of no use any more: gone when nobody uses it. The caller still does. */
void vector_column_drop(struct vector_column *column);

/* Lets go of the column of that account that was not used for longest, and that nobody uses. False: there is none. */
bool vector_columns_let_go(const struct account *account);

struct vector_columns_stats {
    uint64_t columns, vectors, bytes, graph_vectors;
    uint64_t building;       /* columns whose graphs are being built or measured */
    uint64_t graphs;         /* that queries walk */
    uint64_t recall_percent; /* the least of those; 100 when there is none: scans leave nothing out */
};

void vector_columns_stats(struct vector_columns_stats *stats);
