/* src/query/bind/bind.c - a statement and its clauses: which names are visible where, what each column is called. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/eval/hashes.h"

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
    return bind_expr(b, source->path, names, IN_FROM);
}

static enum status too_many_sources(struct binder *b)
{
    return op_fail(b->op, ST_BAD_REQUEST, "The query has too many sources.");
}

static enum status bind_rows(struct binder *b, struct select *rows, const struct visible *names,
                             bool may_be_root)
{
    struct select *outer = b->select;
    enum status st;

    b->depth++;
    st = bind_select(b, rows, may_be_root ? NULL : names, may_be_root);
    b->depth--;
    b->select = outer;
    return st;
}

static enum status bind_source(struct binder *b, struct source *source, const struct visible *names,
                               bool may_be_root)
{
    enum status st;

    if (b->bound->slots >= QUERY_SLOTS_MAX)
        return too_many_sources(b);
    if (source_rows(source))
        st = bind_rows(b, source_rows(source), names, may_be_root);
    else
        st = bind_path(b, source, names, may_be_root);
    if (st != ST_OK)
        return st;
    if (b->bound->slots > QUERY_SLOTS_MAX) /* the subquery has taken those that were left */
        return too_many_sources(b);
    source->slot = b->bound->slots++;
    b->slot[source->slot] = (struct bind_slot){ .source = source };
    return ST_OK;
}

/* Whether the source's value is a whole item: by its name, or through a subquery that gives it. */
static bool gives_item(const struct binder *b, const struct source *source)
{
    const struct select *select = source->select;

    assert((source->kind == SOURCE_SUBQUERY) == (select != NULL));
    if (source->kind == SOURCE_PATH)
        return source->path->kind == EXPR_NAME && b->slot[source->path->slot].is_item;
    if (source->kind != SOURCE_SUBQUERY)
        return false;
    if (select->star)
        return select->source_count && b->slot[select->source[0].slot].is_item;
    return select->value && select->item[0].expr->kind == EXPR_NAME &&
           b->slot[select->item[0].expr->slot].is_item;
}

/* FROM c says nothing new of c. */
static bool names_itself(const struct source *source)
{
    return source->kind == SOURCE_PATH && source->path->kind == EXPR_NAME &&
           slice_equal(source->path->name, source->alias);
}

/* The slot whose value this one's always is, through names and subqueries that say nothing new of it. */
static int stands_for(const struct binder *b, int slot)
{
    const struct source *source = b->slot[slot].source, *first;
    const struct select *rows;

    if (!source)
        return slot;
    if (names_itself(source))
        return stands_for(b, source->path->slot);
    rows = source->kind == SOURCE_SUBQUERY ? source->select : NULL;
    if (!rows || rows->where)
        return slot;
    if (rows->value && rows->item[0].expr->kind == EXPR_NAME)
        return stands_for(b, rows->item[0].expr->slot);
    if (!rows->star || rows->source_count != 1)
        return slot;
    first = &rows->source[0];
    return stands_for(b, first->kind == SOURCE_PATH && first->path->kind == EXPR_NAME ? first->path->slot
                                                                                      : first->slot);
}

/* No source is called as another one that can be seen, be it of a statement around this one, unless it is that one. */
static enum status check_alias(struct binder *b, const struct source *source, const struct visible *names)
{
    if (source->alias.size == 0 || names_itself(source) || (source->path && source->path->refused))
        return ST_OK;
    while (names && !slice_equal(names->name, source->alias))
        names = names->outer;
    if (!names || stands_for(b, names->slot) == stands_for(b, source->slot))
        return ST_OK;
    return bind_wrong(
        b, mistake(b->op, source->alias_span, "SC2021",
                   "The input set name or alias '%.*s' is specified more than once in the FROM clause.",
                   SLICE_ARGS(source->alias)));
}

