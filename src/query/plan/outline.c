/* src/query/plan/outline.c - the paths that a statement looks at, and what for. */
#include <assert.h>

#include "query/bind/fold.h"
#include "query/outline.h"
#include "query/plan/item_path.h"
#include "query/text/print.h"

struct walk {
    struct op *op;
    struct query_outline *outline;
    const struct alias *aliases;
    enum status status;
};

static void walk_select(struct walk *walk, const struct select *select, unsigned rows_use);

static struct slice print_path(struct op *op, const struct item_path *path)
{
    struct buf out;

    buf_init(&out, &op->arena);
    for (size_t i = 0; i < path->count && out.size < OUTLINE_PATH_BYTES_MAX; i++) {
        buf_byte(&out, '/');
        if (path->step[i].element)
            buf_text(&out, "[]");
        else
            buf_slice(&out, path->step[i].name);
    }
    return out.failed || out.size > OUTLINE_PATH_BYTES_MAX ? (struct slice){ 0 } : buf_as_slice(&out);
}

static struct outline_path *find_path(struct query_outline *outline, struct slice text)
{
    for (size_t i = 0; i < outline->path_count; i++)
        if (slice_equal(outline->path[i].path, text))
            return &outline->path[i];
    if (outline->path_count == OUTLINE_PATHS_MAX)
        return NULL;
    outline->path[outline->path_count] = (struct outline_path){ .path = text };
    return &outline->path[outline->path_count++];
}

static void note(struct walk *walk, const struct item_path *path, unsigned use, struct json equal)
{
    struct query_outline *outline = walk->outline;
    struct outline_path *noted;
    struct slice text;

    if (path->count == 0) {
        outline->reads_whole |= (use & USE_READ) != 0;
        return;
    }
    text = print_path(walk->op, path);
    noted = text.data ? find_path(outline, text) : NULL;
    if (!noted) {
        outline->is_partial = true;
        return;
    }
    if (json_kind(noted->equal) == JSON_UNDEFINED)
        noted->equal = equal;
    noted->use |= use;
}

/* True when it was a path, and has been noted. */
static bool note_path(struct walk *walk, const struct expr *expr, unsigned use, struct json equal)
{
    struct item_path path;

    item_path_begin(&path);
    if (!item_path_of(walk->aliases, expr, &path))
        return false;
    note(walk, &path, use, equal);
    return true;
}

/* A group's key that stands elsewhere, too, is taken from the group: the path is the one that is written there. */
static bool is_group_key(const struct expr *expr)
{
    return expr->instead && expr->instead->kind == EXPR_RESULT;
}

static void walk_expr(struct walk *walk, const struct expr *expr, unsigned use)
{
    struct expr written = *expr;
    struct value value;

    if (is_group_key(expr)) {
        written.instead = NULL;
        expr = &written;
    }
    if (fold_constant(expr, &value) || note_path(walk, expr, use, json_undefined))
        return;
    if (expr->select)
        walk_select(walk, expr->select, use);
    for (size_t i = 0; i < expr->kid_count; i++)
        walk_expr(walk, expr->kid[i], use);
}

/* ---- the filter ---- */

static bool is_comparison(enum operator_kind operation)
{
    return operation == OPERATOR_EQUAL || operation == OPERATOR_LESS || operation == OPERATOR_LESS_EQUAL ||
           operation == OPERATOR_GREATER || operation == OPERATOR_GREATER_EQUAL;
}

/* path = value, value < path: what every row must have. False: it is none. */
static bool walk_comparison(struct walk *walk, const struct expr *expr)
{
    unsigned use = expr->operation == OPERATOR_EQUAL ? USE_EQUAL : USE_RANGE;

    if (expr->kid_count != 2)
        return false;
    for (size_t i = 0; i < 2; i++) {
        struct value value;

        if (fold_constant(expr->kid[1 - i], &value))
            return note_path(walk, expr->kid[i], use,
                             use == USE_EQUAL ? value_to_json(walk->op, value) : json_undefined);
    }
    return false;
}

static bool are_constant(struct expr *const *kid, size_t count)
{
    struct value value;

    for (size_t i = 0; i < count; i++)
        if (!fold_constant(kid[i], &value))
            return false;
    return true;
}

/* IN and BETWEEN with values; a list of one is as good as =. */
static bool walk_list(struct walk *walk, const struct expr *expr)
{
    bool is_in = expr->kind == EXPR_IN;
    struct value value;

    if (expr->negated || !are_constant(expr->kid + 1, expr->kid_count - 1))
        return false;
    if (is_in && expr->kid_count == 2 && fold_constant(expr->kid[1], &value))
        return note_path(walk, expr->kid[0], USE_EQUAL, value_to_json(walk->op, value));
    return note_path(walk, expr->kid[0], is_in ? USE_EQUAL : USE_RANGE, json_undefined);
}

static void walk_where(struct walk *walk, const struct expr *expr)
{
    struct value value;

    if (fold_constant(expr, &value))
        return;
    if (expr->kind == EXPR_BINARY && expr->operation == OPERATOR_AND) {
        for (size_t i = 0; i < expr->kid_count; i++)
            walk_where(walk, expr->kid[i]);
        return;
    }
    if (expr->kind == EXPR_BINARY && is_comparison(expr->operation) && walk_comparison(walk, expr))
        return;
    if ((expr->kind == EXPR_IN || expr->kind == EXPR_BETWEEN) && walk_list(walk, expr))
        return;
    walk_expr(walk, expr, USE_FILTER);
}

/* ---- statements ---- */

static void walk_sources(struct walk *walk, const struct select *select, struct alias *alias)
{
    for (size_t i = 0; i < select->source_count; i++) {
        const struct source *source = &select->source[i];

        if (source->kind == SOURCE_SUBQUERY)
            walk_select(walk, source->select, USE_FILTER);
        else if (source->kind == SOURCE_ITERATE)
            walk_expr(walk, source->path, USE_ITERATE);
        alias[i] = (struct alias){ walk->aliases, source };
        walk->aliases = &alias[i];
    }
}

static void walk_select(struct walk *walk, const struct select *select, unsigned rows_use)
{
    const struct alias *outer = walk->aliases;
    struct alias *alias = arena_try_alloc(&walk->op->arena, (select->source_count + 1) * sizeof(*alias));

    if (!alias) {
        walk->status = ST_QUERY_MEMORY;
        return;
    }
    walk_sources(walk, select, alias);
    for (size_t i = 0; i < select->item_count && !select->star; i++)
        walk_expr(walk, select->item[i].expr, rows_use | (select->distinct ? USE_GROUP : 0));
    walk->outline->reads_whole |= select->star && rows_use & USE_READ;
    if (select->where)
        walk_where(walk, select->where);
    for (size_t i = 0; i < select->group_count; i++)
        walk_expr(walk, select->group[i], USE_GROUP);
    for (size_t i = 0; i < select->order_count; i++)
        walk_expr(walk, select->order[i].expr, USE_ORDER);
    walk->aliases = outer;
}

enum status query_outline(struct op *op, const struct select *select, struct query_outline *outline)
{
    struct walk walk = { .op = op, .outline = outline, .status = ST_OK };
    struct buf text;

    *outline = (struct query_outline){ .aggregates = select->aggregate_count > 0 };
    buf_init(&text, &op->arena);
    query_print_outline(&text, select);
    walk_select(&walk, select, USE_READ);
    outline->text = buf_as_slice(&text);
    return text.failed ? ST_QUERY_MEMORY : walk.status;
}
