/*
 * src/query/plan/demand.c - from a statement to what it demands of an item, expression by expression.
 * An expression is asked for a set of values: what must hold of its operands for its value to be among them? A path
 * answers with itself. Names of subqueries, and subqueries that have one row, stand for what they select.
 */
#include <assert.h>
#include <math.h>

#include "query/bind/bind.h"
#include "query/bind/fold.h"
#include "query/plan/demand_private.h"

/* Nobody writes into it. */
static const struct demand the_any = { .kind = DEMAND_ANY };

struct demand *demand_any(void)
{
    return (struct demand *)&the_any;
}

static struct demand *make(struct reader *reader, struct demand from)
{
    struct demand *made = arena_try_alloc(reader->arena, sizeof(*made));

    if (!made)
        return demand_any();
    *made = from;
    return made;
}

struct demand *demand_none(struct reader *reader)
{
    return make(reader, (struct demand){ .kind = DEMAND_NONE });
}

struct demand *demand_list(struct reader *reader, enum demand_kind kind, size_t room)
{
    struct demand **kid = arena_try_alloc(reader->arena, (room ? room : 1) * sizeof(struct demand *));

    assert(kind == DEMAND_AND || kind == DEMAND_OR);
    return kid ? make(reader, (struct demand){ .kind = kind, .kid = kid }) : demand_any();
}

void demand_put(struct demand *list, struct demand *kid)
{
    if (list->kind == DEMAND_ANY || (list->kind == DEMAND_AND && kid->kind == DEMAND_ANY))
        return;
    list->kid[list->kid_count++] = kid;
}

struct demand *demand_pair(struct reader *reader, enum demand_kind kind, struct demand *a, struct demand *b)
{
    struct demand *pair;

    if (kind == DEMAND_AND && (a->kind == DEMAND_ANY || b->kind == DEMAND_ANY))
        return a->kind == DEMAND_ANY ? b : a;
    pair = demand_list(reader, kind, 2);
    demand_put(pair, a);
    demand_put(pair, b);
    return pair;
}

/* ---- what a name stands for ---- */

static const struct scope *find_scope(const struct scope *scope, int slot)
{
    while (scope && scope->source->slot != slot)
        scope = scope->outer;
    return scope;
}

/* Each row is made of one row below it: no clause counts, and no aggregate gathers. */
static bool is_row_by_row(const struct select *select)
{
    return !select->top && !select->limit && !select->offset;
}

static struct term resolve(struct term term);

/* What a subquery selects, as an expression over its own sources. */
static struct term selected(const struct select *select, const struct scope *inner)
{
    if (select->star && select->source_count == 1)
        return resolve((struct term){ .row = select, .scope = inner });
    if (select->value)
        return resolve((struct term){ select->item[0].expr, inner, NULL });
    return (struct term){ .row = select, .scope = inner };
}

/* SELECT * of one source is that source. */
static struct term source_of(struct term term)
{
    const struct scope *scope = term.scope;

    if (!scope || !scope->is_read || !is_row_by_row(scope->source->select))
        return term;
    return selected(scope->source->select, scope->inner);
}

static struct term named(struct term term)
{
    const struct scope *scope = find_scope(term.scope, term.expr->slot);

    if (!scope || scope->is_joined || !scope->is_read || !is_row_by_row(scope->source->select))
        return term;
    return selected(scope->source->select, scope->inner);
}

/* What is built lacks the name. */
static struct term lacking(struct term term)
{
    static const struct expr undefined = { .kind = EXPR_LITERAL, .constant = true };

    return (struct term){ &undefined, term.scope, NULL };
}

static bool is_lacking(struct term term)
{
    return term.expr && term.expr->kind == EXPR_LITERAL && term.expr->value.kind == JSON_UNDEFINED;
}

/* A member of what is built from a list of columns, or of members; the term itself where it is a path. */
static struct term member(struct term term, struct slice name)
{
    struct term base = resolve(demand_kid(term, 0));
    bool is_row = base.row && !base.row->star;

