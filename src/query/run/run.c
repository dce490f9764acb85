/* src/query/run/run.c - a query: compiled, then run page by page in the way that suits it. */
#include <stdlib.h>

#include "base/limits.h"
#include "query/run/ahead.h"
#include "query/run/explain.h"
#include "query/bind/fold.h"
#include "query/text/parse.h"
#include "query/run/run_private.h"
#include "token/token.h"

/* A page that takes long ends with what it has, where it can. */
enum { PAGE_MS_MAX = 2000, ITEMS_BETWEEN_LOOKS = 256, PAGE_CAPACITY_FIRST = 64 };

/*
 * Of everything but the filter: clients that merge ranges go on with a continuation of ours and a filter
 * that leaves out what they have had.
 */
static uint64_t hash_of(struct op *op, struct select *select, struct json parameters)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct expr *where = select->where;
    struct hash128 parts[2];
    struct buf text;

    select->where = NULL;
    buf_init(&text, &op->arena);
    query_print(&text, select);
    select->where = where;
    parts[0] = murmur3_128(text.data, text.size);
    parts[1] = json_hash(parameters);
    arena_rewind(&op->arena, mark);
    return murmur3_128(parts, sizeof(parts)).h1;
}

static struct eval make_eval(struct op *op, struct query *query)
{
    struct value *values =
        arena_alloc(&op->arena, (size_t)(query->bound.slots + query->bound.results) * sizeof(struct value));

    for (int i = 0; i < query->bound.slots + query->bound.results; i++)
        values[i] = value_undefined;
    return (struct eval){ .op = op,
                          .run = ++query->runs,
                          .kept = &op->arena,
                          .static_ticks = op->now_ms * 10000,
                          .planar = query->options.planar,
                          .udf = query->options.udf,
                          .udf_told = query->options.udf_told,
                          .udf_context = query->options.udf_context,
                          .slot = values,
                          .result = values + query->bound.slots };
}

enum status query_compile(struct op *op, struct slice text, struct json parameters,
                          const struct query_options *options, struct query **query)
{
    struct query *made = arena_alloc(&op->arena, sizeof(*made));
    struct eval eval;
    enum status st;

    *made = (struct query){ .options = *options };
    TRY(query_parse(op, text, &made->select));
    made->hash = hash_of(op, made->select, parameters);
    TRY(query_bind(op, made->select, parameters, &made->options, text.size, &made->bound));
    eval = make_eval(op, made);
    fold_select(&eval, made->select);
    TRY(eval.status);
    *query = made;
out:
    return st;
}

enum status query_value(struct op *op, struct query *query, struct json document, struct value *value)
{
    const struct select *select = query->select;
    struct eval eval = make_eval(op, query);

    eval.item = &op->arena;
    eval.slot[SLOT_ROOT] = eval.slot[select->source[0].slot] = value_from_json(document);
    *value = eval_expr(&eval, select->item[0].expr);
    return eval.status;
}

const struct select *query_select(const struct query *query)
{
    return query->select;
}

uint64_t query_hash(const struct query *query)
{
    return query->hash;
}

void run_memory(const struct run *run, struct arena *memory)
{
    arena_init(memory, OP_MEMORY_BYTES_MAX);
    memory->budget = run->query->options.budget;
}

void *run_alloc(struct run *run, size_t bytes)
{
    void *memory = arena_try_alloc(&run->page->memory, bytes);

    if (!memory)
        eval_fail(&run->eval, ST_QUERY_MEMORY);
    return memory;
}

struct slice run_copy(struct run *run, struct slice bytes)
{
    char *copy = run_alloc(run, bytes.size);

    if (!copy)
        return slice_of("");
    memcpy(copy, bytes.data, bytes.size);
    return slice_make(copy, bytes.size);
}

static enum status next_item(struct run *run, bool *found)
{
    arena_reset(&run->item_memory);
    run->item = (struct query_row){ .source = run->source, .weight = 1 };
    run->index = 0;
    return run->source->next(run->eval.op, run->source, &run->item, found);
}

static struct value item_value(struct run *run)
{
    if (!run->source->system)
        return value_from_json(run->item.body);
    return (struct value){ .kind = JSON_OBJECT, .is_row = true, .row = &run->item };
}

static bool is_long(struct run *run, int64_t began_ms)
{
    return env_monotonic_ms(run->eval.op->env) - began_ms > PAGE_MS_MAX;
}

