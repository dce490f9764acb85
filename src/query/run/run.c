/* src/query/run/run.c - a page of a query, made in the way that suits it. */
#include <assert.h>

#include "query/run/ahead.h"
#include "query/run/entries.h"
#include "query/run/explain.h"
#include "query/run/fitting.h"
#include "query/run/picked.h"
#include "query/run/postings.h"
#include "query/run/run_private.h"
#include "query/text/mistake.h"

/* The first page looks whether the answer is small: run_plain.c. */
enum { ROWS_OF_FIRST_PAGE = 1000 };

/* One page of a statement, or all rows of a subquery: what its parts are is said in their own headers. */
struct run {
    struct query *query;
    struct cursor cursor;
    struct fill fill;
    struct way way;

    /* Sources that the cursor reads in place of the one it was given. */
    struct picked_source picked;
    struct entries_source entries;
    struct ahead *ahead;    /* what calls user-defined functions together; NULL: nobody */
    struct near near;       /* ORDER BY VectorDistance by an index of vectors */
    struct fitting fitting; /* ORDER BY _FullTextScore by an index of words */

    struct work began;        /* the operation's when the run began: a plan tells the difference */
    struct select unfiltered; /* the statement, when its filter has been counted in already */
};

static enum status run_select(struct op *op, struct run *run, const struct select *select,
                              struct query_source *source, struct slice from);

/* The rows of a subquery over all items, as a source of their own: numbered from 1, in an order that stays. */
struct rows_source {
    struct query_source base;
    struct query_page page;
    size_t next;
};

static enum status rows_source_next(struct op *op, struct query_source *source, struct query_row *row,
                                    bool *found)
{
    struct rows_source *rows = (struct rows_source *)source;

    (void)op;
    *found = rows->next < rows->page.count;
    if (*found) {
        row->body = json_from_bytes(rows->page.row[rows->next++]);
        row->number = row->counter = rows->next;
    }
    return ST_OK;
}

static enum status rows_source_seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct rows_source *rows = (struct rows_source *)source;

    (void)op;
    rows->next = after < rows->page.count ? (size_t)after : rows->page.count;
    return ST_OK;
}

/* A statement that reads no items is one row: a source of one empty item. */
static enum status one_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct rows_source *one = (struct rows_source *)source;

    (void)op;
    *found = one->next++ == 0;
    row->number = row->counter = 1;
    return ST_OK;
}

static enum status one_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    ((struct rows_source *)source)->next = after > 0;
    return ST_OK;
}

/* ---- the way ---- */

/* How many rows are enough for the page. */
static double rows_wanted(const struct fill *fill)
{
    double rows = (double)fill->limits->rows, take = (double)fill->at.take;

    if (fill->at.order == ORDER_NUMBER && fill->first && !fill->nested && rows < ROWS_OF_FIRST_PAGE)
        rows = ROWS_OF_FIRST_PAGE;
    return (rows < take ? rows : take) + (double)fill->at.skip;
}

static struct way_page page_of(const struct fill *fill)
{
    const struct position *at = &fill->at;
    bool is_sorted =
        fill_order(fill->cursor->select) == ORDER_SORTED && !fill->nested && !fill->cursor->select->distinct;

    return (struct way_page){ .rows = rows_wanted(fill),
                              .ends_early = at->order == ORDER_NUMBER,
                              .needs_items = fill->cursor->select->rank,
                              .is_sorted = is_sorted,
                              .is_first = fill->first,
                              .from_undefined =
                                  is_sorted && !fill->first && at->key[0].kind == JSON_UNDEFINED };
}

static enum status choose_way(struct run *run)
{
    const struct query_options *options = &run->query->options;
    struct way_page page = page_of(&run->fill);
    enum status st;

    run->way = (struct way){ .allowed = options->way,
                             .explains = options->explain != 0,
                             .planner = { .planar = options->planar } };
    TRY(way_choose(&run->way, &run->cursor.eval, run->cursor.source->index, run->cursor.select, &page));
    TRY(run->way.planner.status);
    TRY(op_may_spend(run->cursor.eval.op, run->way.cost)); /* a loop thread does not begin what is long */
out:
    return st;
}

static void pick_items(struct run *run)
{
    picked_open(run->cursor.eval.op, &run->picked, &run->way.planner, run->cursor.source, run->way.picks);
    run->cursor.source = &run->picked.base;
}

/* A count has its filter in it. */
static enum status read_entries(struct run *run)
{
    struct cursor *cursor = &run->cursor;
    enum status st;

