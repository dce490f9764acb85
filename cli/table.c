/* cli/table.c - the columns of rows: found in the first rows, then a table or CSV with them. */
#include <orrery.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "csv.h"
#include "table.h"

enum {
    COLUMNS_MAX = CSV_CELLS_MAX,
    CELL_WIDTH_MAX = 40, /* on a terminal; longer ones are cut */
};

enum column_type { COLUMN_EMPTY, COLUMN_STRING, COLUMN_NUMBER, COLUMN_BOOL, COLUMN_JSON };
static const char *const type_names[] = { "string", "string", "number", "bool", "json" };

struct column {
    char *name;
    size_t width;
    enum column_type type;
};

struct columns {
    struct column *column;
    size_t count;
    orrery_json *held[PRINT_ROWS_HELD];
    size_t held_count;
    bool head_is_written;
    struct text cell, line;
};

struct columns *columns_new(void)
{
    return must_alloc(sizeof(struct columns));
}

void columns_free(struct columns *columns)
{
    if (!columns)
        return;
    for (size_t i = 0; i < columns->count; i++)
        free(columns->column[i].name);
    for (size_t i = 0; i < columns->held_count; i++)
        orrery_json_free(columns->held[i]);
    free(columns->column);
    text_free(&columns->cell);
    text_free(&columns->line);
    free(columns);
}

/* ---- cells */

/* In columns of the terminal. */
static size_t width_of(const char *data, size_t size)
{
    size_t width = 0;

    while (size) {
        unsigned code = 0;
        size_t length = text_character(data, size, &code);
        int cells = length ? wcwidth((wchar_t)code) : 1;

        width += cells > 0 ? (size_t)cells : 0;
        data += length ? length : 1;
        size -= length ? length : 1;
    }
    return width;
}

/* Cut to fit, with an ellipsis. */
static void cut(struct text *cell, size_t width_max)
{
    size_t width = 0, at = 0;

    if (width_of(text_of(cell), cell->size) <= width_max)
        return;
    while (at < cell->size) {
        unsigned code = 0;
        size_t length = text_character(cell->data + at, cell->size - at, &code);
        int cells = wcwidth((wchar_t)code);

        if (width + (size_t)(cells > 0 ? cells : 0) > width_max - 1)
            break;
        width += (size_t)(cells > 0 ? cells : 0);
        at += length ? length : 1;
    }
    cell->size = at;
    text_puts(cell, "\xE2\x80\xA6");
}

/* A value's text: a string's own, of everything else the JSON. */
static void cell_text(struct text *cell, orrery_value value, bool safe)
{
    size_t size = 0;
    const char *text;
    char *printed = NULL;

    text_empty(cell);
    if (orrery_value_type(value) == ORRERY_UNDEFINED)
        return;
    if (orrery_value_type(value) == ORRERY_STRING)
        text = orrery_value_text(value, &size);
    else if (orrery_value_print(value, &printed, &size) == ORRERY_OK)
        text = printed;
    else
        return;
    if (safe)
        text_safe(cell, text, size);
    else
        text_add(cell, text, size);
    orrery_free(printed);
}

static orrery_value cell_value(orrery_value row, const struct column *column)
{
    if (orrery_value_type(row) == ORRERY_OBJECT)
        return orrery_value_member(row, column->name);
    return strcmp(column->name, "value") == 0 ? row : (orrery_value){ NULL };
}

/* ---- finding columns */

static enum column_type type_of(orrery_value value)
{
    switch (orrery_value_type(value)) {
    case ORRERY_UNDEFINED:
        return COLUMN_EMPTY;
    case ORRERY_STRING:
        return COLUMN_STRING;
    case ORRERY_NUMBER:
        return COLUMN_NUMBER;
    case ORRERY_TRUE:
    case ORRERY_FALSE:
        return COLUMN_BOOL;
    default:
        return COLUMN_JSON;
    }
}

static struct column *find(struct columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->column[i].name, name) == 0)
            return &columns->column[i];
    return NULL;
}

static struct column *find_or_add(struct columns *columns, const char *name)
{
    struct column *found = find(columns, name);

