/* cli/csv_items.c - rows of CSV as items: the head, the types of columns, and a row as JSON. */
#include <orrery.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "csv.h"
#include "csv_items.h"

enum column_type { TYPE_UNKNOWN, TYPE_STRING, TYPE_NUMBER, TYPE_BOOL, TYPE_JSON, TYPE_IGNORE };
static const char *const type_names[] = { "", "string", "number", "bool", "json", "ignore" };

struct column {
    struct text name; /* as a JSON string */
    enum column_type type;
    bool guessed;
};

/* A row that waits until the types are known. */
struct held {
    struct text row;
    struct csv_cell *cell;
    size_t cell_count, line;
    bool broken;
};

struct csv_items {
    const char *file_name;
    struct csv csv;
    struct column *column;
    size_t column_count;
    bool has_head, types_known;
    bool head_is_new; /* the row that is being taken is the head */
    struct held *held;
    size_t held_count, held_bytes, next_held;
    struct text json;
};

struct csv_items *csv_items_new(const char *file_name)
{
    struct csv_items *csv = must_alloc(sizeof(*csv));

    csv->file_name = file_name;
    csv->held = must_alloc(CSV_ROWS_HELD * sizeof(*csv->held));
    return csv;
}

static void held_free(struct held *held)
{
    text_free(&held->row);
    free(held->cell);
    *held = (struct held){ 0 };
}

void csv_items_free(struct csv_items *csv)
{
    if (!csv)
        return;
    for (size_t i = 0; i < csv->column_count; i++)
        text_free(&csv->column[i].name);
    for (size_t i = 0; i < csv->held_count; i++)
        held_free(&csv->held[i]);
    free(csv->column);
    free(csv->held);
    csv_free(&csv->csv);
    text_free(&csv->json);
    free(csv);
}

/* ---- cells */

static bool is_number(const char *text, size_t size)
{
    orrery_json *json = NULL;
    bool is = size && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
              orrery_json_parse(text, size, &json) == ORRERY_OK &&
              orrery_value_type(orrery_json_root(json)) == ORRERY_NUMBER;

    orrery_json_free(json);
    return is;
}

static bool is_bool(const char *text, size_t size)
{
    return (size == 4 && memcmp(text, "true", 4) == 0) || (size == 5 && memcmp(text, "false", 5) == 0);
}

static bool is_json(const char *text, size_t size)
{
    orrery_json *json = NULL;
    bool is = orrery_json_parse(text, size, &json) == ORRERY_OK;

    orrery_json_free(json);
    return is;
}

/* False: the cell is not of its column's type. */
static bool cell_fits(enum column_type type, const char *text, size_t size)
{
    switch (type) {
    case TYPE_NUMBER:
        return is_number(text, size);
    case TYPE_BOOL:
        return is_bool(text, size);
    case TYPE_JSON:
        return is_json(text, size);
    default:
        return true;
    }
}

/* ---- the head */

static enum column_type type_named(const char *name, size_t size)
{
    for (size_t i = TYPE_STRING; i <= TYPE_IGNORE; i++)
        if (strlen(type_names[i]) == size && memcmp(type_names[i], name, size) == 0)
            return (enum column_type)i;
    return TYPE_UNKNOWN;
}

static void read_column(struct column *column, const char *text, size_t size)
{
    const char *colon = memrchr(text, ':', size);

    *column = (struct column){ 0 };
    if (colon)
        column->type = type_named(colon + 1, size - (size_t)(colon + 1 - text));
    text_json(&column->name, text, column->type ? (size_t)(colon - text) : size);
}

/* The name of a column that comes twice; NULL: there is none. */
static const char *find_twice(const struct csv_items *csv)
{
    for (size_t i = 0; i < csv->column_count; i++)
        for (size_t j = 0; j < i && csv->column[i].type != TYPE_IGNORE; j++)
            if (csv->column[j].type != TYPE_IGNORE &&
                strcmp(text_of(&csv->column[i].name), text_of(&csv->column[j].name)) == 0)
                return text_of(&csv->column[i].name);
    return NULL;
}

static void read_head(struct csv_items *csv)
{
    csv->column = must_alloc(csv->csv.cell_count * sizeof(*csv->column));
    csv->types_known = true;
    for (size_t i = 0; i < csv->csv.cell_count; i++) {
        const struct csv_cell *cell = &csv->csv.cell[i];

        read_column(&csv->column[i], text_of(&csv->csv.row) + cell->at, cell->size);
        csv->types_known = csv->types_known && csv->column[i].type != TYPE_UNKNOWN;
    }
    csv->column_count = csv->csv.cell_count;
    csv->has_head = true;
}

/* ---- types that nobody named */

static void hold(struct csv_items *csv, bool broken)
{
    struct held *held = &csv->held[csv->held_count++];

    *held = (struct held){ .cell_count = csv->csv.cell_count, .line = csv->csv.row_line, .broken = broken };
    text_add(&held->row, text_of(&csv->csv.row), csv->csv.row.size);
    held->cell = must_resize(NULL, held->cell_count * sizeof(struct csv_cell));
    memcpy(held->cell, csv->csv.cell, held->cell_count * sizeof(struct csv_cell));
    csv->held_bytes += held->row.size;
}

/* Digits with a zero in front are no number: it would be lost. */
static enum column_type guess_cell(const struct held *held, size_t at)
{
    const struct csv_cell *cell = &held->cell[at];
    const char *text = text_of(&held->row) + cell->at;

    if (cell->quoted)
        return TYPE_STRING;
    if (is_bool(text, cell->size))
        return TYPE_BOOL;
    return is_number(text, cell->size) ? TYPE_NUMBER : TYPE_STRING;
}