    if (is_row)
        for (size_t i = 0; i < base.row->item_count; i++)
            if (slice_equal(base.row->item[i].name, name))
                return resolve((struct term){ base.row->item[i].expr, base.scope, NULL });
    if (base.expr && base.expr->kind == EXPR_OBJECT)
        for (size_t i = 0; i < base.expr->kid_count; i++)
            if (slice_equal(base.expr->names[i], name))
                return resolve(demand_kid(base, i));
    return is_row || is_lacking(base) ? lacking(term) : term;
}

/* [e][0] is e. Elsewhere elements that are undefined make others move. */
static struct term element(struct term term)
{
    struct value place;
    struct term base;

    if (!fold_constant(term.expr->kid[1], &place))
        return term;
    if (place.kind == JSON_STRING)
        return member(term, place.string);
    base = resolve(demand_kid(term, 0));
    if (is_lacking(base))
        return base;
    if (base.expr && base.expr->kind == EXPR_ARRAY && base.expr->kid_count == 1 &&
        place.kind == JSON_NUMBER && place.number == 0)
        return resolve(demand_kid(base, 0));
    return term;
}

/* A statement that reads one row: no source, or paths. */
static bool has_one_row(const struct select *select)
{
    for (size_t i = 0; i < select->source_count; i++)
        if (select->source[i].kind != SOURCE_PATH)
            return false;
    return is_row_by_row(select) && !select->group_count && !select->aggregate_count;
}

static bool is_scalar(const struct expr *expr)
{
    return (expr->kind == EXPR_SUBQUERY || expr->kind == EXPR_FIRST || expr->kind == EXPR_LAST) &&
           has_one_row(expr->select) && expr->select->source_count == 0;
}

/* A group's key is evaluated in its place, and equals it. Anything else that is, such as a computed property, is not read. */
static bool is_replaced(const struct expr *expr)
{
    return expr->instead && expr->instead->kind != EXPR_RESULT;
}

/* A path from a name that stands for itself. */
static bool is_plain_path(struct term term)
{
    const struct expr *expr = term.expr;

    while (demand_is_step(expr) && expr->kid_count)
        expr = expr->kid[0];
    return expr->kind == EXPR_NAME && term.scope && term.scope->is_plain;
}

static struct term resolve(struct term term)
{
    if (term.expr && is_plain_path(term))
        return term;
    if (!term.expr)
        return term.row->star ? source_of(term) : term;
    if (is_replaced(term.expr))
        return term;
    switch (term.expr->kind) {
    case EXPR_NAME:
        return named(term);
    case EXPR_MEMBER:
        return member(term, term.expr->name);
    case EXPR_INDEX:
        return element(term);
    default:
        return is_scalar(term.expr) ? selected(term.expr->select, term.scope) : term;
    }
}

/* ---- paths ---- */

enum { STEPS_MAX = 32 };

struct steps {
    struct demand_path path;
    bool is_inlined; /* through a subquery, which may have no row */
    struct demand_step step[STEPS_MAX];
};

static bool add_step(struct steps *steps, struct demand_step step)
{
    if (steps->path.count == STEPS_MAX)
        return false;
    steps->step[steps->path.count++] = step;
    return true;
}

static bool find_path(struct term term, struct steps *steps);

/* A source that is no path of the item is what a path begins with. */
static bool path_of_slot(const struct scope *scope, int slot, struct steps *steps)
{
    scope = find_scope(scope, slot);
    if (scope && scope->source->kind == SOURCE_PATH)
        return find_path((struct term){ scope->source->path, scope->outer, NULL }, steps);
    steps->path.slot = slot;
    steps->path.is_hidden |= slot != SLOT_ROOT;
    return true;
}

static bool add_place(const struct expr *expr, struct steps *steps)
{
    struct value place;

    if (!fold_constant(expr->kid[1], &place))
        return false;
    steps->path.is_hidden |= expr->kid[1]->instead != NULL;
    if (place.kind == JSON_STRING)
        return add_step(steps, (struct demand_step){ .name = place.string });
    return place.kind == JSON_NUMBER &&
           add_step(steps, (struct demand_step){ .is_element = true, .place = place.number });
}