    if (found || columns->count == COLUMNS_MAX)
        return found;
    columns->column = must_resize(columns->column, (columns->count + 1) * sizeof(struct column));
    found = &columns->column[columns->count++];
    *found = (struct column){ .name = must_copy(name, strlen(name)), .width = width_of(name, strlen(name)) };
    return found;
}

static void learn_value(struct columns *columns, const char *name, orrery_value value, bool terminal)
{
    struct column *column = find_or_add(columns, name);
    enum column_type type = type_of(value);
    size_t width;

    if (!column)
        return;
    cell_text(&columns->cell, value, true);
    width = width_of(text_of(&columns->cell), columns->cell.size);
    if (terminal && width > CELL_WIDTH_MAX)
        width = CELL_WIDTH_MAX;
    if (width > column->width)
        column->width = width;
    if (column->type == COLUMN_EMPTY)
        column->type = type;
    else if (column->type != type)
        column->type = COLUMN_JSON;
}

/* Of a whole item, what the service adds to it: a table does without. */
static bool is_system(orrery_value row, const char *name)
{
    static const char *const names[] = { "_rid", "_self", "_etag", "_attachments", "_ts" };

    if (name[0] != '_' || orrery_value_type(orrery_value_member(row, "_self")) != ORRERY_STRING)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void learn(const struct printer *printer, orrery_value row)
{
    struct columns *columns = printer->columns;
    bool terminal = printer->terminal;
    const char *name;
    orrery_value value;

    if (orrery_value_type(row) != ORRERY_OBJECT) {
        learn_value(columns, "value", row, terminal);
        return;
    }
    for (size_t at = 0; orrery_value_next(row, &at, &name, &value);)
        if (printer->format != FORMAT_TABLE || !is_system(row, name))
            learn_value(columns, name, value, terminal);
}

/* ---- a table */

static void pad(struct text *line, const char *cell, size_t size, const struct column *column, bool right)
{
    size_t width = width_of(cell, size), blanks = column->width > width ? column->width - width : 0;

    for (size_t i = 0; i < blanks && right; i++)
        text_byte(line, ' ');
    text_add(line, cell, size);
    for (size_t i = 0; i < blanks && !right; i++)
        text_byte(line, ' ');
}

static void write_line(struct printer *printer)
{
    struct text *line = &printer->columns->line;

    while (line->size && line->data[line->size - 1] == ' ')
        line->size--;
    fwrite(text_of(line), 1, line->size, printer->out);
    putc('\n', printer->out);
    text_empty(line);
}

static void table_head(struct printer *printer)
{
    struct columns *columns = printer->columns;

    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = &columns->column[i];

        text_puts(&columns->line, i ? "  " : "");
        text_empty(&columns->cell);
        text_safe(&columns->cell, column->name, strlen(column->name));
        pad(&columns->line, text_of(&columns->cell), columns->cell.size, column,
            column->type == COLUMN_NUMBER);
    }
    if (printer->colours)
        fputs("\033[1m", printer->out);
    write_line(printer);
    if (printer->colours)
        fputs("\033[0m", printer->out);
    for (size_t i = 0; i < columns->count; i++) {
        text_puts(&columns->line, i ? "  " : "");
        for (size_t width = 0; width < columns->column[i].width; width++)
            text_byte(&columns->line, '-');
    }
    write_line(printer);
}

static void table_row(struct printer *printer, orrery_value row)
{
    struct columns *columns = printer->columns;

    for (size_t i = 0; i < columns->count; i++) {
        orrery_value value = cell_value(row, &columns->column[i]);

        text_puts(&columns->line, i ? "  " : "");
        cell_text(&columns->cell, value, true);
        if (printer->terminal)
            cut(&columns->cell, CELL_WIDTH_MAX);
        pad(&columns->line, text_of(&columns->cell), columns->cell.size, &columns->column[i],
            orrery_value_type(value) == ORRERY_NUMBER);
    }
    write_line(printer);
}

/* ---- CSV */