    TRY(entries_open(&run->entries, &run->way.covered, &run->way.planner, cursor, cursor->source));
    cursor->source = &run->entries.base;
    if (run->way.covered.kind == COVERED_COUNT) {
        run->unfiltered = *cursor->select;
        run->unfiltered.source = covered_items(cursor->select)->source;
        run->unfiltered.where = NULL;
        cursor->select = &run->unfiltered;
    }
out:
    return st;
}

/* What the index cannot walk to is sorted: rows behind those that the page has already. */
static enum status walk(struct run *run)
{
    struct way_page page;
    bool unfinished;
    enum status st;

    TRY(run_ordered(&run->fill, &run->way, &unfinished));
    if (!unfinished)
        goto out;
    page = page_of(&run->fill);
    TRY(way_choose_items(&run->way, &page));
    if (run->way.picked)
        pick_items(run);
    TRY(cursor_seek(&run->cursor, 0));
    TRY(run_sorted(&run->fill));
out:
    return st;
}

/* ---- rows ---- */

static bool reads_ahead(const struct run *run)
{
    const struct query *query = run->query;

    return query->bound.scans && query->bound.calls_udfs && query->options.udf_told &&
           !run->cursor.select->whole;
}

static enum status make_rows(struct run *run)
{
    struct fill *fill = &run->fill;
    uint64_t after = 0;
    enum status st;

    if (reads_ahead(run))
        run->cursor.source = ahead_open(&run->cursor, &run->query->options, &run->ahead);
    if (fill->at.order == ORDER_NUMBER)
        after = fill->at.index ? cursor_before(&run->cursor, fill->at.number) : fill->at.number;
    TRY(cursor_seek(&run->cursor, after));
    if (fill_order(run->cursor.select) == ORDER_HASH)
        TRY(run_groups(fill));
    else if (fill->at.order == ORDER_NUMBER)
        TRY(run_plain(fill));
    else
        TRY(run_sorted(fill));
out:
    return st;
}

/* Over a source's rows, without the statement's filter. */
static enum status count_words(struct op *op, struct query *query, struct query_source *source,
                               struct ranking *ranking)
{
    struct select unfiltered = *query->select;
    struct cursor cursor;
    enum status st = ST_OK;

    if (!ranking_needs_counts(ranking))
        return ST_OK;
    unfiltered.where = NULL;
    cursor_open(&cursor, op, query, &unfiltered);
    cursor.source = source;
    TRY(ranking_count(ranking, &cursor));
out:
    cursor_close(&cursor);
    return st;
}

/* Statistics and scores by the index, where it has them. */
static enum status load_postings(struct op *op, const struct query *query, const struct select *select,
                                 const struct query_index *index, struct arena *memory,
                                 struct ranking *ranking)
{
    bool served;

    if (query->options.way == QUERY_BY_SCAN || !postings_serve(op, select, ranking, index))
        return ST_OK;
    return postings_load(op, memory, ranking, index, &served);
}

static double hit_count(const struct ranking *ranking)
{
    double count = 0;

    for (size_t i = 0; i < ranking->count && ranking->is_indexed; i++)
        for (size_t k = 0; k < ranking->part[i].search.keyword_count; k++)
            count += ranking->part[i].hits[k];
    return count;
}

static enum status make_ranked(struct run *run)
{
    struct query_source *items = run->cursor.source;
    struct ranked_by by = { .query = run->query, .way = &run->way };
    struct ranking own = { 0 }, *ranking = run->query->ranking;
    struct op *op = run->cursor.eval.op;
    enum status st;

    if (!ranking) {
        ranking = &own;
        TRY(ranking_make(op, run->cursor.select, ranking));
        TRY(load_postings(op, run->query, run->cursor.select, items->index, &run->cursor.kept, ranking));
        TRY(count_words(op, run->query, items, ranking));
    }
    TRY(choose_way(run));
    if (run->way.kind == WAY_PICK)
        pick_items(run);
    run->way.ranks = ranking->is_indexed;
    run->way.hits = hit_count(ranking);
    run->began.entries_read -= run->query->ranking ? ranking->entries_read : 0; /* before the run began */
    by.passing_are_few = run->way.kind == WAY_PICK && run->way.access_items < hit_count(ranking);
    TRY(run_ranked(&run->fill, ranking, items, &by));
out:
    return st;
}

/* ---- the nearest ---- */

static uint64_t rows_of(const struct expr *clause)
{
    return clause && value_is_int(clause->value) && clause->value.integer > 0
               ? (uint64_t)clause->value.integer
               : 0;
}

/* ORDER BY a distance, with TOP or LIMIT: by codes, where they tell which items to read. */
static enum status open_near(struct run *run, uint64_t wanted)
{
    const struct select *select = run->cursor.select;
    struct near *near = &run->near;

