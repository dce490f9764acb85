/* src/query/run/fill.c - rows printed and put on a page, until it is full. */
#include <assert.h>

#include "keys/epk.h"
#include "query/run/fill.h"
#include "query/run/resume.h"
#include "token/token.h"

enum { PAGE_CAPACITY_FIRST = 64 };

/* ---- memory ---- */

enum status fill_alloc(struct fill *fill, size_t bytes, void *memory)
{
    void *made = arena_try_alloc(&fill->page->memory, bytes);

    *(void **)memory = made;
    return made ? ST_OK : cursor_fail(fill->cursor, ST_QUERY_MEMORY);
}

enum status fill_copy(struct fill *fill, struct slice bytes, struct slice *copy)
{
    char *memory;
    enum status st;

    TRY(fill_alloc(fill, bytes.size, &memory));
    memcpy(memory, bytes.data, bytes.size);
    *copy = slice_make(memory, bytes.size);
out:
    return st;
}

/* ---- rows as text ---- */

/* Between the members before them, of which there are some, and those behind. Says whether there are any. */
static bool print_system(struct fill *fill, struct query_row *row, bool any)
{
    struct buf *out = &fill->text;
    struct json system;

    if (!row->system.at && row->source->print_system) {
        if (any)
            buf_byte(out, ',');
        row->source->print_system(row->source, row, out);
        return true;
    }
    system = eval_system(&fill->cursor->eval, row);
    if (json_kind(system) != JSON_OBJECT) /* fill_print() tells why */
        return false;
    if (any && json_count(system))
        buf_byte(out, ',');
    return json_print_members(out, system);
}

static void print_item(struct fill *fill, struct query_row *row)
{
    struct buf *out = &fill->text;
    struct json front, back;
    bool any;

    json_split(out->arena, row->body, row->behind, &front, &back);
    buf_byte(out, '{');
    any = json_print_members(out, front);
    any |= print_system(fill, row, any);
    if (json_kind(back) == JSON_OBJECT) {
        if (any)
            buf_byte(out, ',');
        json_print_members(out, back);
    }
    buf_byte(out, '}');
}

static void print_list(struct fill *fill)
{
    struct buf *out = &fill->text;
    const struct select *select = fill->cursor->select;
    bool any = false;

    buf_byte(out, '{');
    for (size_t i = 0; i < select->item_count && !out->failed; i++) {
        struct value value = eval_expr(&fill->cursor->eval, select->item[i].expr);

        if (value.kind == JSON_UNDEFINED)
            continue;
        if (any)
            buf_byte(out, ',');
        any = true;
        json_print_string(out, select->item[i].name);
        buf_byte(out, ':');
        if (value.is_row)
            print_item(fill, value.row);
        else
            value_print(out, value);
    }
    buf_byte(out, '}');
}

/* For an outer SELECT, which computes with the row, and for those who send it in another form than text. */
static bool print_value(struct fill *fill)
{
    struct value value =
        eval_plain(&fill->cursor->eval, rows_project(&fill->cursor->eval, fill->cursor->select));
    struct json made;

    if (value.kind == JSON_UNDEFINED)
        return false;
    made = value_to_json(fill->cursor->eval.op, value);
    if (made.at)
        buf_slice(&fill->text, json_bytes(made));
    else
        fill->text.failed = true; /* there was no memory for it */
    return true;
}

static bool print_row(struct fill *fill)
{
    struct value value;

    if (fill->values)
        return print_value(fill);
    if (!fill->cursor->select->star && !fill->cursor->select->value) {
        print_list(fill);
        return true;
    }
    value = rows_project(&fill->cursor->eval, fill->cursor->select);
    if (value.kind == JSON_UNDEFINED)
        return false;
    if (value.is_row)
        print_item(fill, value.row);
    else
        value_print(&fill->text, value);
    return true;
}

enum status fill_print(struct fill *fill, bool *defined)
{
    fill->text.size = 0;
    *defined = print_row(fill);
    if (fill->text.failed)
        return cursor_fail(fill->cursor, ST_QUERY_MEMORY);
    return cursor_status(fill->cursor);
}

/* ---- the page ---- */

bool fill_skips(struct fill *fill)
{
    if (fill->at.skip == 0)
        return false;
    fill->at.skip--;
    return true;
}

static enum status grow_page(struct fill *fill)
{
    struct query_page *page = fill->page;
    size_t capacity = fill->capacity ? 2 * fill->capacity : PAGE_CAPACITY_FIRST;
    struct slice *row;
    enum status st;

    TRY(fill_alloc(fill, capacity * sizeof(*row), &row));
    if (page->count)
        memcpy(row, page->row, page->count * sizeof(*row));
    page->row = row;
    fill->capacity = capacity;
out:
    return st;
}

