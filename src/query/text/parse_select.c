/* src/query/text/parse_select.c - a statement, clause by clause in the only order there is. */
#include "query/text/parse_private.h"

/* An expression that is a part of the statement by itself. */
static enum status parse_part(struct parse *p, struct select *select, struct expr **expr)
{
    enum status st;

    TRY(parse_expression(p, expr));
    parse_raise(&select->height, (*expr)->height);
out:
    return st;
}

/*
 * SELECT
 */

static enum status parse_alias(struct parse *p, struct slice *alias)
{
    if (!token_is_name(p->token.kind))
        return parse_unexpected(p);
    *alias = p->token.text;
    parse_take(p);
    return ST_OK;
}

/* AS x, AS 'x y', or either beside the expression. */
static enum status parse_column_alias(struct parse *p, struct select_item *item)
{
    enum status st = ST_OK;

    if (!parse_accept(p, TOKEN_AS) && p->token.kind != TOKEN_STRING && !token_is_name(p->token.kind))
        return ST_OK;
    item->alias_span = p->token.span;
    if (p->token.kind != TOKEN_STRING)
        return parse_alias(p, &item->alias);
    TRY(token_string(p->op, &p->token, &item->alias));
    parse_take(p);
out:
    return st;
}

static enum status parse_item(struct parse *p, struct select *select)
{
    struct select_item *items = parse_grow(p, select->item, select->item_count, sizeof(*items)), *item;
    uint32_t start = p->token.span.start;
    enum status st;

    if (!items)
        return mistake_memory(p->op);
    select->item = items;
    item = &items[select->item_count++];
    *item = (struct select_item){ 0 };
    TRY(parse_part(p, select, &item->expr));
    if (!select->value)
        TRY(parse_column_alias(p, item));
    item->span = parse_span(p, start);
out:
    return st;
}

static enum status parse_items(struct parse *p, struct select *select)
{
    enum status st;

    do {
        TRY(parse_item(p, select));
    } while (!select->value && parse_accept(p, TOKEN_COMMA));
out:
    return st;
}

static enum status parse_projection(struct parse *p, struct select *select)
{
    select->star_span = p->token.span;
    select->star = parse_accept(p, TOKEN_STAR);
    if (select->star)
        return ST_OK;
    select->value = parse_accept(p, TOKEN_VALUE);
    return parse_items(p, select);
}

static enum status parse_top(struct parse *p, struct select *select)
{
    uint32_t start = p->token.span.start;
    enum status st;

    if (!parse_accept(p, TOKEN_TOP))
        return ST_OK;
    TRY(parse_count(p, &select->top));
    select->top_span = parse_span(p, start);
out:
    return st;
}

static enum status parse_select_clause(struct parse *p, struct select *select)
{
    enum status st;

    TRY(parse_expect(p, TOKEN_SELECT));
    select->distinct = parse_accept(p, TOKEN_DISTINCT);
    TRY(parse_top(p, select));
    TRY(parse_projection(p, select));
out:
    return st;
}

/*
 * FROM
 */

static enum status parse_source_alias(struct parse *p, struct source *source)
{
    source->alias_written = parse_accept(p, TOKEN_AS) || token_is_name(p->token.kind);
    if (!source->alias_written)
        return ST_OK;
    source->alias_span = p->token.span;
    return parse_alias(p, &source->alias);
}

/* c.a.b is called b when nothing else is written; c.a[0] has no name. */
static void infer_alias(struct source *source)
{
    source->alias = source->path->name;
    source->alias_span = source->path->name_span;
}

static enum status parse_path_source(struct parse *p, struct source *source)
{
    enum status st;

    source->kind = SOURCE_PATH;
    TRY(parse_path(p, &source->path));
    infer_alias(source);
    TRY(parse_source_alias(p, source));
out:
    return st;
}

static enum status parse_subquery_source(struct parse *p, struct source *source)
{
    enum status st;

    source->kind = SOURCE_SUBQUERY;
    TRY(parse_subquery(p, &source->select));
    TRY(parse_source_alias(p, source));
out:
    return st;
}