bool run_items(struct run *run, size_t scanned_max, row_sink *sink, void *context)
{
    const struct select *select = run->select;
    int slot = select->whole ? select->source[0].slot : SLOT_ROOT;
    int64_t began_ms = env_monotonic_ms(run->eval.op->env);
    bool found = true;

    for (size_t scanned = 0; scanned_max == 0 || scanned < scanned_max; scanned++) {
        struct arena_mark mark = arena_mark(&run->eval.op->arena);
        enum status st = next_item(run, &found);

        if (st != ST_OK)
            eval_fail(&run->eval, st);
        if (st != ST_OK || !found)
            return st == ST_OK;
        run->eval.slot[slot] = item_value(run);
        if (!rows_walk(&run->eval, select, select->whole ? 1 : 0, sink, context))
            return false;
        arena_rewind(&run->eval.op->arena, mark);
        if (scanned_max && scanned % ITEMS_BETWEEN_LOOKS == 0 && is_long(run, began_ms))
            break;
    }
    return false;
}

static void print_item(struct run *run, struct query_row *row)
{
    struct buf *out = &run->text;
    bool any;

    buf_byte(out, '{');
    any = json_print_members(out, row->body);
    if (!row->system.at)
        row->system = row->source->system(row->source, row, &run->item_memory);
    if (any && json_count(row->system))
        buf_byte(out, ',');
    json_print_members(out, row->system);
    buf_byte(out, '}');
}

static void print_list(struct run *run)
{
    struct buf *out = &run->text;
    const struct select *select = run->select;
    bool any = false;

    buf_byte(out, '{');
    for (size_t i = 0; i < select->item_count && !out->failed; i++) {
        struct value value = eval_expr(&run->eval, select->item[i].expr);

        if (value.kind == JSON_UNDEFINED)
            continue;
        if (any)
            buf_byte(out, ',');
        any = true;
        json_print_string(out, select->item[i].name);
        buf_byte(out, ':');
        if (value.is_row)
            print_item(run, value.row);
        else
            value_print(out, value);
    }
    buf_byte(out, '}');
}

/* An outer SELECT computes with the row: it gets JSON's bytes, not its text. */
static bool print_nested(struct run *run)
{
    struct value value = eval_plain(&run->eval, rows_project(&run->eval, run->select));

    if (value.kind != JSON_UNDEFINED)
        buf_slice(&run->text, json_bytes(value_to_json(run->eval.op, value)));
    return value.kind != JSON_UNDEFINED;
}

static bool print_row(struct run *run)
{
    struct value value;

    if (run->nested)
        return print_nested(run);
    if (!run->select->star && !run->select->value) {
        print_list(run);
        return true;
    }
    value = rows_project(&run->eval, run->select);
    if (value.kind == JSON_UNDEFINED)
        return false;
    if (value.is_row)
        print_item(run, value.row);
    else
        value_print(&run->text, value);
    return true;
}

bool run_print(struct run *run)
{
    bool defined;

    run->text.size = 0;
    defined = print_row(run);
    if (run->text.failed)
        eval_fail(&run->eval, ST_QUERY_MEMORY);
    return defined && run->eval.status == ST_OK;
}

bool run_skips(struct run *run)
{
    if (run->at.skip == 0)
        return false;
    run->at.skip--;
    return true;
}

static bool grow_page(struct run *run)
{
    struct query_page *page = run->page;
    size_t capacity = run->page_capacity ? 2 * run->page_capacity : PAGE_CAPACITY_FIRST;
    struct slice *row = run_alloc(run, capacity * sizeof(*row));

    if (!row)
        return false;
    if (page->count)
        memcpy(row, page->row, page->count * sizeof(*row));
    page->row = row;
    run->page_capacity = capacity;
    return true;
}

bool run_give(struct run *run, struct slice row)
{
    struct query_page *page = run->page;

    if (page->count && (page->count >= run->limits->rows || run->page_bytes + row.size > run->limits->bytes))
        return false;
    if (page->count == run->page_capacity && !grow_page(run))
        return false;
    page->row[page->count++] = row;
    run->page_bytes += row.size;
    run->at.take--;
    return true;
}

void run_goes_on(struct run *run, struct position *next)
{
    next->skip = run->at.skip;
    next->take = run->at.take;
    run->page->next = position_print(&run->page->memory, next);
}

static uint64_t count_of(const struct expr *count, uint64_t otherwise)
{
    return count ? (uint64_t)count->value.integer : otherwise;
}

static enum row_order order_of(const struct select *select)
{
    if (select->group_count || select->aggregate_count || (select->distinct && select->order_count == 0))
        return ORDER_HASH;
    return select->order_count ? ORDER_SORTED : ORDER_NUMBER;
}

/* What a client sends back is a position of this query only if it could have been given by it. */
static bool position_fits(const struct run *run)
{
    enum row_order order = order_of(run->select);

    if (run->at.order == ORDER_CREATION)
        return order == ORDER_NUMBER || order == ORDER_HASH;
    return run->at.order == order &&
           run->at.key_count == (order == ORDER_SORTED ? run->select->order_count : 0);
}

static enum status begin_at(struct run *run, struct slice from)
{
    const struct select *select = run->select;

