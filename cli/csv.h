/*
 * cli/csv.h - comma separated values as RFC 4180 has them: read by pieces of any size, and written.
 * A cell in quotes that is empty is an empty text; one without quotes is nothing at all.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum { CSV_CELLS_MAX = 4096, CSV_ROW_BYTES_MAX = 16 << 20 };

struct csv_cell {
    size_t at, size; /* in the row's text */
    bool quoted;
};

/* Begins as { 0 }. */
struct csv {
    struct text row; /* the cells of the row that is being read, one behind another */
    struct csv_cell cell[CSV_CELLS_MAX];
    size_t cell_count;
    size_t line, row_line; /* the line that is being read, and the one that the row began in; from 0 */
    int state;
};

enum csv_result {
    CSV_MORE, /* the piece is used up */
    CSV_ROW,  /* there is a row; csv_next() begins another */
    CSV_BROKEN /* there is a row, and it makes no sense: a quote within a cell, too many cells, too many bytes */
};

/* Reads on at *at, which is moved. */
enum csv_result csv_read(struct csv *csv, const char **at, const char *end);

/* At the end of the file: what is left. CSV_MORE: nothing. */
enum csv_result csv_end(struct csv *csv);
void csv_next(struct csv *csv);
void csv_free(struct csv *csv);

/* A cell, in quotes if it needs them. */
void csv_write(struct text *to, const char *data, size_t size, bool quoted);