/* What stands behind IN: a path, or a subquery that gives an array. */
static enum status parse_iterated(struct parse *p, struct expr **path)
{
    if (p->token.kind != TOKEN_OPEN)
        return parse_path(p, path);
    if (p->next.kind == TOKEN_SELECT)
        return parse_postfix(p, path);
    parse_take(p);
    return parse_unexpected(p);
}

static enum status parse_iterate_source(struct parse *p, struct source *source)
{
    enum status st;

    source->kind = SOURCE_ITERATE;
    TRY(parse_source_alias(p, source));
    TRY(parse_expect(p, TOKEN_IN));
    TRY(parse_iterated(p, &source->path));
out:
    return st;
}

static enum status parse_any_source(struct parse *p, struct source *source)
{
    if (p->token.kind == TOKEN_OPEN)
        return parse_subquery_source(p, source);
    if (p->next.kind == TOKEN_IN && token_is_name(p->token.kind))
        return parse_iterate_source(p, source);
    return parse_path_source(p, source);
}

static enum status parse_source(struct parse *p, struct select *select)
{
    struct source *sources = parse_grow(p, select->source, select->source_count, sizeof(*sources)), *source;
    uint32_t start = p->token.span.start;
    enum status st;

    if (!sources)
        return mistake_memory(p->op);
    select->source = sources;
    source = &sources[select->source_count++];
    *source = (struct source){ 0 };
    TRY(parse_any_source(p, source));
    source->span = parse_span(p, start);
    parse_raise(&select->height, source->path ? source->path->height : source->select->height + HEIGHT_LEVEL);
out:
    return st;
}

static enum status parse_from(struct parse *p, struct select *select)
{
    enum status st;

    if (!parse_accept(p, TOKEN_FROM))
        return ST_OK;
    do {
        TRY(parse_source(p, select));
    } while (parse_accept(p, TOKEN_JOIN));
out:
    return st;
}

/*
 * WHERE, GROUP BY, ORDER BY, OFFSET
 */

static enum status parse_where(struct parse *p, struct select *select)
{
    return parse_accept(p, TOKEN_WHERE) ? parse_part(p, select, &select->where) : ST_OK;
}

static enum status parse_group_item(struct parse *p, struct select *select)
{
    struct expr **group = parse_grow(p, select->group, select->group_count, sizeof(*group));

    if (!group)
        return mistake_memory(p->op);
    select->group = group;
    return parse_part(p, select, &group[select->group_count++]);
}

static enum status parse_group(struct parse *p, struct select *select)
{
    uint32_t start = p->token.span.start;
    enum status st;

    if (!parse_accept(p, TOKEN_GROUP))
        return ST_OK;
    TRY(parse_expect(p, TOKEN_BY));
    do {
        TRY(parse_group_item(p, select));
    } while (parse_accept(p, TOKEN_COMMA));
    select->group_span = parse_span(p, start);
out:
    return st;
}

/* Behind RANK: one call, and nothing else. */
static enum status parse_ranked(struct parse *p, struct select *select, struct expr **expr)
{
    enum status st = ST_OK;

    if (p->next.kind != TOKEN_OPEN && p->token.kind != TOKEN_UDF) {
        parse_take(p);
        return parse_unexpected(p);
    }
    TRY(parse_postfix(p, expr));
    parse_raise(&select->height, (*expr)->height);
    if ((*expr)->kind != EXPR_CALL && (*expr)->kind != EXPR_UDF)
        TRY(parse_unexpected(p));
out:
    return st;
}

static enum status parse_order_item(struct parse *p, struct select *select)
{
    struct order_item *order = parse_grow(p, select->order, select->order_count, sizeof(*order)), *item;
    uint32_t start = p->token.span.start;
    enum status st;

    if (!order)
        return mistake_memory(p->op);
    select->order = order;
    item = &order[select->order_count++];
    *item = (struct order_item){ 0 };
    TRY(select->rank ? parse_ranked(p, select, &item->expr) : parse_part(p, select, &item->expr));
    item->descending = p->token.kind == TOKEN_DESC;
    item->direction_written = parse_accept(p, TOKEN_DESC) || parse_accept(p, TOKEN_ASC);
    item->span = parse_span(p, start);
out:
    return st;
}

