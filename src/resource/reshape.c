/* src/resource/reshape.c - items mapped by a query, writes held back, two containers that change names. */
#include <assert.h>

#include "base/limits.h"
#include "query/query.h"
#include "resource/link.h"
#include "resource/reshape.h"
#include "workload/workload.h"

static bool is_count(struct json value)
{
    return json_kind(value) == JSON_NUMBER && json_is_int(value) && json_int(value) >= 0;
}

/* ---- map ---- */

/* A source of one item. */
struct one_item {
    struct query_source base;
    struct json item;
    bool is_given;
};

static enum status next_item(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct one_item *one = (struct one_item *)source; /* its first member */

    (void)op;
    *found = !one->is_given;
    if (*found)
        *row = (struct query_row){ .source = source, .number = 1, .weight = 1, .body = one->item };
    one->is_given = true;
    return ST_OK;
}

static enum status seek_item(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    ((struct one_item *)source)->is_given = after > 0;
    return ST_OK;
}

static enum status print_rows(struct op *op, const struct query_page *page, struct buf *answer)
{
    if (page->next.data)
        return op_fail(op, ST_BAD_REQUEST, "The query makes more than %d rows of an item.", MAP_ROWS_MAX);
    buf_byte(answer, '[');
    for (size_t i = 0; i < page->count; i++) {
        buf_text(answer, i ? "," : "");
        buf_slice(answer, page->row[i]);
    }
    buf_byte(answer, ']');
    return answer->failed ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

/* Compiled for each item: what a query keeps while it runs is not another item's. */
static enum status map_item(struct op *op, const struct container *container, struct slice text,
                            struct json item, struct buf *answer)
{
    struct one_item source = { .base = { .next = next_item, .seek = seek_item, .seed = op->seed },
                               .item = item };
    struct query_options options = { .computed = json_get(container->definition, "computedProperties") };
    struct query_limits limits = { .rows = MAP_ROWS_MAX, .bytes = PAGE_BYTES_MAX, .scanned_rows = 2 };
    struct query_page page = { 0 };
    struct query *query;
    enum status st;

    TRY(query_compile(op, text, json_undefined, &options, &query));
    if (!query_is_of_each(query))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The query must make the rows of each item by itself: without DISTINCT, GROUP BY, ORDER "
                    "BY, TOP, OFFSET and sums over items."));
    TRY(query_run(op, query, &source.base, slice_of(""), &limits, &page));
    TRY(print_rows(op, &page, answer));
out:
    query_page_free(&page);
    return st;
}

static enum status map_items(struct op *op, const struct container *container, struct slice text,
                             struct json items, struct buf *answer)
{
    enum status st = ST_OK;
    bool first = true;

    buf_text(answer, "{\"rows\":[");
    for (struct json_iter i = json_iter(items); json_next(&i); first = false) {
        buf_text(answer, first ? "" : ",");
        if (json_kind(i.value) != JSON_OBJECT)
            TRY(op_fail(op, ST_BAD_REQUEST, "\"items\" must be objects."));
        TRY(map_item(op, container, text, i.value, answer));
    }
    buf_text(answer, "]}");
out:
    return st;
}

enum status map_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "container", "query", "items", NULL };
    struct json text = json_get(wanted, "query"), items = json_get(wanted, "items");
    struct container *container = NULL;
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(link_find(op, service->catalog, wanted, "container", &container));
    if (json_kind(text) != JSON_STRING || json_kind(items) != JSON_ARRAY)
        TRY(op_fail(op, ST_BAD_REQUEST, "\"query\" must be a text, and \"items\" an array."));
    TRY(map_items(op, container, json_string(text), items, answer));
out:
    container_release(container);
    return st;
}

/* ---- LSNs: one for each bucket of a container ---- */

/* 17, or [17,4,9] of a container of three buckets. */
static enum status read_lsns(struct op *op, struct json wanted, const char *name,
                             const struct container *container, uint64_t **lsns)
{
    uint64_t *lsn = *lsns = arena_alloc(&op->arena, container->part_count * sizeof(*lsn));
    struct json value = json_get(wanted, name);
    uint32_t count = 0;

    if (is_count(value)) {
        lsn[count++] = (uint64_t)json_int(value);
    } else if (json_kind(value) == JSON_ARRAY) {
        for (struct json_iter i = json_iter(value); json_next(&i); count++)
            if (count < container->part_count && is_count(i.value))
                lsn[count] = (uint64_t)json_int(i.value);
            else
                return op_fail(op, ST_BAD_REQUEST, "\"%s\" must have a whole number for each bucket.", name);
    }
    if (count != container->part_count)
        return op_fail(op, ST_BAD_REQUEST, "\"%s\" must be a whole number, or one for each of %u buckets.",
                       name, container->part_count);
    return ST_OK;
}

static void print_lsns(struct buf *answer, const struct container *container)
{
    bool several = container->part_count > 1;

    buf_text(answer, several ? "[" : "");
    for (uint32_t i = 0; i < container->part_count; i++) {
        buf_text(answer, i ? "," : "");
        buf_u64(answer, container_lsn(container->part[i]));
    }
    buf_text(answer, several ? "]" : "");
}