/* `names` becomes what is visible behind the FROM clause. */
static enum status bind_from(struct binder *b, struct select *select, const struct visible **names,
                             bool may_be_root)
{
    enum status st = ST_OK;

    if (select->source_count > QUERY_JOINS_MAX + 1)
        TRY(bind_wrong(b,
                       mistake(b->op, b->whole, "SC3002",
                               "The SQL query exceeded the maximum number of joins. The allowed limit is %d.",
                               QUERY_JOINS_MAX)));
    for (size_t i = 0; i < select->source_count; i++) {
        struct source *source = &select->source[i];
        struct visible *name = arena_alloc(&b->op->arena, sizeof(*name));

        TRY(bind_source(b, source, *names, may_be_root && i == 0));
        TRY(check_alias(b, source, *names));
        assert(source->slot > SLOT_ROOT);
        assert(source->slot <= QUERY_SLOTS_MAX);
        *name = (struct visible){ *names, source->alias, source->slot };
        b->slot[source->slot].is_item = gives_item(b, source);
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
static void name_column(struct binder *b, struct select_item *item, int *unnamed)
{
    const struct expr *expr = item->expr;

    item->name = item->alias;
    if (item->name.size == 0 && (expr->kind == EXPR_MEMBER || expr->kind == EXPR_NAME))
        item->name = expr->name;
    if (item->name.size == 0)
        item->name = numbered_name(b->op, ++*unnamed);
}

static enum status check_star(struct binder *b, const struct select *select)
{
    bool is_one =
        select->source_count < 2 &&
        !(select->source_count && select->source[0].kind == SOURCE_ITERATE && select->source[0].path->select);

    if (!select->star || select->group_count || is_one)
        return ST_OK;
    return bind_wrong(
        b, mistake(b->op, select->star_span, "SC2042", "'SELECT *' is only valid with a single input set."));
}

/* SELECT c._rid, [...] AS orderByItems, ... AS payload: what plans have clients ask for (plan/sdk_rewrite.c). */
static bool is_rewritten(const struct select *select)
{
    const struct select_item *item = select->item;

    return select->item_count == 3 && item[0].expr->kind == EXPR_MEMBER &&
           item[0].expr->kid[0]->kind == EXPR_NAME && slice_is(item[0].expr->name, "_rid") &&
           slice_is(item[1].alias, "orderByItems") && slice_is(item[2].alias, "payload");
}

/* The least of a group's: clients look only whether there is one. */
static void bind_rid_of_group(struct binder *b, struct select_item *item)
{
    struct expr *call = arena_alloc(&b->op->arena, sizeof(*call));

    *call = (struct expr){ .kind = EXPR_CALL, .name = slice_of("MIN"), .span = item->span };
    call->kid = arena_alloc(&b->op->arena, sizeof(call->kid[0]));
    call->kid[call->kid_count++] = item->expr;
    item->alias = item->expr->name;
    item->expr = call;
}

/*
 * In a rewritten statement the first column is the rid of the row's item, which is no part of a group, and whose name
 * FROM x IN c.a hides. By whatever name it is asked for: what lies below an item, or was made of it, has no rid.
 */
static void bind_rid(struct binder *b, struct select *select, const struct visible **names,
                     struct visible *root)
{
    const struct visible *found = *names;

    if (!is_rewritten(select))
        return;
    root->name = select->item[0].expr->kid[0]->name;
    while (found && !slice_equal(found->name, root->name))
        found = found->outer;
    if (!found || !b->slot[found->slot].is_item) {
        root->outer = *names;
        *names = root;
    }
    if (select->group_count)
        bind_rid_of_group(b, &select->item[0]);
}

static enum status bind_list(struct binder *b, struct select *select, const struct visible *names)
{
    struct hashes seen = { .memory = &b->op->arena };
    struct visible root = { .slot = SLOT_ROOT };
    const struct visible *first = names;
    int unnamed = 0;
    enum status st;

    TRY(check_star(b, select));
    bind_rid(b, select, &first, &root);
    for (size_t i = 0; i < select->item_count; i++) {
        struct select_item *item = &select->item[i];

        TRY(bind_expr(b, item->expr, i ? names : first, IN_SELECT));
        name_column(b, item, &unnamed);
        if (!select->value && hashes_add(&seen, murmur3_128(item->name.data, item->name.size)) == 0)
            TRY(bind_repeated_name(b, item->name,
                                   item->alias.size ? item->alias_span : item->expr->name_span));
    }
out:
    return st;
}

/* A whole number from 0 to 2^32 - 1. */
static bool is_count(struct value value)
{
    return value.kind == JSON_NUMBER && value.number >= 0 && value.number <= UINT32_MAX &&
           value.number == (double)(int64_t)value.number;
}

static enum status bind_count(struct binder *b, struct expr *count, const char *code, const char *wrong)
{
    enum status st;

    if (!count)
        return ST_OK;
    TRY(bind_expr(b, count, NULL, IN_FROM));
    if (is_count(count->value))
        count->value = value_int((int64_t)count->value.number);
    else
        TRY(bind_wrong(b, mistake(b->op, count->span, code, "%s", wrong)));
out:
    return st;
}

/* Subqueries have none. */
static enum status bind_counts(struct binder *b, struct select *select)
{
    enum status st = ST_OK;

    if (b->depth && select->top)
        TRY(bind_wrong(b,
                       mistake(b->op, select->top_span, "SC2203", "'TOP' is not supported in subqueries.")));
    TRY(bind_count(b, select->top, "SC2060",
                   "The count value provided for a TOP clause must be an integer."));
    if (b->depth && select->offset)
        TRY(bind_wrong(b, mistake(b->op, select->limit_span, "SC2204",
                                  "'OFFSET LIMIT' clause is not supported in subqueries.")));
    TRY(bind_count(b, select->offset, "SC2062", "The OFFSET count value exceeds the maximum allowed value."));
    TRY(bind_count(b, select->limit, "SC2061", "The LIMIT count value exceeds the maximum allowed value."));
out:
    return st;
}

static enum status bind_order_list(struct binder *b, struct select *select, const struct visible *names)
{
    enum status st = ST_OK;

    if (b->depth && select->order_count)
        TRY(bind_wrong(b, select->rank ? mistake(b->op, select->order_span, "SC2228",
                                                 "The ORDER BY RANK clause is not supported in subqueries.")
                                       : mistake(b->op, select->order_span, "SC2202",
                                                 "'ORDER BY' is not supported in subqueries.")));
    if (select->rank) {
        if (!b->depth)
            TRY(bind_rank_list(b, select, names));
        goto out;
    }
    for (size_t i = 0; i < select->order_count; i++) {
        TRY(bind_expr(b, select->order[i].expr, names, IN_SELECT));
        TRY(bind_direction(b, &select->order[i]));
    }
out:
    return st;
}

/* In the order in which the service tells what is wrong with them. */
static enum status bind_clauses(struct binder *b, struct select *select, const struct visible *names)
{
    enum status st = ST_OK;

    if (select->where)
        TRY(bind_expr(b, select->where, names, IN_WHERE));
    TRY(bind_rank_groups(b, select));
    TRY(bind_group_list(b, select, names));
    TRY(bind_order_list(b, select, names));
    TRY(bind_rank_columns(b, select));
    TRY(bind_list(b, select, names));
    if ((select->group_count || select->aggregate_count) && b->mistakes.count)
        goto out; /* nothing more is told of groups */
    TRY(bind_groups(b, select));
    TRY(bind_counts(b, select));
out:
    return st;
}

/* The subquery in FROM gathers rows of many items: it cannot be answered item by item. */
static bool gathers(const struct select *select)
{
    return select->distinct || select->group_count || select->aggregate_count || select->whole;
}

/* Whether what the first FROM reads is gathered from all items. */
static bool is_whole(const struct select *select)
{
    const struct select *rows = source_rows(&select->source[0]);

    return rows && gathers(rows);
}

enum status bind_select(struct binder *b, struct select *select, const struct visible *outer,
                        bool may_be_root)
{
    const struct visible *names = outer;
    enum status st = ST_OK;

    assert(!select->value || select->item_count == 1);
    assert(!may_be_root || !outer); /* the first FROM of all stands inside no row */
    b->select = select;
    if (select->top && select->offset)
        TRY(bind_wrong(b, mistake(b->op, select->span, "SC2205",
                                  "A TOP cannot be used in the same query or subquery as an OFFSET.")));
    TRY(bind_rank_sources(b, select));
    TRY(bind_from(b, select, &names, may_be_root));
    b->select = select;
    TRY(bind_clauses(b, select, names));
    select->whole = may_be_root && select->source_count && b->bound->scans && is_whole(select);
out:
    return st;
}

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct parameter *)a)->name, ((const struct parameter *)b)->name);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (uint8_t)c >= 0x80;
}

