/* cli/csv.c - comma separated values: a small machine, a byte at a time, that may be stopped anywhere. */
#include <string.h>

#include "csv.h"

enum state {
    ROW_BEGINS,
    CELL_BEGINS,
    PLAIN,
    QUOTED,
    QUOTE_IN_QUOTED, /* the end of the cell, or one half of a quote in it */
    SKIPPING,        /* the rest of a line that makes no sense */
};

static void cell_begin(struct csv *csv, bool quoted)
{
    if (csv->cell_count < CSV_CELLS_MAX)
        csv->cell[csv->cell_count] = (struct csv_cell){ .at = csv->row.size, .quoted = quoted };
}

static bool cell_end(struct csv *csv)
{
    if (csv->cell_count == CSV_CELLS_MAX)
        return false;
    csv->cell[csv->cell_count].size = csv->row.size - csv->cell[csv->cell_count].at;
    csv->cell_count++;
    return true;
}

static bool take(struct csv *csv, char byte)
{
    if (csv->row.size >= CSV_ROW_BYTES_MAX)
        return false;
    text_byte(&csv->row, byte);
    return true;
}

/* One byte that does not end a row. False: it makes no sense here. */
static bool step(struct csv *csv, char byte)
{
    switch ((enum state)csv->state) {
    case ROW_BEGINS:
    case CELL_BEGINS:
        cell_begin(csv, byte == '"');
        csv->state = byte == '"' ? QUOTED : byte == ',' ? CELL_BEGINS : PLAIN;
        if (byte == ',')
            return cell_end(csv);
        return byte == '"' || take(csv, byte);
    case PLAIN:
        if (byte == '"')
            return false;
        csv->state = byte == ',' ? CELL_BEGINS : PLAIN;
        return byte == ',' ? cell_end(csv) : take(csv, byte);
    case QUOTED:
        if (byte == '"')
            csv->state = QUOTE_IN_QUOTED;
        return byte == '"' || take(csv, byte);
    case QUOTE_IN_QUOTED:
        csv->state = byte == '"' ? QUOTED : CELL_BEGINS;
        if (byte == '"')
            return take(csv, byte);
        return byte == ',' && cell_end(csv);
    case SKIPPING:
        break;
    }
    return true;
}

/* At the end of a line that is the end of a row. */
static enum csv_result row_end(struct csv *csv)
{
    bool broken = csv->state == SKIPPING;

    if (csv->state == CELL_BEGINS)
        cell_begin(csv, false);
    if (csv->state != ROW_BEGINS && !broken)
        broken = !cell_end(csv);
    csv->state = ROW_BEGINS;
    return broken ? CSV_BROKEN : csv->cell_count ? CSV_ROW : CSV_MORE;
}

enum csv_result csv_read(struct csv *csv, const char **at, const char *end)
{
    while (*at < end) {
        char byte = *(*at)++;
        enum csv_result result;

        if (csv->state == ROW_BEGINS && csv->cell_count == 0)
            csv->row_line = csv->line;
        if (byte == '\n')
            csv->line++;
        if (byte == '\r' && csv->state != QUOTED)
            continue; /* of a line end, or by itself, where it means nothing */
        if (byte == '\n' && csv->state != QUOTED) {
            result = row_end(csv);
            if (result != CSV_MORE)
                return result;
            csv_next(csv); /* an empty line */
        } else if (!step(csv, byte)) {
            csv->state = SKIPPING;
        }
    }
    return CSV_MORE;
}

enum csv_result csv_end(struct csv *csv)
{
    if (csv->state == QUOTED) /* the file ends within quotes */
        csv->state = SKIPPING;
    return row_end(csv);
}

void csv_next(struct csv *csv)
{
    text_empty(&csv->row);
    csv->cell_count = 0;
    csv->state = ROW_BEGINS;
}

void csv_free(struct csv *csv)
{
    text_free(&csv->row);
}

void csv_write(struct text *to, const char *data, size_t size, bool quoted)
{
    if (!quoted && size == 0)
        return;
    for (size_t i = 0; i < size && !quoted; i++)
        quoted = data[i] == '"' || data[i] == ',' || data[i] == '\n' || data[i] == '\r';
    if (!quoted) {
        text_add(to, data, size);
        return;
    }
    text_byte(to, '"');
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"')
            text_byte(to, '"');
        text_byte(to, data[i]);
    }
    text_byte(to, '"');
}