static bool find_path(struct term asked, struct steps *steps)
{
    struct term term = resolve(asked);

    steps->is_inlined |= term.expr != asked.expr;
    if (!term.expr)
        return term.row->star && path_of_slot(term.scope, term.scope->source->slot, steps);
    if (is_replaced(term.expr))
        return false;
    switch (term.expr->kind) {
    case EXPR_NAME:
        return path_of_slot(term.scope, term.expr->slot, steps);
    case EXPR_MEMBER:
        return find_path(demand_kid(term, 0), steps) &&
               add_step(steps, (struct demand_step){ .name = term.expr->name });
    case EXPR_INDEX:
        return find_path(demand_kid(term, 0), steps) && add_place(term.expr, steps);
    default:
        return false;
    }
}

/* No document holds NaN. */
static bool are_held(struct values values)
{
    for (size_t i = 0; i < values.count; i++) {
        const struct bound_value *low = &values.interval[i].low;

        if (!low->is_set || low->value.kind != JSON_NUMBER || !isnan(low->value.number))
            return true;
    }
    return false;
}

struct demand *demand_path(struct reader *reader, struct term term, struct values values)
{
    struct steps
        found; /* clearing all the steps that there may be would cost more than finding those that are */
    struct demand_step *step;

    found.path = (struct demand_path){ 0 };
    found.is_inlined = false;
    if (values_kinds(values) == KINDS_ALL || !find_path(term, &found) ||
        (found.is_inlined && values_kinds(values) & kinds_one(JSON_UNDEFINED)))
        return demand_any();
    if (!are_held(values))
        return demand_none(reader);
    step = arena_try_alloc(reader->arena, (found.path.count + 1) * sizeof(*step));
    if (!step)
        return demand_any();
    memcpy(step, found.step, found.path.count * sizeof(*step));
    found.path.step = step;
    found.path.is_hidden |= reader->hidden > 0;
    return make(reader, (struct demand){ .kind = DEMAND_VALUES,
                                         .path = found.path,
                                         .interval = values.interval,
                                         .interval_count = values.count });
}

/* ---- expressions ---- */

/* What the service's planner does not compute, though it is the same for every row. */
static bool is_computed_late(const struct expr *expr)
{
    if (expr->kind == EXPR_LIKE || (expr->builtin && expr->builtin->flags & LATE))
        return true;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (is_computed_late(expr->kid[i]))
            return true;
    return false;
}

/* Whether a subquery has its one row whatever the item. */
static bool always_has_row(const struct select *select)
{
    struct value where;

    return !select->where || (fold_constant(select->where, &where) && where.kind == JSON_TRUE);
}

bool demand_constant(struct term term, struct value *value)
{
    if (is_scalar(term.expr) && !always_has_row(term.expr->select))
        return false;
    term = resolve(term);
    return term.expr && fold_constant(term.expr, value) &&
           !(term.expr->instead && is_computed_late(term.expr));
}

static struct demand *of_constant(struct reader *reader, const struct expr *expr, struct value value,
                                  struct values values)
{
    if ((expr->instead && is_computed_late(expr)) || values_have(values, value))
        return demand_any();
    return demand_none(reader);
}

static struct demand *rows_of(struct reader *reader, const struct select *select, const struct scope *outer);
static struct demand *of_select(struct reader *reader, const struct select *select, const struct scope *outer,
                                const struct scope **inner);

/* EXISTS, LIKE and their like: `values` has true, false, or both. */
static struct demand *of_truth(struct reader *reader, struct term term, kinds truths)
{
    bool truth = truths & kinds_one(JSON_TRUE);

    if ((truths & KINDS_BOOLEAN) == KINDS_BOOLEAN && term.expr->kind == EXPR_EXISTS)
        return demand_any();
    switch (term.expr->kind) {
    case EXPR_BETWEEN:
        return demand_between(reader, term, truth != term.expr->negated);
    case EXPR_IN:
        return demand_in(reader, term, truth != term.expr->negated);
    case EXPR_LIKE:
        return demand_like(reader, term, truth != term.expr->negated);
    default:
        return truth ? rows_of(reader, term.expr->select, term.scope) : demand_any();
    }
}