    if (!near_find(near, run->query, select, select->order[0].expr, wanted) ||
        select->order[0].descending != near_descends(near) || !near_is_worth(near, &run->way))
        return ST_OK;
    return near_open(near, &run->cursor, &run->way);
}

/* ORDER BY a score of a text, as plans have it: by its words, unless fewer items pass the filter. */
static enum status open_fitting(struct run *run, uint64_t wanted)
{
    struct fitting *fitting = &run->fitting;
    bool found;
    enum status st;

    TRY(fitting_find(fitting, run->cursor.eval.op, run->query, run->cursor.select, wanted, &found));
    if (found && fitting_is_worth(fitting, &run->way))
        TRY(fitting_open(fitting, &run->cursor, &run->way, run->fill.by_creation));
out:
    return st;
}

/* Who says which items are read, where somebody can. */
static enum status find_lead(struct run *run, struct lead **lead)
{
    const struct select *select = run->cursor.select;
    uint64_t take = rows_of(select->top ? select->top : select->limit),
             wanted = take + rows_of(select->offset);
    enum status st = ST_OK;

    *lead = NULL;
    if (!run->way.access || run->fill.nested || select->order_count != 1 || take == 0 || take > UINT32_MAX)
        return ST_OK;
    TRY(open_near(run, wanted));
    if (run->near.is_open)
        *lead = &run->near.lead;
    else
        TRY(open_fitting(run, wanted));
    if (run->fitting.is_open)
        *lead = &run->fitting.lead;
out:
    return st;
}

static enum status make_led(struct run *run, struct lead *lead)
{
    bool unfinished;
    enum status st;

    TRY(run_led(&run->fill, lead, &unfinished));
    run->way.nears = run->near.is_open && !unfinished;
    run->way.ranks = run->fitting.is_open && !unfinished;
    run->way.hits = run->fitting.is_open ? fitting_hits(&run->fitting) : 0;
    run->way.walks = run->near.walked;
    run->way.codes = run->near.search.codes;
    near_close(&run->near);
    if (!unfinished)
        goto out;
    if (run->way.kind == WAY_PICK)
        pick_items(run);
    TRY(make_rows(run));
out:
    return st;
}

/* Statistics of texts, where an index has them. */
static enum status make_tallied(struct run *run, bool *made)
{
    const struct query_index *index = run->cursor.source->index;
    struct op *op = run->cursor.eval.op;
    struct tallied tallied;
    enum status st;

    *made = false;
    if (!run->way.access || run->fill.nested)
        return ST_OK;
    TRY(tallied_find(&tallied, op, run->cursor.select, index, made));
    if (!*made)
        goto out;
    TRY(tallied_open(&tallied, op, index));
    *made = run->way.ranks = tallied.is_open;
    run->way.hits = tallied.hits;
    if (*made)
        TRY(run_tallied(&run->fill, &tallied));
out:
    return st;
}

static enum status make_page(struct run *run)
{
    struct lead *lead;
    bool is_made;
    enum status st = ST_OK;

    if (run->fill.at.take == 0)
        return ST_OK;
    if (run->cursor.select->rank)
        return make_ranked(run);
    TRY(choose_way(run));
    if (run->way.kind == WAY_WALK) {
        st = walk(run);
        goto out;
    }
    TRY(make_tallied(run, &is_made));
    if (is_made)
        goto out;
    TRY(find_lead(run, &lead));
    if (lead) {
        st = make_led(run, lead);
        goto out;
    }
    if (run->way.kind == WAY_ENTRIES)
        TRY(read_entries(run));
    if (run->way.kind == WAY_PICK)
        pick_items(run);
    TRY(make_rows(run));
out:
    return st;
}

/* ---- statements ---- */

/* All rows of the subquery in FROM. */
static enum status gather_rows(struct run *run, struct query_source *items, struct query_page *page)
{
    static const struct query_limits all = { .rows = SIZE_MAX, .bytes = SIZE_MAX };
    struct run inner = { .query = run->query,
                         .fill = { .page = page, .limits = &all, .nested = true, .values = true } };

    return run_select(run->cursor.eval.op, &inner, source_rows(&run->cursor.select->source[0]), items,
                      slice_of(""));
}

/* The subquery in FROM first, when it gathers rows of many items; then the statement over its rows. */
static enum status open_source(struct run *run, struct query_source *items, struct rows_source *rows)
{
    struct cursor *cursor = &run->cursor;
    enum status st = ST_OK;

