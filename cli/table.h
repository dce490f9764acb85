/* cli/table.h - the columns of rows: an aligned table, and CSV with them as its head. For print.c. */
#pragma once
#include "print.h"

struct columns *columns_new(void);
void columns_free(struct columns *columns);
void columns_row(struct printer *printer, const char *json, size_t size);
void columns_end(struct printer *printer);
