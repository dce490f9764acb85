/* src/main/statistics.c - what the parts of the server count, as Prometheus reads it. */
#include <assert.h>
#include <stddef.h>

#include "base/limits.h"
#include "main/memory.h"
#include "main/statistics.h"

/* All figures of one moment. */
struct figures {
    struct store_stats store;
    struct http_stats http;
    struct script_stats scripts;
    struct housekeeping_stats housekeeping;
    struct bucket_usage ledger;
    struct otlp_stats spans;
    struct vector_columns_stats vectors;
    struct word_lists_stats words;
    struct memory_use memory;
    uint64_t databases, containers, writable;
};

static void read_figures(const struct statistics *of, struct figures *figures)
{
    size_t databases, containers;

    catalog_count(of->catalog, &databases, &containers);
    *figures = (struct figures){
        .databases = databases,
        .containers = containers,
        .writable = store_is_writable(of->store),
    };
    memory_use(&figures->memory);
    ledger_usage(of->ledger, &figures->ledger);
    vector_columns_stats(&figures->vectors);
    word_lists_stats(&figures->words);
    store_stats(of->store, &figures->store);
    http_stats(of->http, &figures->http);
    scripts_stats(of->scripts, &figures->scripts);
    housekeeping_stats(of->housekeeping, &figures->housekeeping);
    observer_stats(of->observer, &figures->spans);
}

/* ---- one figure a row ---- */

#define AT(member) offsetof(struct figures, member)
#define GAUGE "gauge"
#define COUNTER "counter"

static const struct figure {
    const char *name, *kind;
    size_t offset; /* in struct figures, of 64 bits */
} rows[] = {
    { "databases", GAUGE, AT(databases) },
    { "containers", GAUGE, AT(containers) },
    { "items_expired_total", COUNTER, AT(housekeeping.items_expired) },
    { "ranges_split_total", COUNTER, AT(housekeeping.ranges_split) },
    { "transaction_records", GAUGE, AT(ledger.documents) },
    { "transaction_record_bytes", GAUGE, AT(ledger.bytes) },
    { "store_commits_total", COUNTER, AT(store.commits) },
    { "store_groups_total", COUNTER, AT(store.groups) },
    { "store_syncs_total", COUNTER, AT(store.syncs) },
    { "store_conflicts_total", COUNTER, AT(store.conflicts) },
    { "store_failures_total", COUNTER, AT(store.failures) },
    { "store_reopens_total", COUNTER, AT(store.reopens) },
    { "store_written_bytes_total", COUNTER, AT(store.bytes_written) },
    { "store_disk_bytes", GAUGE, AT(store.disk_bytes) },
    { "store_block_cache_bytes", GAUGE, AT(store.block_cache_bytes) },
    { "store_write_buffer_bytes", GAUGE, AT(store.write_buffer_bytes) },
    { "index_memory_bytes", GAUGE, AT(store.index_memory_bytes) },
    { "index_runs", GAUGE, AT(store.index_runs) },
    { "index_run_bytes", GAUGE, AT(store.index_run_bytes) },
    { "index_merges_total", COUNTER, AT(store.index_merges) },
    { "cache_hits_total", COUNTER, AT(store.cache_hits) },
    { "cache_misses_total", COUNTER, AT(store.cache_misses) },
    { "cache_bytes", GAUGE, AT(store.cache_bytes) },
    { "resident_bytes", GAUGE, AT(memory.resident_bytes) },
    { "heap_bytes", GAUGE, AT(memory.heap_bytes) },
    { "vector_columns", GAUGE, AT(vectors.columns) },
    { "vector_codes", GAUGE, AT(vectors.vectors) },
    { "vector_graph_vectors", GAUGE, AT(vectors.graph_vectors) },
    { "vector_graphs", GAUGE, AT(vectors.graphs) },
    { "vector_bytes", GAUGE, AT(vectors.bytes) },
    { "vector_recall_percent", GAUGE, AT(vectors.recall_percent) },
    { "word_lists", GAUGE, AT(words.lists) },
    { "word_list_texts", GAUGE, AT(words.texts) },
    { "word_list_bytes", GAUGE, AT(words.bytes) },
    { "store_writable", GAUGE, AT(writable) },
    { "connections_open", GAUGE, AT(http.connections_open) },
    { "connections_total", COUNTER, AT(http.connections_total) },
    { "connections_refused_total", COUNTER, AT(http.connections_refused) },
    { "http_requests_total", COUNTER, AT(http.requests) },
    { "http_requests_on_pool_total", COUNTER, AT(http.requests_on_pool) },
    { "http_malformed_total", COUNTER, AT(http.malformed) },
    { "http_timeouts_total", COUNTER, AT(http.timeouts) },
    { "http_in_bytes_total", COUNTER, AT(http.bytes_in) },
    { "http_out_bytes_total", COUNTER, AT(http.bytes_out) },
    { "pool_threads", GAUGE, AT(http.pool_threads) },
    { "pool_queued", GAUGE, AT(http.pool_queued) },
    { "script_children", GAUGE, AT(scripts.children) },
    { "script_waiting", GAUGE, AT(scripts.waiting) },
    { "script_runs_total", COUNTER, AT(scripts.runs) },
    { "script_function_calls_total", COUNTER, AT(scripts.calls) },
    { "script_killed_total", COUNTER, AT(scripts.killed) },
    { "spans_sent_total", COUNTER, AT(spans.sent) },
    { "spans_failed_total", COUNTER, AT(spans.failed) },
    { "spans_dropped_total", COUNTER, AT(spans.dropped) },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((size_t)ROWS <= STATISTICS_MAX, "samples have room for all of them");

static uint64_t value_of(const struct figures *figures, const struct figure *row)
{
    assert(row->offset + sizeof(uint64_t) <= sizeof(*figures));
    return *(const uint64_t *)((const char *)figures + row->offset);
}

static void print_figures(struct buf *out, const struct figures *figures)
{
    for (size_t i = 0; i < ROWS; i++)
        buf_printf(out, "# TYPE orrery_%s %s\norrery_%s %llu\n", rows[i].name, rows[i].kind, rows[i].name,
                   (unsigned long long)value_of(figures, &rows[i]));
}

size_t statistics_read(const struct statistics *of, uint64_t value[STATISTICS_MAX])
{
    struct figures figures;

    read_figures(of, &figures);
    for (size_t i = 0; i < ROWS; i++)
        value[i] = value_of(&figures, &rows[i]);
    return ROWS;
}

const char *statistics_name(size_t index)
{
    assert(index < ROWS);
    return rows[index].name;
}

/* ---- memory, by who holds it ---- */

static void print_account(struct buf *out, const struct account *account)
{
    buf_printf(out, "# TYPE orrery_memory_limit_bytes gauge\norrery_memory_limit_bytes %zu\n",
               account->limit_bytes);
    buf_text(out, "# TYPE orrery_memory_bytes gauge\n");
    for (int i = 0; i < HOLDER_COUNT; i++)
        buf_printf(out, "orrery_memory_bytes{holder=\"%s\"} %zu\n", holder_name((enum holder)i),
                   atomic_load_explicit(&account->held_bytes[i], memory_order_relaxed));
    buf_text(out, "# TYPE orrery_memory_refused_total counter\n");
    for (int i = 0; i < HOLDER_COUNT; i++)
        buf_printf(out, "orrery_memory_refused_total{holder=\"%s\"} %llu\n", holder_name((enum holder)i),
                   (unsigned long long)atomic_load_explicit(&account->refused[i], memory_order_relaxed));
}

/* ---- of single containers ---- */

/* As a label's value: Prometheus wants these three escaped. */
static void print_label(struct buf *out, const char *name, struct slice text)
{
    buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\\' || text.data[i] == '"')
            buf_byte(out, '\\');
        if (text.data[i] == '\n')
            buf_text(out, "\\n");
        else
            buf_byte(out, text.data[i]);
    }
    buf_byte(out, '"');
}