/* An id is a text, whatever it looks like. */
static void guess_column(struct csv_items *csv, size_t at)
{
    bool is_id = strcmp(text_of(&csv->column[at].name), "\"id\"") == 0;
    enum column_type type = is_id ? TYPE_STRING : TYPE_UNKNOWN;

    for (size_t i = 0; i < csv->held_count; i++) {
        const struct held *held = &csv->held[i];
        enum column_type got;

        if (held->broken || at >= held->cell_count || (held->cell[at].size == 0 && !held->cell[at].quoted))
            continue;
        got = guess_cell(held, at);
        type = type == TYPE_UNKNOWN || type == got ? got : TYPE_STRING;
    }
    csv->column[at].type = type == TYPE_UNKNOWN ? TYPE_STRING : type;
    csv->column[at].guessed = true;
}

static void guess(struct csv_items *csv)
{
    struct text told = { 0 };

    for (size_t i = 0; i < csv->column_count; i++) {
        if (csv->column[i].type != TYPE_UNKNOWN)
            continue;
        guess_column(csv, i);
        text_printf(&told, "%s%s is %s", told.size ? ", " : "", text_of(&csv->column[i].name),
                    type_names[csv->column[i].type]);
    }
    tell("%s: from the first %zu rows, %s. A head of name:type says otherwise", csv->file_name,
         csv->held_count, text_of(&told));
    csv->types_known = true;
    text_free(&told);
}

/* ---- a row */

static enum item_result broken(struct csv_items *csv, const struct held *row, struct item *item,
                               const char *why)
{
    text_empty(&csv->json);
    text_add(&csv->json, text_of(&row->row), row->row.size);
    item->text = text_of(&csv->json);
    item->size = csv->json.size;
    item->why = why;
    return ITEM_BROKEN;
}

static void add_cell(struct text *json, enum column_type type, const char *text, size_t size)
{
    if (type == TYPE_STRING)
        text_json(json, text, size);
    else
        text_add(json, text, size);
}

static enum item_result make_item(struct csv_items *csv, const struct held *row, struct item *item)
{
    bool first = true;

    item->line = row->line + 1;
    if (row->broken)
        return broken(csv, row, item, "this is no row of CSV");
    if (row->cell_count > csv->column_count)
        return broken(csv, row, item, "the row has more cells than the head");
    text_empty(&csv->json);
    text_byte(&csv->json, '{');
    for (size_t i = 0; i < row->cell_count; i++) {
        const struct csv_cell *cell = &row->cell[i];
        const struct column *column = &csv->column[i];
        const char *text = text_of(&row->row) + cell->at;

        if ((cell->size == 0 && !cell->quoted) || column->type == TYPE_IGNORE)
            continue;
        if (!cell_fits(column->type, text, cell->size))
            return broken(csv, row, item, "a cell is not of its column's type");
        text_printf(&csv->json, "%s%s:", first ? "" : ",", text_of(&column->name));
        add_cell(&csv->json, column->type, text, cell->size);
        first = false;
    }
    text_byte(&csv->json, '}');
    item->text = text_of(&csv->json);
    item->size = csv->json.size;
    return ITEM_FOUND;
}

/* The row that was just read, as one that is held. It borrows. */
static struct held just_read(struct csv_items *csv, bool is_broken)
{
    return (struct held){ csv->csv.row, csv->csv.cell, csv->csv.cell_count, csv->csv.row_line, is_broken };
}

static bool give_held(struct csv_items *csv, struct item *item, enum item_result *result)
{
    struct held *held;

    if (!csv->types_known || csv->next_held == csv->held_count)
        return false;
    held = &csv->held[csv->next_held++];
    *result = make_item(csv, held, item);
    held_free(held);
    return true;
}

static bool held_is_full(const struct csv_items *csv)
{
    return csv->held_count == CSV_ROWS_HELD || csv->held_bytes >= CSV_BYTES_HELD;
}

/* False: it was told what is wrong with it. */
static bool take_head(struct csv_items *csv, bool is_broken)
{
    const char *twice;

    if (is_broken) {
        tell("%s: its first line is no head of CSV", csv->file_name);
        return false;
    }
    read_head(csv);
    csv->head_is_new = true;
    twice = find_twice(csv);
    if (twice)
        tell("%s: two columns are named %s", csv->file_name, twice);
    return !twice;
}

/* One row. False: it gave no item. */
static bool take_row(struct csv_items *csv, bool is_broken, struct item *item, enum item_result *result)
{
    struct held row = just_read(csv, is_broken);
    bool gives = csv->has_head && csv->types_known;

    if (!csv->has_head && !take_head(csv, is_broken)) {
        *result = ITEM_FAILED;
        return true;
    }
    if (csv->head_is_new)
        csv->head_is_new = false;
    else if (!csv->types_known)
        hold(csv, is_broken);
    else
        *result = make_item(csv, &row, item);
    if (!csv->types_known && held_is_full(csv))
        guess(csv);
    csv_next(&csv->csv);
    return gives;
}

bool csv_items_take(struct csv_items *csv, const char **at, const char *end, bool last, struct item *item,
                    enum item_result *result)
{
    for (;;) {
        enum csv_result got;

        if (give_held(csv, item, result))
            return true;
        got = csv_read(&csv->csv, at, end);
        if (got == CSV_MORE && last)
            got = csv_end(&csv->csv);
        if (got != CSV_MORE) {
            if (take_row(csv, got == CSV_BROKEN, item, result))
                return true;
            continue;
        }
        if (!last)
            return false;
        if (!csv->types_known && csv->held_count) {
            guess(csv);
            continue;
        }
        *result = ITEM_END;
        return true;
    }
}
