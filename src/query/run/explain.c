/* src/query/run/explain.c - plans and index metrics as JSON. */
#include <ctype.h>

#include "query/eval/builtin.h"
#include "query/function/vector.h"
#include "query/run/explain.h"

enum { PATHS_MAX = 16, PLAN_TEXT_MAX = 2000 };

/* ---- the plan ---- */

static const char *name_of(const struct way *way)
{
    if (way->kind == WAY_WALK)
        return "walk";
    if (way->covered.kind != COVERED_NOT)
        return "entries";
    return way->picked ? "pick" : "scan";
}

void explain_plan(struct buf *out, const struct way *way, const struct work *read, size_t rows)
{
    struct buf filter;

    buf_printf(out, "{\"way\":\"%s\"", way->ranks ? "rank" : way->nears ? "near" : name_of(way));
    if (way->access) {
        buf_init(&filter, &way->planner.op->arena);
        access_print(&filter, way->picked ? way->picks : way->access);
        if (filter.size > PLAN_TEXT_MAX)
            filter.size = PLAN_TEXT_MAX;
        buf_text(out, ",\"filter\":");
        json_print_string(out, buf_as_slice(&filter));
        buf_printf(out, ",\"expected\":{\"scope\":%.0f,\"items\":%.0f}", way->scope_items, way->access_items);
    }
    if (way->ranks)
        buf_printf(out, ",\"hits\":%.0f", way->hits);
    if (way->nears)
        buf_printf(out, ",\"codes\":%llu,\"graph\":%s", (unsigned long long)way->codes,
                   way->walks ? "true" : "false");
    buf_printf(out, ",\"entries\":%llu,\"documents\":%llu,\"rows\":%zu}",
               (unsigned long long)read->entries_read, (unsigned long long)read->documents_scanned, rows);
}

/* ---- index metrics ---- */

struct single {
    const struct index_path *path;
    const struct access *range; /* NULL: not the filter's */
    bool is_scope;              /* the request's partition key, of which no filter tells */
};

struct indexes {
    struct single single[PATHS_MAX];
    size_t count;
    struct index_path order; /* ORDER BY's one path */
    struct item_path order_steps;
    const struct index_joined *composite; /* that serves ORDER BY, or the filter */
};

static bool has_path(const struct indexes *indexes, const struct index_path *path)
{
    for (size_t i = 0; i < indexes->count; i++)
        if (index_path_equal(indexes->single[i].path, path))
            return true;
    return false;
}

static void add_path(struct indexes *indexes, const struct index_path *path, const struct access *range)
{
    if (indexes->count < PATHS_MAX && !has_path(indexes, path))
        indexes->single[indexes->count++] = (struct single){ path, range, false };
}

static void drop_path(struct indexes *indexes, const struct index_path *path)
{
    size_t kept = 0;

    for (size_t i = 0; i < indexes->count; i++)
        if (!index_path_equal(indexes->single[i].path, path))
            indexes->single[kept++] = indexes->single[i];
    indexes->count = kept;
}

static void add_ranges(struct indexes *indexes, const struct access *access)
{
    if (access->kind == ACCESS_RANGE && !access->is_left_out)
        add_path(indexes, &access->path, access);
    for (size_t i = 0; i < access->kid_count; i++)
        add_ranges(indexes, access->kid[i]);
}

static struct alias alias_of(const struct select *select)
{
    return (struct alias){ .source = select->source };
}

static void add_order(struct indexes *indexes, struct way *way, const struct select *select)
{
    struct alias alias;
    struct order_walk walk;

    if (!select->order_count || !order_walk_of(&way->planner, select, way->access, &walk))
        return;
    indexes->composite = walk.joined;
    alias = alias_of(select);
    if (walk.joined || !item_path_of(&alias, select->order[0].expr, &indexes->order_steps))
        return;
    indexes->order = (struct index_path){ indexes->order_steps.step, indexes->order_steps.count };
    add_path(indexes, &indexes->order, NULL);
}

/* A path of the select list, if the index has it. */
static void add_item_path(struct indexes *indexes, struct way *way, const struct select *select,
                          const struct expr *expr)
{
    struct alias alias = alias_of(select);
    struct arena *arena = &way->planner.op->arena;
    struct kept_path *kept = arena_alloc(arena, sizeof(*kept));
    struct item_path steps;
    path_id id;

    item_path_begin(&steps);
    if (item_path_of(&alias, expr, &steps) && steps.count && item_path_keep(arena, &steps, kept) &&
        access_path_id(&way->planner, &kept->steps, kept->traits.computed, &id))
        add_path(indexes, &kept->steps, NULL);
}