static struct demand *of_tests(struct reader *reader, struct term term, kinds truths)
{
    struct demand *defined;

    if ((truths & KINDS_BOOLEAN) != KINDS_BOOLEAN || term.expr->kind == EXPR_EXISTS)
        return of_truth(reader, term, truths);
    if (term.expr->kind == EXPR_BETWEEN)
        return demand_pair(reader, DEMAND_OR, demand_between(reader, term, true),
                           demand_between(reader, term, false));
    defined = demand_list(reader, DEMAND_AND, 1); /* the value that is tested, whatever comes of it */
    demand_put(defined, demand_kinds(reader, demand_kid(term, 0), KINDS_DEFINED));
    return defined;
}

static struct demand *of_array(struct reader *reader, struct term term, struct json array);
static struct demand *of_object(struct reader *reader, struct term term, struct json object);

/* Equal to one of the arrays, or objects; of others of that kind nothing is known. */
static struct demand *of_built(struct reader *reader, struct term term, struct values values)
{
    enum json_kind kind = term.expr->kind == EXPR_OBJECT ? JSON_OBJECT : JSON_ARRAY;
    struct demand *list;

    if (!values_are_points(values, kind))
        return demand_any();
    list = demand_list(reader, DEMAND_OR, values.count);
    for (size_t i = 0; i < values.count; i++) {
        struct value value = values.interval[i].low.value;

        if (values.interval[i].first == kind && values.interval[i].last == kind)
            demand_put(list, kind == JSON_OBJECT ? of_object(reader, term, value.json)
                                                 : of_array(reader, term, value.json));
    }
    return list;
}

/* An element that is undefined is left out: of as many elements none was. */
static struct demand *of_array(struct reader *reader, struct term term, struct json array)
{
    size_t count = json_count(array);
    struct demand *list;

    if (count > term.expr->kid_count)
        return demand_none(reader);
    if (count < term.expr->kid_count)
        return demand_any();
    list = demand_list(reader, DEMAND_AND, count);
    for (size_t i = 0; i < count; i++)
        demand_put(list, demand_equal(reader, demand_kid(term, i),
                                      value_from_json(json_element(array, (uint32_t)i))));
    return list;
}

/* A member that the constant lacks is undefined; one that the constant has beside them is nowhere. */
static struct demand *of_object(struct reader *reader, struct term term, struct json object)
{
    struct demand *list = demand_list(reader, DEMAND_AND, term.expr->kid_count);
    size_t found = 0;

    for (size_t i = 0; i < term.expr->kid_count; i++) {
        struct json one = json_member(object, term.expr->names[i]);

        found += json_kind(one) != JSON_UNDEFINED;
        demand_put(list, json_kind(one) == JSON_UNDEFINED
                             ? demand_kinds(reader, demand_kid(term, i), kinds_one(JSON_UNDEFINED))
                             : demand_equal(reader, demand_kid(term, i), value_from_json(one)));
    }
    return found < json_count(object) ? demand_none(reader) : list;
}

/* c.o = {k: 1}: each member of the constant is a value below the path. Of NaN the service's planner says nothing. */
static struct demand *below(struct reader *reader, struct term term, struct json object)
{
    struct demand *list = demand_list(reader, DEMAND_AND, json_count(object));

    for (struct json_iter i = json_iter(object); json_next(&i);) {
        struct expr *step = arena_try_alloc(reader->arena, sizeof(*step));
        struct expr **base = arena_try_alloc(reader->arena, sizeof(struct expr *));
        struct term under = { step, term.scope, NULL };

        if (!step || !base)
            return demand_any();
        *base = (struct expr *)term.expr;
        *step = (struct expr){ .kind = EXPR_MEMBER, .name = i.name, .kid = base, .kid_count = 1 };
        if (value_is_finite(value_from_json(i.value)))
            demand_put(list, demand_equal(reader, under, value_from_json(i.value)));
    }
    return list;
}

