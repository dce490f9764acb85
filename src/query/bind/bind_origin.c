/* src/query/bind/bind_origin.c - where in an item a value stands: through aliases, subqueries, what was put together. */
#include "query/bind/bind_private.h"

/* What an expression is: a place in an item, or something put together whose parts may be places. */
struct found {
    enum { FOUND_NOTHING, FOUND_PLACE, FOUND_MADE, FOUND_ROW } kind;
    const struct expr *made;  /* FOUND_MADE: an array or an object */
    const struct select *row; /* FOUND_ROW: the columns of a subquery */
};

static const struct found nothing = { .kind = FOUND_NOTHING }, place = { .kind = FOUND_PLACE };

static struct found find(const struct binder *b, const struct expr *expr, struct origin *origin);

static struct found add_step(struct origin *origin, struct slice step)
{
    if (origin->count == ORIGIN_STEPS_MAX)
        return nothing;
    origin->step[origin->count++] = step;
    return place;
}

static struct found find_in_rows(const struct binder *b, const struct select *select, struct origin *origin);

static struct found find_source(const struct binder *b, const struct source *source, struct origin *origin)
{
    struct found found;

    if (source->kind == SOURCE_SUBQUERY)
        return find_in_rows(b, source->select, origin);
    found =
        source->path->select ? find_in_rows(b, source->path->select, origin) : find(b, source->path, origin);
    if (source->kind == SOURCE_ITERATE)
        return found.kind == FOUND_PLACE ? add_step(origin, slice_of("[]")) : nothing;
    return found;
}

/* A row of the statement. */
static struct found find_in_rows(const struct binder *b, const struct select *select, struct origin *origin)
{
    if (select->star)
        return select->source_count == 1 ? find_source(b, &select->source[0], origin) : nothing;
    if (select->value)
        return find(b, select->item[0].expr, origin);
    return (struct found){ .kind = FOUND_ROW, .row = select };
}

static struct found find_name(const struct binder *b, const struct expr *expr, struct origin *origin)
{
    const struct source *source = b->slot[expr->slot].source;

    origin->count = 0;
    return source ? find_source(b, source, origin) : place;
}

static struct found find_part(const struct binder *b, const struct expr *made, struct value key,
                              struct origin *origin)
{
    if (made->kind == EXPR_OBJECT && key.kind == JSON_STRING)
        for (size_t i = 0; i < made->kid_count; i++)
            if (slice_equal(made->names[i], key.string))
                return find(b, made->kid[i], origin);
    if (made->kind == EXPR_ARRAY && key.kind == JSON_NUMBER && key.number >= 0 &&
        key.number < (double)made->kid_count)
        return find(b, made->kid[(size_t)key.number], origin);
    return nothing;
}

static struct found find_column(const struct binder *b, const struct select *row, struct value key,
                                struct origin *origin)
{
    if (key.kind == JSON_STRING)
        for (size_t i = 0; i < row->item_count; i++)
            if (slice_equal(row->item[i].name, key.string))
                return find(b, row->item[i].expr, origin);
    return nothing;
}

static struct found find_below(const struct binder *b, const struct expr *expr, struct value key,
                               struct origin *origin)
{
    struct found found = find(b, expr->kid[0], origin);

    if (found.kind == FOUND_MADE)
        return find_part(b, found.made, key, origin);
    if (found.kind == FOUND_ROW)
        return find_column(b, found.row, key, origin);
    if (found.kind != FOUND_PLACE)
        return nothing;
    return add_step(origin, key.kind == JSON_STRING ? key.string : slice_of("[]"));
}

static struct found find(const struct binder *b, const struct expr *expr, struct origin *origin)
{
    switch (expr->kind) {
    case EXPR_NAME:
        return find_name(b, expr, origin);
    case EXPR_MEMBER:
        return find_below(b, expr, value_string(expr->name), origin);
    case EXPR_INDEX:
        return find_below(b, expr, expr->kid[1]->value, origin);
    case EXPR_OBJECT:
    case EXPR_ARRAY:
        return (struct found){ .kind = FOUND_MADE, .made = expr };
    case EXPR_SUBQUERY:
        return expr->select->where ? nothing : find_in_rows(b, expr->select, origin);
    default:
        return nothing;
    }
}

bool bind_origin(const struct binder *b, const struct expr *expr, struct origin *origin)
{
    origin->count = 0;
    return find(b, expr, origin).kind == FOUND_PLACE;
}