enum status fill_give(struct fill *fill, struct slice row, bool *given)
{
    struct query_page *page = fill->page;
    enum status st = ST_OK;

    assert(fill->at.take > 0);
    *given = false;
    if (page->count && (page->count >= fill->limits->rows || fill->bytes + row.size > fill->limits->bytes))
        return ST_OK;
    if (page->count == fill->capacity)
        TRY(grow_page(fill));
    page->row[page->count++] = row;
    fill->bytes += row.size;
    fill->at.take--;
    *given = true;
out:
    return st;
}

bool fill_ends_full(const struct fill *fill)
{
    return fill->limits->full_goes_on && !fill->nested && fill->page->count == fill->limits->rows;
}

void fill_goes_on(struct fill *fill, struct position *next)
{
    next->skip = fill->at.skip;
    next->take = fill->at.take;
    fill->page->next = position_print(&fill->page->memory, next);
}

/* ---- where it begins ---- */

static uint64_t count_of(const struct expr *count, uint64_t otherwise)
{
    return count ? (uint64_t)count->value.integer : otherwise;
}

enum row_order fill_order(const struct select *select)
{
    if (select->rank)
        return ORDER_RANKED;
    if (select->group_count || select->aggregate_count || (select->distinct && select->order_count == 0))
        return ORDER_HASH;
    return select->order_count ? ORDER_SORTED : ORDER_NUMBER;
}

/* A source, or a path below one. */
static bool is_path(const struct expr *expr)
{
    while (expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX)
        expr = expr->kid[0];
    return expr->kind == EXPR_NAME;
}

size_t fill_group_order(const struct select *select)
{
    if (select->group_count == 0)
        return 0;
    return select->order_count ? select->order_count : select->group_count == 1 && is_path(select->group[0]);
}

/* What a client sends back is a position of this query only if it could have been given by it. */
static bool position_fits(const struct fill *fill)
{
    const struct select *select = fill->cursor->select;
    enum row_order order = fill_order(select);
    bool is_ordered = select->group_count && select->order_count;

    if (fill->at.order == ORDER_SORTED)
        return fill->at.key_count &&
               fill->at.key_count == (order == ORDER_SORTED ? select->order_count : fill_group_order(select));
    if (fill->at.order == ORDER_CREATION)
        return order == ORDER_NUMBER || (order == ORDER_HASH && !is_ordered);
    return fill->at.order == order && fill->at.key_count == 0 && !is_ordered;
}

/* What a client knows of an item is its rid, which has its number in the order of ties. */
static void read_resume(struct fill *fill)
{
    struct position *resume;

    if (!fill->resume || !fill->by_creation || fill->resume->number == 0 ||
        fill->resume->number == UINT64_MAX) /* before or behind all items */
        return;
    resume = arena_alloc(&fill->cursor->eval.op->arena, sizeof(*resume));
    *resume = *fill->resume;
    resume->number = number_from_creation(resume->number);
    fill->resume = resume;
}

uint64_t fill_tie(const struct fill *fill, uint64_t number)
{
    if (!fill->by_creation || number == UINT64_MAX)
        return number;
    return number_by_creation(number);
}

/* The further of the two, where both are known whole. Rows before `resume` are left out by those who compare. */
static void go_to_resume(struct fill *fill)
{
    struct position to;

    if (!fill->resume ||
        (!fill->first && (fill->at.any_cut || !resume_is_behind(fill, fill->resume, &fill->at))))
        return;
    to = *fill->resume;
    to.skip = fill->at.skip;
    to.take = fill->at.take;
    fill->at = to;
    fill->first = false;
}

static enum status begin_at(struct fill *fill, struct slice from)
{
    const struct select *select = fill->cursor->select;

    fill->first = from.size == 0;
    if (fill->first) {
        fill->at =
            (struct position){ .order = fill_order(select),
                               .skip = count_of(select->offset, 0),
                               .take = count_of(select->top ? select->top : select->limit, UINT64_MAX) };
        return ST_OK;
    }
    if (position_parse(from, &fill->at) && position_fits(fill))
        return ST_OK;
    return continuation_malformed(fill->cursor->eval.op);
}

enum status fill_begin(struct fill *fill, struct cursor *cursor, struct slice from)
{
    enum status st;

    fill->cursor = cursor;
    *fill->page = (struct query_page){ 0 };
    cursor_memory(cursor, &fill->page->memory);
    buf_init(&fill->text, &cursor->kept);
    TRY(begin_at(fill, from));
    read_resume(fill);
    go_to_resume(fill);
out:
    return st;
}
