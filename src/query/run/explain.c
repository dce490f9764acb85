/* src/query/run/explain.c - plans and index metrics as JSON. */
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

    buf_printf(out, "{\"way\":\"%s\"", way->ranks ? "rank" : name_of(way));
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
    buf_printf(out, ",\"entries\":%llu,\"documents\":%llu,\"rows\":%zu}",
               (unsigned long long)read->entries_read, (unsigned long long)read->documents_scanned, rows);
}

/* ---- index metrics ---- */

struct single {
    const struct index_path *path;
    const struct access *range; /* NULL: ORDER BY's */
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
        indexes->single[indexes->count++] = (struct single){ path, range };
}

static void add_ranges(struct indexes *indexes, const struct access *access)
{
    if (access->kind == ACCESS_RANGE && !access->is_left_out)
        add_path(indexes, &access->path, access);
    for (size_t i = 0; i < access->kid_count; i++)
        add_ranges(indexes, access->kid[i]);
}

static void add_order(struct indexes *indexes, struct way *way, const struct select *select)
{
    const struct source *first = select->source;
    struct alias alias = { 0 };
    struct order_walk walk;

    if (!select->order_count || !order_walk_of(&way->planner, select, way->access, &walk))
        return;
    indexes->composite = walk.joined;
    alias = (struct alias){ .slot = first->slot, .path = first->path };
    if (walk.joined || !item_path_of(&alias, select->order[0].expr, &indexes->order_steps))
        return;
    indexes->order = (struct index_path){ indexes->order_steps.step, indexes->order_steps.count };
    add_path(indexes, &indexes->order, NULL);
}

/* The first composite index that serves the filter. */
static const struct index_joined *composite_of(const struct access *access)
{
    const struct index_joined *joined = access->joined;

    for (size_t i = 0; i < access->kid_count && !joined; i++)
        joined = composite_of(access->kid[i]);
    return joined;
}

static void print_spec(struct buf *out, const struct index_path *path, const char *end)
{
    struct buf text;

    buf_init(&text, out->arena);
    access_print_path(&text, path);
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

/*
 * Values that the filter fixes and one range behind them would lie together in one index. Values alone are found well
 * enough by the indexes that there are.
 */
static void print_better(struct buf *out, const struct access *access, bool v2)
{
    struct indexes fixed = { 0 };
    const struct access *range = NULL;

    for (size_t i = 0; access->kind == ACCESS_AND && i < access->kid_count; i++) {
        const struct access *kid = access->kid[i];

        if (kid->kind == ACCESS_RANGE && !kid->of_element && kid->one_term)
            add_path(&fixed, &kid->path, kid);
        else if (kid->kind == ACCESS_RANGE && !kid->of_element && !range)
            range = kid;
    }
    if (range)
        add_path(&fixed, &range->path, range);
    buf_byte(out, '[');
    if (range && fixed.count > 1) {
        buf_text(out, "{\"IndexSpecs\":[");
        for (size_t i = 0; i < fixed.count; i++) {
            if (i)
                buf_byte(out, ',');
            print_spec(out, fixed.single[i].path, " ASC");
        }
        print_composite_end(out, v2, true);
    }
    buf_byte(out, ']');
}

/* The four lists: their names differ between the two forms, and so does their order. */
void explain_indexes(struct buf *out, struct way *way, const struct select *select, bool v2)
{
    struct indexes used = { 0 }, wanted = { 0 };

    if (way->access) {
        add_ranges(&used, way->access);
        add_order(&used, way, select);
        if (!used.composite)
            used.composite = composite_of(way->picks);
        for (size_t i = 0; i < way->planner.missing_count; i++)
            add_path(&wanted, &way->planner.missing[i], NULL);
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
    if (way->access && !used.composite)
        print_better(out, way->access, v2);
    else
        buf_text(out, "[]");
    buf_text(out, v2 ? "}}" : "}");
}