static void csv_head(struct printer *printer)
{
    struct columns *columns = printer->columns;

    for (size_t i = 0; i < columns->count; i++) {
        struct column *column = &columns->column[i];

        text_puts(&columns->line, i ? "," : "");
        text_empty(&columns->cell);
        text_puts(&columns->cell, column->name);
        if (printer->format == FORMAT_TYPED_CSV)
            text_printf(&columns->cell, ":%s", type_names[column->type]);
        csv_write(&columns->line, text_of(&columns->cell), columns->cell.size, columns->cell.size == 0);
    }
    text_byte(&columns->line, '\n');
    fwrite(text_of(&columns->line), 1, columns->line.size, printer->out);
    text_empty(&columns->line);
}

static void csv_cell(struct printer *printer, const struct column *column, orrery_value value)
{
    struct columns *columns = printer->columns;
    bool as_json = printer->format == FORMAT_TYPED_CSV && column->type == COLUMN_JSON;
    bool is_string = orrery_value_type(value) == ORRERY_STRING;
    char *printed = NULL;
    size_t size;

    if (!as_json) {
        cell_text(&columns->cell, value, printer->terminal);
        csv_write(&columns->line, text_of(&columns->cell), columns->cell.size,
                  is_string && columns->cell.size == 0);
    } else if (orrery_value_type(value) != ORRERY_UNDEFINED &&
               orrery_value_print(value, &printed, &size) == ORRERY_OK) {
        csv_write(&columns->line, printed, size, false);
        orrery_free(printed);
    }
}

/* Members that have no column; of typed CSV, values that are not of their column's type as well. */
static size_t strangers(struct printer *printer, orrery_value row)
{
    const char *name;
    orrery_value value;
    size_t count = 0;

    if (orrery_value_type(row) != ORRERY_OBJECT)
        return find(printer->columns, "value") ? 0 : 1;
    for (size_t at = 0; orrery_value_next(row, &at, &name, &value);) {
        struct column *column = find(printer->columns, name);

        if (!column || (printer->format == FORMAT_TYPED_CSV && column->type != COLUMN_JSON &&
                        column->type != type_of(value)))
            count++;
    }
    return count;
}

static void csv_row(struct printer *printer, orrery_value row)
{
    struct columns *columns = printer->columns;

    for (size_t i = 0; i < columns->count; i++) {
        orrery_value value = cell_value(row, &columns->column[i]);

        text_puts(&columns->line, i ? "," : "");
        if (printer->format == FORMAT_CSV || columns->column[i].type == COLUMN_JSON ||
            type_of(value) == columns->column[i].type)
            csv_cell(printer, &columns->column[i], value);
    }
    text_byte(&columns->line, '\n');
    fwrite(text_of(&columns->line), 1, columns->line.size, printer->out);
    text_empty(&columns->line);
    printer->left_out += strangers(printer, row);
}

/* ---- rows */

static void write_row(struct printer *printer, orrery_value row)
{
    if (printer->format == FORMAT_TABLE)
        table_row(printer, row);
    else
        csv_row(printer, row);
}

static void write_held(struct printer *printer)
{
    struct columns *columns = printer->columns;

    if (columns->count && printer->format == FORMAT_TABLE)
        table_head(printer);
    else if (columns->count)
        csv_head(printer);
    columns->head_is_written = true;
    for (size_t i = 0; i < columns->held_count; i++) {
        write_row(printer, orrery_json_root(columns->held[i]));
        orrery_json_free(columns->held[i]);
    }
    columns->held_count = 0;
}

void columns_row(struct printer *printer, const char *json, size_t size)
{
    struct columns *columns = printer->columns;
    orrery_json *row = NULL;

    if (orrery_json_parse(json, size, &row) != ORRERY_OK)
        return;
    if (columns->head_is_written) {
        write_row(printer, orrery_json_root(row));
        orrery_json_free(row);
        return;
    }
    learn(printer, orrery_json_root(row));
    columns->held[columns->held_count++] = row;
    if (columns->held_count == PRINT_ROWS_HELD)
        write_held(printer);
}

void columns_end(struct printer *printer)
{
    if (!printer->columns->head_is_written)
        write_held(printer);
}