/* @ and an identifier. */
static bool is_parameter_name(struct slice name)
{
    if (name.size < 2 || name.data[0] != '@' || !is_letter(name.data[1]))
        return false;
    for (size_t i = 2; i < name.size; i++)
        if (!is_letter(name.data[i]) && !(name.data[i] >= '0' && name.data[i] <= '9'))
            return false;
    return true;
}

enum status query_read_parameters(struct op *op, struct json list, struct parameters *read)
{
    *read = (struct parameters){ 0 };
    if (json_kind(list) != JSON_ARRAY)
        return ST_OK;
    read->parameter = arena_alloc(&op->arena, json_count(list) * sizeof(*read->parameter));
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct json name = json_get(i.value, "name");

        if (json_kind(name) != JSON_STRING)
            return op_fail(op, ST_BAD_REQUEST, "Invalid query. A parameter has no name.");
        if (!is_parameter_name(json_string(name)))
            return mistake_bare(op,
                                "Invalid query. Specified parameter name '%.*s' is invalid. Parameter names "
                                "should be in the format of symbol '@' followed by a valid identifier. E.g. "
                                "@param1",
                                SLICE_ARGS(json_string(name)));
        read->parameter[read->count++] =
            (struct parameter){ json_string(name), value_from_json(json_get(i.value, "value")) };
    }
    qsort(read->parameter, read->count, sizeof(*read->parameter), by_name);
    for (size_t i = 1; i < read->count; i++)
        if (slice_equal(read->parameter[i].name, read->parameter[i - 1].name))
            return mistake_bare(op, "Invalid query. Specified duplicate parameter name '%.*s'.",
                                SLICE_ARGS(read->parameter[i].name));
    return ST_OK;
}

enum status query_bind(struct op *op, struct select *select, const struct parameters *parameters,
                       const struct query_options *options, struct slice text, struct bound *bound)
{
    struct bind_slot slots[QUERY_SLOTS_MAX + 1];
    struct binder b = {
        .op = op,
        .parameters = parameters,
        .options = options,
        .bound = bound,
        .text = text,
        .whole = select->span,
        .slot = slots,
    };
    enum status st;

    *bound = (struct bound){ .slots = 1 };
    mistakes_init(&b.mistakes, op);
    slots[SLOT_ROOT] = (struct bind_slot){ .is_item = true };
    TRY(bind_select(&b, select, NULL, true));
    TRY(mistakes_tell(op, &b.mistakes));
    TRY(bind_order(&b, select));
out:
    return st;
}

/* How many bytes so many characters take. */
static size_t bytes_of(struct slice text, uint32_t characters)
{
    size_t at = 0;

    for (; at < text.size && characters; characters--)
        for (at++; at < text.size && ((uint8_t)text.data[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

struct slice bind_cited(const struct binder *b, struct span span)
{
    struct slice from = slice_after(b->text, bytes_of(b->text, span.start));

    return slice_make(from.data, bytes_of(from, span.end - span.start));
}
