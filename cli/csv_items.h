/*
 * cli/csv_items.h - rows of CSV as items. The head's cells are "name" or "name:type"; types are string, number, bool, json
 * and ignore. Where a head has none, the first CSV_ROWS_HELD rows decide, and what they decided is told.
 */
#pragma once
#include "items.h"

enum { CSV_ROWS_HELD = 1000, CSV_BYTES_HELD = 1 << 20 };

struct csv_items;

struct csv_items *csv_items_new(const char *file_name);
void csv_items_free(struct csv_items *csv);

/* Reads on at *at, up to `end`; `last`: nothing follows. False: more is wanted. */
bool csv_items_take(struct csv_items *csv, const char **at, const char *end, bool last, struct item *item,
                    enum item_result *result);