static struct demand *of_path(struct reader *reader, struct term term, struct values values)
{
    struct demand *demand = demand_path(reader, term, values);

    if (values.count != 1 || !interval_is_point(values.interval) ||
        values.interval->low.value.kind != JSON_OBJECT)
        return demand;
    return demand_pair(reader, DEMAND_AND, demand, below(reader, term, values.interval->low.value.json));
}

/* A subquery has a value only where it has a row. */
static struct demand *of_subquery(struct reader *reader, struct term term, struct values values)
{
    const struct select *select = term.expr->select;
    const struct scope *inner;
    struct demand *rows;

    if (select->aggregate_count)
        return demand_any();
    rows = of_select(reader, select, term.scope, &inner);
    if (!select->value)
        return rows;
    return demand_pair(reader, DEMAND_AND, rows,
                       demand_among(reader, (struct term){ select->item[0].expr, inner, NULL }, values));
}

bool demand_is_step(const struct expr *expr)
{
    return expr->kind == EXPR_NAME || expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX;
}

static struct demand *of_kind(struct reader *reader, struct term term, struct values values)
{
    switch (term.expr->kind) {
    case EXPR_NAME:
    case EXPR_MEMBER:
    case EXPR_INDEX:
        return of_path(reader, term, values);
    case EXPR_UNARY:
    case EXPR_BINARY:
        return demand_operator(reader, term, values);
    case EXPR_TERNARY:
        return demand_choice(reader, demand_kid(term, 0), demand_kid(term, 1), demand_kid(term, 2), values);
    case EXPR_BETWEEN:
    case EXPR_IN:
    case EXPR_LIKE:
    case EXPR_EXISTS:
        return of_tests(reader, term, values_kinds(values));
    case EXPR_CALL:
        return demand_call(reader, term, values);
    case EXPR_ARRAY:
    case EXPR_OBJECT:
        return of_built(reader, term, values);
    case EXPR_SUBQUERY:
        return of_subquery(reader, term, values);
    case EXPR_FIRST:
    case EXPR_LAST: /* into which the service's planner looks only where there is one row */
        return is_scalar(term.expr) ? of_subquery(reader, term, values) : demand_any();
    default:
        return demand_any();
    }
}

/* Whether undefined is wanted of what may be undefined in other ways than its parts say. */
static bool says_nothing(const struct term *asked, const struct term *term, struct values values)
{
    if (!(values_kinds(values) & kinds_one(JSON_UNDEFINED)))
        return false;
    return asked->expr != term->expr || !demand_is_step(term->expr);
}

/* Names that stand for what has names in turn can make a short text long. */
enum { ASKED_MAX = 20000 };

struct demand *demand_among(struct reader *reader, struct term asked, struct values values)
{
    struct term term = asked.expr && is_scalar(asked.expr) ? asked : resolve(asked);
    struct value value;

    if (!term.expr)
        return term.row->star                                  ? demand_path(reader, term, values)
               : values_kinds(values) & kinds_one(JSON_OBJECT) ? demand_any()
                                                               : demand_none(reader);
    if (fold_constant(term.expr, &value))
        return of_constant(reader, term.expr, value, values);
    if (++reader->spent > ASKED_MAX)
        return demand_any();
    if (is_replaced(term.expr) || says_nothing(&asked, &term, values))
        return demand_any();
    if (!(kinds_of(term.expr) & values_kinds(values)))
        return demand_none(reader);
    return of_kind(reader, term, values);
}

struct demand *demand_kinds(struct reader *reader, struct term term, kinds wanted)
{
    return demand_among(reader, term, values_of_kinds(reader, wanted));
}

struct demand *demand_equal(struct reader *reader, struct term term, struct value value)
{
    return demand_among(reader, term, values_of_one(reader, interval_of_value(value)));
}

/* ---- statements ---- */