/* ---- hold ---- */

enum status hold_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "container", "ms", NULL };
    struct json wished = json_get(wanted, "ms");
    struct container *container = NULL;
    uint64_t newest;
    int64_t ms;
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(link_find(op, service->catalog, wanted, "container", &container));
    if (!is_count(wished))
        TRY(op_fail(op, ST_BAD_REQUEST, "\"ms\" must be a whole number."));
    ms = json_int(wished);
    if (ms > HOLD_MS_MAX)
        TRY(op_fail(op, ST_BAD_REQUEST, "A container is held for %d milliseconds at most.", HOLD_MS_MAX));
    TRY(catalog_hold_container(op, service->catalog, container, ms));
    TRY(container_newest_lsn(op, container, &newest));
    buf_text(answer, "{\"lsn\":");
    print_lsns(answer, container);
    buf_byte(answer, '}');
out:
    container_release(container);
    return st;
}

bool hold_is_on(struct op *op, const struct container *container)
{
    int64_t until = atomic_load_explicit(&container->meter->held_until_us, memory_order_relaxed);

    return until != 0 && env_monotonic_us(op->env) < until;
}

enum status hold_check(struct op *op, const struct container *container)
{
    if (!hold_is_on(op, container))
        return ST_OK;
    op->retry_after_ms = HOLD_RETRY_MS;
    return op_fail(op, ST_TOO_MANY_REQUESTS,
                   "The container is about to be replaced by another one: send the request again.");
}

/* ---- swap ---- */

/* A container and its LSNs, each the member of that name. The container is to be released. */
static enum status read_at(struct op *op, struct service *service, struct json wanted, const char *name,
                           const char *lsn_name, struct container_at *at)
{
    uint64_t *lsn;
    enum status st;

    TRY(link_find(op, service->catalog, wanted, name, &at->container));
    TRY(read_lsns(op, wanted, lsn_name, at->container, &lsn));
    at->lsn = lsn;
out:
    return st;
}

/* [{"container":"dbs/d/colls/e","lsn":17}]: what belongs to the change of names without being renamed. */
static enum status read_unchanged(struct op *op, struct service *service, struct json list,
                                  struct container_at *others, size_t *count)
{
    static const char *const names[] = { "container", "lsn", NULL };
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        if (json_kind(i.value) != JSON_OBJECT)
            TRY(op_fail(op, ST_BAD_REQUEST, "\"unchanged\" must be objects."));
        TRY(link_check_names(op, i.value, names));
        for (size_t other = 0; other < *count; other++)
            if (slice_equal(json_string(json_get(i.value, "container")), others[other].container->link))
                TRY(op_fail(op, ST_BAD_REQUEST, "\"unchanged\" must name each container once."));
        TRY(read_at(op, service, i.value, "container", "lsn", &others[(*count)++]));
    }
out:
    return st;
}

static void release_all(struct container_at *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        container_release(list[i].container);
}

static enum status read_others(struct op *op, struct service *service, struct json list,
                               struct container_at **others, size_t *count)
{
    if (json_kind(list) == JSON_UNDEFINED)
        return ST_OK;
    if (json_kind(list) != JSON_ARRAY || json_count(list) > UNCHANGED_MAX)
        return op_fail(op, ST_BAD_REQUEST, "\"unchanged\" must be an array of at most %d.", UNCHANGED_MAX);
    *others = arena_alloc(&op->arena, (json_count(list) + 1) * sizeof(**others));
    memset(*others, 0, (json_count(list) + 1) * sizeof(**others));
    return read_unchanged(op, service, list, *others, count);
}

enum status swap_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "container", "lsn", "with", "withLsn", "unchanged", NULL };
    struct container_at pair[2] = { 0 }, *others = NULL;
    size_t other_count = 0;
    uint64_t after;
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(read_at(op, service, wanted, "container", "lsn", &pair[0]));
    TRY(read_at(op, service, wanted, "with", "withLsn", &pair[1]));
    if (pair[0].container->database != pair[1].container->database ||
        rid_equal(&pair[0].container->rid, &pair[1].container->rid))
        TRY(op_fail(op, ST_BAD_REQUEST, "\"with\" must be another container of the same database."));
    TRY(read_others(op, service, json_get(wanted, "unchanged"), &others, &other_count));
    TRY(catalog_swap_containers(op, service->catalog, pair, others, other_count, &after));
    for (int i = 0; i < 2; i++)
        atomic_store(&pair[i].container->meter->held_until_us, 0);
    for (int i = 0; service->workload && i < 2; i++)
        workload_drop(service->workload, &pair[i].container->rid); /* what was recorded is of another name */
    buf_printf(answer, "{\"lsn\":%llu,\"withLsn\":%llu}", (unsigned long long)after,
               (unsigned long long)after);
out:
    release_all(pair, 2);
    release_all(others, other_count);
    return st;
}