/* What aggregates look at, and tests that would be served by the index if they stood in the filter. */
static void add_selected(struct indexes *indexes, struct way *way, const struct select *select)
{
    for (size_t i = 0; i < select->aggregate_count; i++)
        if (select->aggregate[i]->kid_count)
            add_item_path(indexes, way, select, select->aggregate[i]->kid[0]);
    for (size_t i = 0; i < select->item_count && !select->aggregate_count; i++)
        if (select->item[i].expr->kind == EXPR_CALL) {
            struct select test = *select;

            test.where = select->item[i].expr;
            add_ranges(indexes, access_of_select(&way->planner, &test));
        }
}

static void add_scope(struct indexes *indexes, const struct query_index *index)
{
    for (size_t i = 0; i < index->key_value_count; i++)
        if (indexes->count < PATHS_MAX && !has_path(indexes, &index->key[i]))
            indexes->single[indexes->count++] = (struct single){ &index->key[i], NULL, true };
}

/* The first composite index that serves the filter. */
static const struct index_joined *composite_of(const struct access *access)
{
    const struct index_joined *joined = access->joined;

    for (size_t i = 0; i < access->kid_count && !joined; i++)
        joined = composite_of(access->kid[i]);
    return joined;
}

static bool is_plain(struct slice name)
{
    for (size_t i = 0; i < name.size; i++)
        if (!isalnum((unsigned char)name.data[i]) && name.data[i] != '_' &&
            (unsigned char)name.data[i] < 0x80)
            return false;
    return name.size && !isdigit((unsigned char)name.data[0]);
}

/* As an indexing policy spells it: names that are no identifiers stand in quotes. */
static void print_name(struct buf *out, struct slice name)
{
    if (is_plain(name))
        buf_slice(out, name);
    else
        json_print_string(out, name);
}

static void print_spec(struct buf *out, const struct index_path *path, const char *end)
{
    struct buf text;

    buf_init(&text, out->arena);
    for (size_t i = 0; i < path->count; i++) {
        buf_byte(&text, '/');
        if (path->step[i].element)
            buf_text(&text, "[]");
        else
            print_name(&text, path->step[i].name);
    }
    buf_text(&text, end);
    json_print_string(out, buf_as_slice(&text));
}

/* (ROOT.a = 3), as far as a range tells. */
static void print_expression(struct buf *out, const struct single *single)
{
    const struct interval *interval = single->range ? &single->range->interval : NULL;
    const struct bound_value *low = interval ? &interval->low : NULL,
                             *high = interval ? &interval->high : NULL;
    const struct bound_value *bound = low && low->is_set ? low : high;
    struct buf text;

    if (single->is_scope) {
        buf_text(out, "\"\"");
        return;
    }
    buf_init(&text, out->arena);
    buf_text(&text, "(ROOT");
    for (size_t i = 0; i < single->path->count; i++) {
        buf_text(&text, single->path->step[i].element ? "[]" : ".");
        buf_slice(&text, single->path->step[i].name);
    }
    if (bound && bound->is_set &&
        !(interval->is_prefix || (low->is_set && high->is_set && !single->range->one_term))) {
        buf_text(&text, single->range->one_term ? " = " : bound == low ? " >" : " <");
        if (!single->range->one_term)
            buf_text(&text, bound->is_open ? " " : "= ");
        value_print(&text, bound->value);
    }
    buf_byte(&text, ')');
    json_print_string(out, buf_as_slice(&text));
}

static void print_single(struct buf *out, const struct single *single, bool v2, bool exact)
{
    if (v2) {
        buf_text(out, "{\"IndexSpec\":");
        print_spec(out, single->path, "/?");
        buf_byte(out, '}');
        return;
    }
    buf_text(out, "{\"FilterExpression\":");
    print_expression(out, single);
    buf_text(out, ",\"IndexSpec\":");
    print_spec(out, single->path, "/?");
    buf_printf(out, ",\"FilterPreciseSet\":%s,\"IndexPreciseSet\":true,\"IndexImpactScore\":\"High\"}",
               exact ? "true" : "false");
}

static void print_singles(struct buf *out, const struct indexes *indexes, bool v2)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < indexes->count; i++) {
        const struct access *range = indexes->single[i].range;

        if (i)
            buf_byte(out, ',');
        print_single(out, &indexes->single[i], v2, !range || range->exact);
    }
    buf_byte(out, ']');
}

/* The second form tells how much an index would help, and nothing more of one that is used. */
static void print_composite_end(struct buf *out, bool v2, bool potential)
{
    if (!v2)
        buf_text(out, "],\"IndexPreciseSet\":true,\"IndexImpactScore\":\"High\"}");
    else
        buf_text(out, potential ? "],\"IndexImpactScore\":\"High\"}" : "]}");
}