    cursor->source = items;
    if (cursor->select->whole) {
        *rows = (struct rows_source){ .base = { .next = rows_source_next, .seek = rows_source_seek } };
        cursor->source = &rows->base;
        if (!run->query->gathers_elsewhere)
            TRY(gather_rows(run, items, &rows->page));
    } else if (!run->query->bound.scans) {
        *rows = (struct rows_source){ .base = { .next = one_next, .seek = one_seek } };
        cursor->source = &rows->base;
    }
out:
    return st;
}

static bool was_slow(const struct run *run)
{
    int64_t after_us = run->query->options.plan_after_us;

    return after_us && env_monotonic_us(run->cursor.eval.op->env) >= after_us;
}

/* While everything that the run has found out is there. Of a subquery over all items, its own. */
static void explain(struct run *run)
{
    unsigned wanted = run->query->options.explain | (was_slow(run) ? EXPLAIN_PLAN : 0);
    const struct work *work = &run->cursor.eval.op->work;
    struct work read = { .entries_read = work->entries_read - run->began.entries_read,
                         .documents_scanned = work->documents_scanned - run->began.documents_scanned };
    struct query_page *page = run->fill.page;
    struct buf out;

    buf_init(&out, &page->memory);
    if (wanted & EXPLAIN_PLAN) {
        explain_plan(&out, &run->way, &read, page->count);
        page->plan = buf_as_slice(&out);
        buf_init(&out, &page->memory);
    }
    if (wanted & (EXPLAIN_INDEXES | EXPLAIN_INDEXES_V2)) {
        explain_indexes(&out, &run->way, run->cursor.select, run->query->options.indexing,
                        wanted & EXPLAIN_INDEXES_V2);
        page->indexes = buf_as_slice(&out);
    }
}

/* `run` says of which query, and how much of it goes onto which page; the rest of it is this function's. */
static enum status run_select(struct op *op, struct run *run, const struct select *select,
                              struct query_source *source, struct slice from)
{
    struct rows_source rows = { 0 };
    enum status st;

    assert(run->fill.page && run->fill.limits);
    run->began = op->work;
    cursor_open(&run->cursor, op, run->query, select);
    run->fill.by_creation = source->ties_by_creation && !select->whole;
    TRY(fill_begin(&run->fill, &run->cursor, from));
    TRY(open_source(run, source, &rows));
    TRY(make_page(run));
    if (!run->fill.nested)
        explain(run);
    TRY(run->way.planner.status);
out:
    if (st != ST_OK && op->error)
        op->error = arena_text(&run->fill.page->memory, slice_of(op->error));
    ahead_close(run->ahead);
    near_close(&run->near);
    query_page_free(&rows.page);
    picked_close(&run->picked);
    entries_close(&run->entries);
    cursor_close(&run->cursor);
    return st;
}

enum status query_run(struct op *op, struct query *query, struct query_source *source, struct slice from,
                      const struct query_limits *limits, struct query_page *page)
{
    struct run run = { .query = query,
                       .fill = { .page = page,
                                 .limits = limits,
                                 .values = query->options.rows_as_values,
                                 .resume = query->resume } };
    struct arena_mark mark = arena_mark(&op->arena);
    enum status st;

    if (query->select->refusal)
        return mistake_bare(op, "%s", query->select->refusal);
    op->seed = source->seed;
    claim_move(&op->claim, HOLDER_QUERIES);
    st = run_select(op, &run, query->select, source, from);
    arena_rewind(&op->arena, mark); /* a query that used it all up leaves room for the answer that says so */
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

bool query_ranks(const struct query *query)
{
    return query->select->rank && query->bound.scans;
}

enum status query_count_by_index(struct op *op, struct query *query, const struct query_source *source,
                                 bool *counted)
{
    struct ranking *ranking = arena_alloc(&op->arena, sizeof(*ranking));
    enum status st = ST_OK;

    *counted = true;
    if (!query_ranks(query))
        return ST_OK;
    *ranking = (struct ranking){ 0 };
    TRY(ranking_make(op, query->select, ranking));
    TRY(load_postings(op, query, query->select, source->index, &op->arena, ranking));
    *counted = !ranking_needs_counts(ranking);
    if (*counted)
        query->ranking = ranking;
out:
    return st;
}

enum status query_count_words(struct op *op, struct query *query, struct query_source *all)
{
    struct ranking *ranking = arena_alloc(&op->arena, sizeof(*ranking));
    enum status st;

    *ranking = (struct ranking){ 0 };
    TRY(ranking_make(op, query->select, ranking));
    TRY(count_words(op, query, all, ranking));
    query->ranking = ranking;
out:
    return st;
}

void query_page_free(struct query_page *page)
{
    arena_free(&page->memory);
    *page = (struct query_page){ 0 };
}