    run->first = from.size == 0;
    if (run->first) {
        run->at =
            (struct position){ .order = order_of(select),
                               .skip = count_of(select->offset, 0),
                               .take = count_of(select->top ? select->top : select->limit, UINT64_MAX) };
        return ST_OK;
    }
    if (position_parse(from, &run->at) && position_fits(run))
        return ST_OK;
    return continuation_malformed(run->eval.op);
}

static enum status run_select(struct op *op, struct run *run, struct query_source *source, struct slice from);

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

static enum status run_by_order(struct run *run)
{
    uint64_t after = 0;
    bool done = run->at.take == 0;
    enum status st = ST_OK;

    if (!done)
        TRY(run_use_index(run, &done));
    if (done)
        goto out;
    if (run->query->bound.scans && run->query->bound.calls_udfs && run->query->options.udf_told &&
        !run->select->whole)
        run->source = ahead_open(run, run->source, &run->ahead);
    if (run->at.order == ORDER_NUMBER)
        after = run->at.index ? run->at.number - 1 : run->at.number;
    TRY(run->source->seek(run->eval.op, run->source, after));
    if (order_of(run->select) == ORDER_HASH)
        run_groups(run);
    else if (run->at.order == ORDER_NUMBER)
        run_plain(run);
    else
        run_sorted(run);
    st = run->eval.status;
out:
    return st;
}

/* All rows of the subquery in FROM. */
static enum status gather_rows(struct run *run, struct query_source *items, struct query_page *page)
{
    static const struct query_limits all = { SIZE_MAX, SIZE_MAX, 0 };
    struct run inner = { .query = run->query,
                         .select = run->select->source[0].select,
                         .limits = &all,
                         .page = page,
                         .nested = true };

    return run_select(run->eval.op, &inner, items, slice_of(""));
}

/* The subquery in FROM first, when it gathers rows of many items; then the statement over its rows. */
static enum status open_source(struct run *run, struct query_source *items, struct rows_source *rows)
{
    enum status st = ST_OK;

    run->source = items;
    if (run->select->whole) {
        *rows = (struct rows_source){ .base = { .next = rows_source_next, .seek = rows_source_seek } };
        run->source = &rows->base;
        TRY(gather_rows(run, items, &rows->page));
    } else if (!run->query->bound.scans) {
        *rows = (struct rows_source){ .base = { .next = one_next, .seek = one_seek } };
        run->source = &rows->base;
    }
out:
    return st;
}

/* While everything that the run has found out is there. Of a subquery over all items, its own. */
static void explain(struct run *run)
{
    unsigned wanted = run->query->options.explain;
    struct buf out;

    buf_init(&out, &run->page->memory);
    if (wanted & EXPLAIN_PLAN) {
        explain_plan(&out, run);
        run->page->plan = buf_as_slice(&out);
        buf_init(&out, &run->page->memory);
    }
    if (wanted & (EXPLAIN_INDEXES | EXPLAIN_INDEXES_V2)) {
        explain_indexes(&out, run, wanted & EXPLAIN_INDEXES_V2);
        run->page->indexes = buf_as_slice(&out);
    }
}

/* `run` says what of which query to run, and how much of it; the rest of it is this function's. */
static enum status run_select(struct op *op, struct run *run, struct query_source *source, struct slice from)
{
    struct rows_source rows = { 0 };
    enum status st;

    *run->page = (struct query_page){ 0 };
    run_memory(run, &run->page->memory);
    run_memory(run, &run->kept);
    run_memory(run, &run->item_memory);
    run->began = op->work;
    run->eval = make_eval(op, run->query);
    run->eval.kept = &run->kept;
    run->eval.item = &run->item_memory;
    buf_init(&run->text, &run->kept);
    TRY(begin_at(run, from));
    TRY(open_source(run, source, &rows));
    TRY(run_by_order(run));
    if (run->query->options.explain && !run->nested)
        explain(run);
out:
    if (st != ST_OK && op->error)
        op->error = arena_text(&run->page->memory, slice_of(op->error));
    ahead_close(run->ahead);
    query_page_free(&rows.page);
    picked_close(&run->picked);
    covered_close(&run->covered);
    arena_free(&run->kept);
    arena_free(&run->item_memory);
    return st;
}

enum status query_run(struct op *op, struct query *query, struct query_source *source, struct slice from,
                      const struct query_limits *limits, struct query_page *page)
{
    struct run run = { .query = query, .select = query->select, .limits = limits, .page = page };
    struct arena_mark mark = arena_mark(&op->arena);
    enum status st;

    op->arena.budget = query->options.budget;
    st = run_select(op, &run, source, from);
    op->arena.budget = NULL;
    arena_rewind(&op->arena, mark); /* a query that used it all up leaves room for the answer that says so */
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

void query_page_free(struct query_page *page)
{
    arena_free(&page->memory);
    *page = (struct query_page){ 0 };
}