/* RANK is a name too, so that c.rank and a source called rank can be ordered by. */
static bool at_rank(const struct parse *p)
{
    enum token_kind kind = p->next.kind;

    return p->token.kind == TOKEN_RANK && (kind == TOKEN_NAME || kind == TOKEN_RANK || kind == TOKEN_UDF ||
                                           kind == TOKEN_LEFT || kind == TOKEN_RIGHT);
}

static enum status parse_order(struct parse *p, struct select *select)
{
    uint32_t start = p->token.span.start;
    enum status st;

    if (!parse_accept(p, TOKEN_ORDER))
        return ST_OK;
    TRY(parse_expect(p, TOKEN_BY));
    select->rank = at_rank(p);
    if (select->rank)
        parse_take(p);
    do {
        TRY(parse_order_item(p, select));
    } while (!select->rank && parse_accept(p, TOKEN_COMMA));
    select->order_span = parse_span(p, start);
out:
    return st;
}

/* OFFSET and LIMIT take digits, decimal or hexadecimal, where TOP takes any whole number. */
static enum status parse_digits(struct parse *p, struct expr **count)
{
    struct slice text = p->token.text;
    bool is_hex = text.size > 1 && (text.data[1] | 0x20) == 'x';

    for (size_t i = 0; p->token.kind == TOKEN_NUMBER && !is_hex && i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return parse_unexpected(p);
    return parse_count(p, count);
}

static enum status parse_offset(struct parse *p, struct select *select)
{
    uint32_t start = p->token.span.start;
    enum status st;

    if (!parse_accept(p, TOKEN_OFFSET))
        return ST_OK;
    TRY(parse_digits(p, &select->offset));
    TRY(parse_expect(p, TOKEN_LIMIT));
    TRY(parse_digits(p, &select->limit));
    select->limit_span = parse_span(p, start);
out:
    return st;
}

static enum status parse_clauses(struct parse *p, struct select *select)
{
    enum status st;

    TRY(parse_from(p, select));
    TRY(parse_where(p, select));
    TRY(parse_group(p, select));
    TRY(parse_order(p, select));
    TRY(parse_offset(p, select));
out:
    return st;
}

/* From where p->token is; the caller has taken SELECT and its list, or made up what stands for them. */
static enum status parse_rest(struct parse *p, uint32_t start, struct select *select)
{
    enum status st;

    TRY(parse_clauses(p, select));
    select->span = parse_span(p, start);
    if (select->height > HEIGHT_LEVEL * QUERY_DEPTH_MAX)
        TRY(parse_too_deep(p, select->span));
out:
    return st;
}

static struct select *new_select(struct parse *p)
{
    struct select *select = arena_try_alloc(&p->op->arena, sizeof(*select));

    if (select)
        *select = (struct select){ 0 };
    return select;
}

enum status parse_select(struct parse *p, struct select **select)
{
    uint32_t start = p->token.span.start;
    enum status st;

    *select = new_select(p);
    if (!*select)
        return mistake_memory(p->op);
    TRY(parse_select_clause(p, *select));
    TRY(parse_rest(p, start, *select));
out:
    return st;
}

enum status parse_condition(struct parse *p, struct select **select)
{
    struct span span = p->token.span;
    enum status st;

    *select = new_select(p);
    if (!*select)
        return mistake_memory(p->op);
    (*select)->star = true;
    (*select)->star_span = span;
    if (p->token.kind != TOKEN_FROM)
        return parse_unexpected(p);
    TRY(parse_rest(p, span.start, *select));
out:
    return st;
}

enum status parse_subquery(struct parse *p, struct select **select)
{
    enum status st;

    TRY(parse_expect(p, TOKEN_OPEN));
    TRY(parse_enter(p));
    TRY(parse_select(p, select));
    p->nesting--;
    TRY(parse_expect(p, TOKEN_CLOSE));
out:
    return st;
}