static void print_container_name(struct buf *out, const char *metric, const struct container *container)
{
    buf_printf(out, "orrery_%s{", metric);
    print_label(out, "database", container->database->id);
    buf_byte(out, ',');
    print_label(out, "container", container->id);
}

static void print_item_bytes(struct buf *out, const struct container *container)
{
    print_container_name(out, "item_bytes_max", container);
    buf_printf(out, "} %llu\n", (unsigned long long)container->shape->item_bytes);
}

static void print_array_count(struct buf *out, const struct container *container)
{
    char path[SHAPE_PATH_BYTES];

    if (container->shape->array_count == 0)
        return;
    shape_path(container->shape, path);
    print_container_name(out, "array_elements_max", container);
    buf_byte(out, ',');
    print_label(out, "path", slice_of(path));
    buf_printf(out, "} %llu\n", (unsigned long long)container->shape->array_count);
}

/* The largest item and the longest array of each container since the start. */
static void print_shapes(struct buf *out, struct catalog *catalog)
{
    struct container *list[METRIC_CONTAINERS_MAX];
    size_t count = catalog_list_largest(catalog, list, METRIC_CONTAINERS_MAX);

    buf_text(out, "# TYPE orrery_item_bytes_max gauge\n");
    for (size_t i = 0; i < count; i++)
        print_item_bytes(out, list[i]);
    buf_text(out, "# TYPE orrery_array_elements_max gauge\n");
    for (size_t i = 0; i < count; i++)
        print_array_count(out, list[i]);
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
}

static void print_spending_of(struct buf *out, const struct container *container, const char *metric,
                              double value)
{
    print_container_name(out, metric, container);
    buf_printf(out, "} %.2f\n", value);
}

/* What each container has cost since the start, and how many of its requests were told to come back. */
static void print_spending(struct buf *out, struct catalog *catalog)
{
    struct container *list[METRIC_CONTAINERS_MAX];
    size_t count = catalog_list_spending(catalog, list, METRIC_CONTAINERS_MAX);

    buf_text(out, "# TYPE orrery_request_units_total counter\n");
    for (size_t i = 0; i < count; i++)
        print_spending_of(out, list[i], "request_units_total", (double)meter_spent(list[i]->meter) / 100);
    buf_text(out, "# TYPE orrery_requests_throttled_total counter\n");
    for (size_t i = 0; i < count; i++)
        print_spending_of(out, list[i], "requests_throttled_total", (double)list[i]->meter->refused);
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
}

void statistics_print(struct buf *out, const struct statistics *of)
{
    struct figures figures;

    read_figures(of, &figures);
    print_figures(out, &figures);
    print_account(out, of->account);
    print_shapes(out, of->catalog);
    print_spending(out, of->catalog);
}
