/*
 * cli/print.h - rows on their way out: as a table, as JSON, a row a line, or as CSV.
 * A table and CSV need to know their columns: those of the first PRINT_ROWS_HELD rows, which are held until then.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text.h"

enum { PRINT_ROWS_HELD = 1000 };

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_LINES, FORMAT_CSV, FORMAT_TYPED_CSV };

/* "table", "json", "jsonl", "csv", "typed-csv". False: no such format. */
bool format_find(const char *name, enum format *format);
const char *format_name(enum format format);

struct columns;

struct printer {
    FILE *out;
    enum format format;
    bool colours;  /* of the terminal that `out` is */
    bool terminal; /* control characters are spelt */
    size_t rows;
    size_t left_out; /* values of columns that came too late for CSV */
    struct columns *columns;
    struct text work;
};

void printer_open(struct printer *printer, FILE *out, enum format format);
void printer_row(struct printer *printer, const char *json, size_t size);

/* Writes what was held, and ends the array. False: something was left out or could not be written; it was told. */
bool printer_close(struct printer *printer);

/* JSON with line ends and two blanks for each level. The text is JSON. */
void print_indented(struct text *to, const char *json, size_t size, bool colours);
