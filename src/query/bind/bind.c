/* src/query/bind/bind.c - a statement and its clauses: which names are visible where, what each column is called. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/eval/hashes.h"

/* Which clauses have no place in a subquery. */
static enum status check_subquery(struct binder *b, const struct select *select)
{
    if (b->depth == 0)
        return ST_OK;
    if (select->order_count && select->rank)
        return mistake(b->op, select->order_span, "SC2228",
                       "'ORDER BY RANK' is not supported in subqueries.");
    if (select->order_count)
        return mistake(b->op, select->order_span, "SC2202", "'ORDER BY' is not supported in subqueries.");
    if (select->top)
        return mistake(b->op, select->top_span, "SC2203", "'TOP' is not supported in subqueries.");
    if (select->offset)
        return mistake(b->op, select->limit_span, "SC2204",
                       "'OFFSET LIMIT' clause is not supported in subqueries.");
    return ST_OK;
}

static struct expr *root_of_path(struct expr *path)
{
    while (path->kind == EXPR_MEMBER || path->kind == EXPR_INDEX)
        path = path->kid[0];
    return path;
}

/*
 * A path in FROM begins with a source that is visible or, in the first FROM of all, with any name:
 * that is the container's, whatever it is called.
 */
static enum status bind_path(struct binder *b, struct source *source, const struct visible *names,
                             bool may_be_root)
{
    struct expr *root = root_of_path(source->path);
    struct visible container = { .slot = SLOT_ROOT };

    if (may_be_root && root->kind == EXPR_NAME) {
        container.name = root->name;
        names = &container;
        b->bound->scans = true;
    }
    return bind_expr(b, source->path, names, IN_FILTER);
}

static enum status too_many_sources(struct binder *b)
{
    return op_fail(b->op, ST_BAD_REQUEST, "The query has too many sources.");
}

static enum status bind_source(struct binder *b, struct source *source, const struct visible *names,
                               bool may_be_root)
{
    struct select *outer = b->select;
    enum status st;

    if (b->bound->slots >= QUERY_SLOTS_MAX)
        return too_many_sources(b);
    if (source->kind == SOURCE_SUBQUERY) {
        b->depth++;
        st = bind_select(b, source->select, may_be_root ? NULL : names, may_be_root);
        b->depth--;
        b->select = outer;
    } else {
        st = bind_path(b, source, names, may_be_root);
    }
    if (st == ST_OK && b->bound->slots > QUERY_SLOTS_MAX) /* the subquery has taken those that were left */
        return too_many_sources(b);
    source->slot = b->bound->slots++;
    return st;
}

/* Whether the source's value is a whole item: by its name, or through a subquery that gives it. */
static bool gives_item(const struct binder *b, const struct source *source)
{
    const struct select *select = source->select;

    assert((source->kind == SOURCE_SUBQUERY) == (select != NULL));
    if (source->kind == SOURCE_PATH)
        return source->path->kind == EXPR_NAME && b->is_item[source->path->slot];
    if (source->kind != SOURCE_SUBQUERY)
        return false;
    if (select->star)
        return b->is_item[select->source[0].slot];
    return select->value && select->item[0].expr->kind == EXPR_NAME && b->is_item[select->item[0].expr->slot];
}

static enum status check_alias(struct binder *b, const struct select *select, size_t i)
{
    const struct source *source = &select->source[i];

    for (size_t k = 0; k < i; k++)
        if (source->alias.size && slice_equal(select->source[k].alias, source->alias))
            return mistake(b->op, source->alias_span, "SC2003",
                           "The input alias '%.*s' is specified more than once in the FROM clause.",
                           SLICE_ARGS(source->alias));
    return ST_OK;
}

/* `names` becomes what is visible behind the FROM clause. */
static enum status bind_from(struct binder *b, struct select *select, const struct visible **names,
                             bool may_be_root)
{
    enum status st = ST_OK;

    if (select->source_count > QUERY_JOINS_MAX + 1)
        TRY(mistake(b->op, b->whole, "SC3004",
                    "The SQL query exceeded the maximum number of joins. The allowed limit is %d.",
                    QUERY_JOINS_MAX));
    for (size_t i = 0; i < select->source_count; i++) {
        struct source *source = &select->source[i];
        struct visible *name = arena_alloc(&b->op->arena, sizeof(*name));

        TRY(check_alias(b, select, i));
        TRY(bind_source(b, source, *names, may_be_root && i == 0));
        assert(source->slot > SLOT_ROOT);
        assert((size_t)source->slot < sizeof(b->is_item) / sizeof(b->is_item[0]));
        *name = (struct visible){ *names, source->alias, source->slot };
        b->is_item[source->slot] = gives_item(b, source);
        *names = name;
    }
out:
    return st;
}

static struct slice numbered_name(struct op *op, int number)
{
    struct buf name;

    buf_init(&name, &op->arena);
    buf_printf(&name, "$%d", number);
    return buf_as_slice(&name);
}

/* The alias, the last step of a path, or $1, $2 ... among those without either. */
static void name_columns(struct binder *b, struct select *select)
{
    int unnamed = 0;

    for (size_t i = 0; i < select->item_count; i++) {
        struct select_item *item = &select->item[i];
        struct expr *expr = item->expr;

        if (item->alias.size)
            item->name = item->alias;
        else if (expr->kind == EXPR_MEMBER || expr->kind == EXPR_NAME)
            item->name = expr->name;
        else if (expr->kind == EXPR_INDEX && expr->kid[1]->value.kind == JSON_STRING)
            item->name = expr->kid[1]->value.string;
        else
            item->name = numbered_name(b->op, ++unnamed);
    }
}

