/* test/unit/query/shelf.c - a table whose items have an index. */
#include "shelf.h"
#include "index/entries.h"
#include "keys/keys.h"
#include "query/computed.h"
#include "store/store.h"

enum { BUCKET = 7, TS_MS = 1700000000000 };

static struct json quoted(const char *text)
{
    char *copy = arena_text(&test_op()->arena, slice_of(text));
    struct json json = json_undefined;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CHECK(json_parse(test_op(), slice_of(copy), &json) == ST_OK);
    return json;
}

static const struct query_row *row_of(const struct table *table, uint64_t number)
{
    size_t from = 0, to = table->count;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (table->row[middle].number == number)
            return &table->row[middle];
        if (table->row[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

static enum status next_picked(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct shelf *shelf = (struct shelf *)source;

    (void)op;
    *found = false;
    while (!*found && shelf->at_pick < shelf->pick_count) {
        uint64_t number = shelf->pick[shelf->at_pick++];
        const struct query_row *there = row_of(&shelf->table, number);

        *found = there;
        if (there)
            *row = *there;
        row->weight = 1;
    }
    shelf->picked += *found;
    row->source = source;
    return ST_OK;
}

static enum status next_in_order(struct op *op, struct query_source *source, struct query_row *row,
                                 bool *found)
{
    struct shelf *shelf = (struct shelf *)source;
    struct table *table = &shelf->table;

    if (shelf->pick)
        return next_picked(op, source, row, found);
    *found = table->next < table->count;
    table->reads++;
    if (*found)
        *row = table->row[table->next++];
    row->weight = 1;
    row->source = source;
    return ST_OK;
}

static enum status seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct shelf *shelf = (struct shelf *)source;
    struct table *table = &shelf->table;

    (void)op;
    shelf->pick = NULL;
    for (table->next = 0; table->next < table->count && table->row[table->next].number <= after;)
        table->next++;
    return ST_OK;
}

static enum status pick(struct op *op, struct query_source *source, const uint64_t *number, size_t count)
{
    struct shelf *shelf = (struct shelf *)source;

    (void)op;
    shelf->pick = number;
    shelf->pick_count = count;
    shelf->at_pick = 0;
    return ST_OK;
}

static const struct shelf *shelf_of(const struct query_index *index)
{
    return (const struct shelf *)((const char *)index - offsetof(struct shelf, index));
}

static bool has(const struct query_index *index, const struct index_path *path)
{
    return index_policy_has_values(shelf_of(index)->policy, path);
}

static bool has_joined(const struct query_index *index, path_id id)
{
    (void)index, (void)id;
    return true;
}

static bool has_spatial(const struct query_index *index, const struct index_path *path)
{
    struct index_spatial spatial;

    return index_policy_spatial(shelf_of(index)->policy, path, &spatial);
}

static bool computes(const struct query_index *index, struct slice name, path_id *id)
{
    const struct index_policy *policy = shelf_of(index)->policy;

    return index_policy_computes(policy, name, index_policy_query(policy, name), id);
}

void shelf_open(struct shelf *shelf, const char *policy, size_t count)
{
    shelf_open_with(shelf, policy, json_undefined, count);
}

void shelf_open_with(struct shelf *shelf, const char *policy, struct json computed, size_t count)
{
    struct index_policy_source source = { .policy = quoted(policy),
                                          .computed = computed,
                                          .compute = computed_value };
    struct store_options options = { .kind = STORE_MEMORY };

    *shelf = (struct shelf){ .computed = computed };
    table_init(&shelf->table, count);
    shelf->table.base.next = next_in_order;
    shelf->table.base.seek = seek;
    shelf->table.base.pick = pick;
    CHECK(index_policy_read(test_op(), &test_op()->arena, &source, &shelf->policy) == ST_OK);
    CHECK(store_open(test_op(), &options, &shelf->store) == ST_OK);
}

/* A term that no document has. */
static struct slice left_out_term(void)
{
    uint8_t *term = arena_alloc(&test_op()->arena, TERM_PATH_BYTES + 1);

    term_put_path(term, path_element(path_root(TERM_RANGE)));
    term[TERM_PATH_BYTES] = 1;
    return slice_make(term, TERM_PATH_BYTES + 1);
}

void shelf_index(struct shelf *shelf)
{
    struct op *op = test_op();
    struct batch *batch = batch_new(op, BUCKET);
    struct commit_stamp stamp;
    struct bucket *bucket;

    for (size_t i = 0; i < shelf->table.count; i++) {
        struct index_item item = { .policy = shelf->policy,
                                   .document = shelf->table.row[i].body,
                                   .ts_ms = TS_MS };

        if (shelf->left_out_every && i % shelf->left_out_every == 0) {
            batch_index_add(batch,
                            key_index(&op->arena, BUCKET, left_out_term(), shelf->table.row[i].number));
            continue;
        }
        CHECK(index_change(op, batch, shelf->table.row[i].number, NULL, &item) == ST_OK);
    }
    CHECK(store_bucket(op, shelf->store, BUCKET, &bucket) == ST_OK);
    CHECK(store_commit(op, bucket, batch, &stamp) == ST_OK);
    CHECK(view_open(op, bucket, NULL, &shelf->view) == ST_OK);
    shelf->span = (struct query_span){ 0, 1ull << 60 };
    shelf->index = (struct query_index){ .view = &shelf->view,
                                         .policy = shelf->policy,
                                         .has = has,
                                         .computes = computes,
                                         .has_composite = has_joined,
                                         .has_tuple = has_joined,
                                         .has_spatial = has_spatial,
                                         .documents = shelf->table.count,
                                         .span = &shelf->span,
                                         .span_count = 1,
                                         .is_whole = true };
    if (shelf->left_out_every)
        shelf->index.left_out = left_out_term();
    shelf->table.base.index = &shelf->index;
}

void shelf_close(struct shelf *shelf)
{
    view_close(&shelf->view);
    store_close(shelf->store);
}

static struct query *compile(const char *text, const struct query_options *options)
{
    char *copy = arena_text(&test_op()->arena, slice_of(text));
    struct query *query = NULL;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (query_compile(test_op(), slice_of(copy), json_undefined, options, &query) != ST_OK)
        test_failed(__FILE__, __LINE__, test_op()->error);
    return query;
}

struct query *shelf_compile(const char *text, enum query_way way)
{
    struct query_options options = { .way = way };

    return compile(text, &options);
}

struct query *shelf_compile_for(const struct shelf *shelf, const char *text, enum query_way way)
{
    struct query_options options = { .way = way, .computed = shelf->computed };

    return compile(text, &options);
}

struct slice shelf_pages(struct shelf *shelf, struct query *query, size_t rows, size_t bytes)
{
    return table_pages(&shelf->table, query, rows, bytes, "---\n");
}
