/*
 * src/main/migration.h - from an older format of the data directory to the present one.
 * docs/migration.md says when a format changes and how a step is written.
 *
 * Promises
 * 1. The directory's format is written after its step, never before: a step that was interrupted
 *    anywhere is run again from its beginning.
 * 2. What has no way to the present format is refused and left as it is.
 */
#pragma once
#include "base/op.h"

struct directory;

/*
 * A step from one format to the next. The caller holds the directory's lock, and the store is closed. It must be
 * possible to run a step again, after it was cut off anywhere and after it was done.
 */
struct migration {
    int from;
    const char *about; /* for the log: "packs the index" */
    enum status (*run)(struct op *op, const struct directory *directory);
};

struct formats {
    int present;
    const struct migration *steps; /* in any order, one from each format that can still be read */
    size_t step_count;
};

/* The steps, one file each. */
enum status migrate_from_1(struct op *op, const struct directory *directory);

/* This program's own. */
extern const struct formats formats_known;

/* Brings a directory of that format to the present one, step by step. */
enum status migrate(struct op *op, const struct formats *formats, const struct directory *directory,
                    int format);