static void print_joined(struct buf *out, const struct index_joined *joined, bool v2)
{
    buf_byte(out, '[');
    if (joined) {
        buf_text(out, "{\"IndexSpecs\":[");
        for (size_t i = 0; i < joined->part_count; i++) {
            if (i)
                buf_byte(out, ',');
            print_spec(out, &joined->part[i], joined->descending[i] ? " DESC" : " ASC");
        }
        print_composite_end(out, v2, false);
    }
    buf_byte(out, ']');
}

/* ---- their order: an access has them in its own ---- */

static size_t path_bytes(const struct index_path *path)
{
    size_t bytes = 0;

    for (size_t i = 0; i < path->count; i++)
        bytes += 1 + path->step[i].name.size;
    return bytes;
}

/* Where the path first stands in the expression; SIZE_MAX: not at all. */
static size_t place_of(const struct alias *alias, const struct expr *expr, const struct index_path *path)
{
    struct item_path steps;
    struct index_path here;
    size_t place = SIZE_MAX;

    item_path_begin(&steps);
    if (item_path_of(alias, expr, &steps)) {
        here = (struct index_path){ steps.step, steps.count };
        if (index_path_equal(&here, path))
            return expr->span.start;
    }
    for (size_t i = 0; i < expr->kid_count && place == SIZE_MAX; i++)
        place = place_of(alias, expr->kid[i], path);
    return place;
}

typedef bool path_order(const struct alias *alias, const struct expr *where, const struct index_path *a,
                        const struct index_path *b);

static bool is_told_before(const struct alias *alias, const struct expr *where, const struct index_path *a,
                           const struct index_path *b)
{
    return place_of(alias, where, a) < place_of(alias, where, b);
}

/* The longest first, as in every answer of the service that was recorded; of one length as the filter has them. */
static bool is_named_before(const struct alias *alias, const struct expr *where, const struct index_path *a,
                            const struct index_path *b)
{
    size_t a_bytes = path_bytes(a), b_bytes = path_bytes(b);

    if (a_bytes != b_bytes)
        return a_bytes > b_bytes;
    return is_told_before(alias, where, a, b);
}

static void sort_paths(struct indexes *indexes, const struct select *select, path_order *is_before)
{
    struct alias alias;

    if (!select->where)
        return;
    alias = alias_of(select);
    for (size_t i = 1; i < indexes->count; i++)
        for (size_t j = i;
             j > 0 && is_before(&alias, select->where, indexes->single[j].path, indexes->single[j - 1].path);
             j--) {
            struct single moved = indexes->single[j];

            indexes->single[j] = indexes->single[j - 1];
            indexes->single[j - 1] = moved;
        }
}

/* ---- composite indexes that would help ---- */

struct better {
    struct indexes fixed, ranges; /* paths of which the filter says a value, and others */
    bool grouped;                 /* GROUP BY is of the fixed ones */
};

static bool is_grouped_by(const struct select *select, const struct indexes *fixed)
{
    struct alias alias;

    if (select->group_count < 2 || select->group_count != fixed->count)
        return false;
    alias = alias_of(select);
    for (size_t i = 0; i < select->group_count; i++) {
        struct item_path steps;
        struct index_path path;

        item_path_begin(&steps);
        if (!item_path_of(&alias, select->group[i], &steps))
            return false;
        path = (struct index_path){ steps.step, steps.count };
        if (!has_path(fixed, &path))
            return false;
    }
    return true;
}

/*
 * Values that the filter fixes and a range behind them would lie together in one index, and so would values by which rows
 * are grouped. Values alone are found well enough by the indexes that there are.
 */
static void find_better(struct better *better, const struct access *access, const struct select *select)
{
    for (size_t i = 0; access->kind == ACCESS_AND && i < access->kid_count; i++) {
        const struct access *kid = access->kid[i];

        if (kid->kind == ACCESS_RANGE && !kid->of_element && !kid->is_left_out)
            add_path(kid->one_term ? &better->fixed : &better->ranges, &kid->path, kid);
    }
    if (!better->fixed.count)
        better->ranges.count = 0;
    sort_paths(&better->fixed, select, is_told_before);
    sort_paths(&better->ranges, select, is_told_before);
    better->grouped = is_grouped_by(select, &better->fixed);
}

static bool has_better(const struct better *better)
{
    return better->ranges.count || better->grouped;
}

static void print_better_one(struct buf *out, const struct indexes *fixed, const struct single *range,
                             bool v2)
{
    buf_text(out, "{\"IndexSpecs\":[");
    for (size_t i = 0; i < fixed->count; i++) {
        if (i)
            buf_byte(out, ',');
        print_spec(out, fixed->single[i].path, " ASC");
    }
    if (range) {
        buf_byte(out, ',');
        print_spec(out, range->path, " ASC");
    }
    print_composite_end(out, v2, true);
}

static void print_better(struct buf *out, const struct better *better, bool v2)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < better->ranges.count; i++) {
        if (i)
            buf_byte(out, ',');
        print_better_one(out, &better->fixed, &better->ranges.single[i], v2);
    }
    if (!better->ranges.count && better->grouped)
        print_better_one(out, &better->fixed, NULL, v2);
    buf_byte(out, ']');
}