static enum status check_columns(struct binder *b, const struct select *select)
{
    struct hashes seen = { .memory = &b->op->arena };

    for (size_t i = 0; i < select->item_count && !select->value; i++)
        if (hashes_add(&seen, murmur3_128(select->item[i].name.data, select->item[i].name.size)) == 0)
            return mistake(b->op, select->item[i].span, "SC2010",
                           "The property name '%.*s' is specified more than once in the select list.",
                           SLICE_ARGS(select->item[i].name));
    return ST_OK;
}

static enum status check_star(struct binder *b, const struct select *select)
{
    if (!select->star)
        return ST_OK;
    if (select->source_count == 0)
        return mistake(b->op, select->star_span, "SC2030",
                       "'SELECT *' is not valid if FROM clause is omitted.");
    if (select->source_count > 1)
        return mistake(b->op, select->star_span, "SC2040",
                       "'SELECT *' is only valid with a single input set.");
    if (select->group_count)
        return mistake(b->op, select->star_span, "SC2041", "'SELECT *' is not allowed with GROUP BY.");
    return ST_OK;
}

static enum status bind_list(struct binder *b, struct select *select, const struct visible *names)
{
    enum status st;

    TRY(check_star(b, select));
    for (size_t i = 0; i < select->item_count; i++)
        TRY(bind_expr(b, select->item[i].expr, names, IN_SELECT));
    name_columns(b, select);
    TRY(check_columns(b, select));
out:
    return st;
}

static enum status bind_count(struct binder *b, struct expr *count, const char *clause, const char *code)
{
    enum status st;

    if (!count)
        return ST_OK;
    TRY(bind_expr(b, count, NULL, IN_FILTER));
    if (count->value.kind != JSON_NUMBER || !count->value.is_int || count->value.integer < 0 ||
        (count->value.integer > UINT32_MAX && strcmp(clause, "TOP") == 0))
        TRY(mistake(b->op, count->span, code, "The count value provided for a %s clause must be an integer.",
                    clause));
    if (count->value.integer > UINT32_MAX)
        TRY(mistake(b->op, count->span, code, "The %s count value exceeds the maximum allowed value.",
                    clause));
out:
    return st;
}

static enum status bind_counts(struct binder *b, struct select *select)
{
    enum status st;

    if (select->top && select->offset)
        TRY(mistake(b->op, select->limit_span, "SC2990",
                    "'TOP' and 'OFFSET LIMIT' may not be used together."));
    TRY(bind_count(b, select->top, "TOP", "SC2060"));
    TRY(bind_count(b, select->limit, "LIMIT", "SC2061"));
    TRY(bind_count(b, select->offset, "OFFSET", "SC2062"));
out:
    return st;
}

/* The subquery in FROM gathers rows of many items: it cannot be answered item by item. */
static bool gathers(const struct select *select)
{
    return select->distinct || select->group_count || select->aggregate_count || select->whole;
}

enum status bind_select(struct binder *b, struct select *select, const struct visible *outer,
                        bool may_be_root)
{
    const struct visible *names = outer;
    enum status st;

    assert(!select->value || select->item_count == 1);
    assert(!may_be_root || !outer); /* the first FROM of all stands inside no row */
    b->select = select;
    TRY(check_subquery(b, select));
    TRY(bind_from(b, select, &names, may_be_root));
    b->select = select;
    if (select->where)
        TRY(bind_expr(b, select->where, names, IN_FILTER));
    for (size_t i = 0; i < select->group_count; i++)
        TRY(bind_expr(b, select->group[i], names, IN_FILTER));
    TRY(bind_list(b, select, names));
    for (size_t i = 0; i < select->order_count; i++)
        TRY(bind_expr(b, select->order[i].expr, names, IN_FILTER));
    TRY(bind_counts(b, select));
    TRY(bind_groups(b, select));
    TRY(bind_order(b, select));
    if (may_be_root && select->source_count && select->source[0].kind == SOURCE_SUBQUERY && b->bound->scans)
        select->whole = gathers(select->source[0].select);
out:
    return st;
}

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct parameter *)a)->name, ((const struct parameter *)b)->name);
}

/* Sorted by name, so that a query with thousands of them is bound quickly. */
static enum status read_parameters(struct binder *b, struct json list)
{
    if (json_kind(list) != JSON_ARRAY)
        return ST_OK;
    b->parameter = arena_alloc(&b->op->arena, json_count(list) * sizeof(*b->parameter));
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct json name = json_get(i.value, "name");

        if (json_kind(name) != JSON_STRING)
            return op_fail(b->op, ST_BAD_REQUEST, "Invalid query. A parameter has no name.");
        b->parameter[b->parameter_count++] =
            (struct parameter){ json_string(name), value_from_json(json_get(i.value, "value")) };
    }
    qsort(b->parameter, b->parameter_count, sizeof(*b->parameter), by_name);
    for (size_t i = 1; i < b->parameter_count; i++)
        if (slice_equal(b->parameter[i].name, b->parameter[i - 1].name))
            return op_fail(b->op, ST_BAD_REQUEST, "Invalid query. Specified duplicate parameter name '%.*s'.",
                           SLICE_ARGS(b->parameter[i].name));
    return ST_OK;
}

enum status query_bind(struct op *op, struct select *select, struct json parameters,
                       const struct query_options *options, size_t text_size, struct bound *bound)
{
    struct binder b = { .op = op, .options = options, .bound = bound, .whole = { 0, (uint32_t)text_size } };
    enum status st;

    *bound = (struct bound){ .slots = 1 };
    TRY(read_parameters(&b, parameters));
    b.is_item[SLOT_ROOT] = true;
    TRY(bind_select(&b, select, NULL, true));
out:
    return st;
}
