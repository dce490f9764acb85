/*
 * cli/items.h - the items of a file, one after another: JSON lines, a JSON array, or CSV with types.
 * Memory. One item and one buffer, however long the file is; of CSV without types also the first rows, which tell them.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum { ITEM_BYTES_MAX = 16 << 20 }; /* the service takes 2 MB; more is no item */

enum item_result {
    ITEM_FOUND,  /* a text, which may be no JSON */
    ITEM_BROKEN, /* a row of CSV that makes no sense: `why` says so, `text` is as it stands in the file */
    ITEM_END,
    ITEM_FAILED, /* the file cannot be read any further; it was told */
};

struct item {
    const char *text; /* until the next one is read */
    size_t size;
    uint64_t line; /* from 1, that it begins in */
    const char *why;
};

struct items;

/* `format`: "json", "jsonl", "csv"; NULL: what the name and the first bytes say. NULL: it was told why not. */
struct items *items_open(const char *path, const char *format);
enum item_result items_next(struct items *items, struct item *item);
void items_close(struct items *items);

uint64_t items_at(const struct items *items); /* bytes of the file, for a bar */
uint64_t items_size(const struct items *items);