/* ---- in the second form ---- */

static bool is_of_filter(const struct indexes *indexes, const struct index_path *path)
{
    for (size_t i = 0; i < indexes->count; i++)
        if (indexes->single[i].range && index_path_equal(indexes->single[i].path, path))
            return true;
    return false;
}

/*
 * A path that both ORDER BY and the filter have is not named beside others of the filter, unless a composite index would
 * help.
 */
static void arrange(struct indexes *used, const struct better *better, const struct select *select)
{
    if (used->order.count && used->count > 1 && is_of_filter(used, &used->order) && !has_better(better))
        drop_path(used, &used->order);
    sort_paths(used, select, is_named_before);
}

static void find_used(struct indexes *used, struct way *way, const struct select *select)
{
    add_ranges(used, way->access);
    add_order(used, way, select);
    add_selected(used, way, select);
    if (!used->composite)
        used->composite = composite_of(way->picks);
}

/* ---- texts and vectors ---- */

/* What rows are ranked by. */
struct scores {
    struct indexes *used, *wanted;
    struct way *way;
    const struct select *select;
    struct json indexing;
};

static bool has_index(const struct scores *scores, bool is_text, const struct expr *expr,
                      const struct index_path *path)
{
    const struct query_index *index = scores->way->planner.index;

    struct index_text text;

    if (is_text)
        return index->has_text && index->has_text(index, path, &text);
    return json_kind(vector_index_of(expr, scores->indexing)) != JSON_UNDEFINED;
}

static void add_scored_path(const struct scores *scores, bool is_text, const struct expr *expr)
{
    struct alias alias = alias_of(scores->select);
    struct arena *arena = &scores->way->planner.op->arena;
    struct kept_path *kept = arena_alloc(arena, sizeof(*kept));
    struct item_path steps;

    item_path_begin(&steps);
    if (item_path_of(&alias, expr, &steps) && steps.count && item_path_keep(arena, &steps, kept))
        add_path(has_index(scores, is_text, expr, &kept->steps) ? scores->used : scores->wanted, &kept->steps,
                 NULL);
}

/* A text's path is a score's first argument, a vector's one of the first two. */
static void add_score(const struct scores *scores, const struct expr *call)
{
    bool is_text = call->kind == EXPR_CALL && call->builtin->flags & SCORES;

    if (is_text || (call->kind == EXPR_CALL && call->builtin->bind == vector_bind))
        for (size_t i = 0; i < (is_text ? 1 : 2) && i < call->kid_count; i++)
            add_scored_path(scores, is_text, call->kid[i]);
}

static void add_scores(const struct scores *scores)
{
    const struct expr *by = scores->select->order_count == 1 ? scores->select->order[0].expr : NULL;

    if (!by || by->kind != EXPR_CALL)
        return;
    if (!(by->builtin->flags & FUSES))
        add_score(scores, by);
    for (size_t i = 0; by->builtin->flags & FUSES && i < by->kid_count; i++)
        add_score(scores, by->kid[i]);
}

/* The four lists: their names differ between the two forms, and so does their order. */
void explain_indexes(struct buf *out, struct way *way, const struct select *select, struct json indexing,
                     bool v2)
{
    struct indexes used = { 0 }, wanted = { 0 };
    struct scores scores = { &used, &wanted, way, select, indexing };
    struct better better = { 0 };

    if (way->access && select->source_count) {
        find_used(&used, way, select);
        for (size_t i = 0; i < way->planner.missing_count; i++)
            add_path(&wanted, &way->planner.missing[i], NULL);
        if (!used.composite)
            find_better(&better, way->access, select);
        if (v2)
            arrange(&used, &better, select);
        add_scores(&scores);
        add_scope(&used, way->planner.index);
    }
    buf_text(out, v2 ? "{\"UtilizedIndexes\":{\"SingleIndexes\":" : "{\"UtilizedSingleIndexes\":");
    print_singles(out, &used, v2);
    if (v2) {
        buf_text(out, ",\"CompositeIndexes\":");
        print_joined(out, used.composite, v2);
        buf_text(out, "},\"PotentialIndexes\":{\"SingleIndexes\":");
        print_singles(out, &wanted, v2);
    } else {
        buf_text(out, ",\"PotentialSingleIndexes\":");
        print_singles(out, &wanted, v2);
        buf_text(out, ",\"UtilizedCompositeIndexes\":");
        print_joined(out, used.composite, v2);
    }
    buf_text(out, v2 ? ",\"CompositeIndexes\":" : ",\"PotentialCompositeIndexes\":");
    print_better(out, &better, v2);
    buf_text(out, v2 ? "}}" : "}");
}