static const struct scope *push(struct reader *reader, const struct scope *outer, const struct source *source,
                                bool is_joined)
{
    struct scope *scope = arena_try_alloc(reader->arena, sizeof(*scope));

    if (scope)
        *scope = (struct scope){ .outer = outer,
                                 .source = source,
                                 .is_joined = is_joined,
                                 .is_plain = (!outer || outer->is_plain) && source->kind != SOURCE_SUBQUERY };
    return scope;
}

/* x IN (SELECT VALUE ...): the rows of that, whose values are arrays. */
static struct demand *elements_of(struct reader *reader, const struct source *source,
                                  const struct scope *outer)
{
    const struct scope *inner = NULL;
    struct demand *rows;

    if (!source->path->select)
        return demand_kinds(reader, (struct term){ source->path, outer, NULL }, kinds_one(JSON_ARRAY));
    rows = of_select(reader, source->path->select, outer, &inner);
    if (!source->path->select->value)
        return rows;
    return demand_pair(reader, DEMAND_AND, rows,
                       demand_kinds(reader, (struct term){ source->path->select->item[0].expr, inner, NULL },
                                    kinds_one(JSON_ARRAY)));
}

/* Aggregates of what is in one item have a row whatever that is. */
static bool gathers_within(const struct source *source, const struct scope *outer)
{
    const struct select *rows = source_rows(source);

    return rows && rows->aggregate_count && outer;
}

static struct demand *of_source(struct reader *reader, const struct source *source, const struct scope *outer,
                                struct scope *scope)
{
    if (gathers_within(source, outer))
        return demand_any();
    switch (source->kind) {
    case SOURCE_PATH:
        return source->path->kind == EXPR_NAME
                   ? demand_any() /* which always has a value */
                   : demand_kinds(reader, (struct term){ source->path, outer, NULL }, KINDS_DEFINED);
    case SOURCE_ITERATE:
        return elements_of(reader, source, outer);
    default:
        scope->is_read = true;
        return of_select(reader, source->select, outer, &scope->inner);
    }
}

/* A subquery that stands beside others names no keys. */
static struct demand *of_sources(struct reader *reader, const struct select *select,
                                 const struct scope **scope)
{
    struct demand *list = demand_list(reader, DEMAND_AND, select->source_count);

    for (size_t i = 0; i < select->source_count; i++) {
        const struct source *source = &select->source[i];
        const struct scope *pushed = push(reader, *scope, source, i > 0);
        bool is_hidden = i > 0 && source_rows(source);

        if (!pushed)
            return demand_any();
        reader->hidden += is_hidden;
        demand_put(list, of_source(reader, source, *scope, (struct scope *)pushed));
        reader->hidden -= is_hidden;
        *scope = pushed;
    }
    return list;
}

/* Sources, filter, and of SELECT VALUE a value that is defined. An aggregate has a row of nothing, too. */
static struct demand *of_select(struct reader *reader, const struct select *select, const struct scope *outer,
                                const struct scope **inner)
{
    struct demand *list = demand_list(reader, DEMAND_AND, 3);

    *inner = outer;
    demand_put(list, of_sources(reader, select, inner));
    if (select->where)
        demand_put(list,
                   demand_kinds(reader, (struct term){ select->where, *inner, NULL }, kinds_one(JSON_TRUE)));
    if (select->value && !select->aggregate_count && select->item[0].expr->kind != EXPR_NAME)
        demand_put(list,
                   demand_kinds(reader, (struct term){ select->item[0].expr, *inner, NULL }, KINDS_DEFINED));
    return list;
}

/* A subquery has a row. */
static struct demand *rows_of(struct reader *reader, const struct select *select, const struct scope *outer)
{
    const struct scope *inner;

    if (select->aggregate_count)
        return demand_any();
    return of_select(reader, select, outer, &inner);
}

const struct demand *demand_of_select(struct arena *arena, const struct select *select)
{
    struct reader reader = { .arena = arena };
    const struct scope *inner;

    if (select->source_count == 0)
        return demand_none(&reader);
    return of_select(&reader, select, NULL, &inner);
}
