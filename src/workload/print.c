/* src/workload/print.c - the record as JSON: for those who read it, and for itself. */
#include "base/encode.h"
#include "workload/book.h"

enum { KEYS_SHOWN = 20 };

static void print_number(struct buf *out, const char *name, uint64_t number)
{
    buf_printf(out, "\"%s\":%llu,", name, (unsigned long long)number);
}

/* What follows a list of members with a comma behind each. */
static void close_object(struct buf *out)
{
    if (out->size && out->data[out->size - 1] == ',')
        out->size--;
    buf_byte(out, '}');
}

/* Charges are hundredths inside, and request units outside. */
static void print_charge(struct buf *out, uint64_t charge)
{
    buf_printf(out, "\"charge\":%llu.%02llu,", (unsigned long long)(charge / 100),
               (unsigned long long)(charge % 100));
}

void book_print_head(const struct book *book, struct buf *out, enum workload_form form, bool records)
{
    buf_printf(out, "{\"recording\":%s,", records ? "true" : "false");
    print_number(out, "sinceMs", (uint64_t)book->since_ms);
    print_number(out, "containersLeftOut", book->left_containers);
    if (form == WORKLOAD_KEPT)
        buf_printf(out, "\"version\":1,\"seed\":[%lld,%lld],", (long long)book->seed.k0,
                   (long long)book->seed.k1);
    buf_text(out, "\"containers\":[");
}

static void print_operations(struct buf *out, const struct container_record *container)
{
    buf_text(out, "\"operations\":{");
    for (size_t i = 0; i < WORK_KINDS; i++) {
        const struct tally *tally = &container->tally[i];

        if (tally->count == 0)
            continue;
        buf_printf(out, "\"%s\":{", work_kind_names[i]);
        print_number(out, "count", tally->count);
        print_number(out, "failed", tally->failed);
        print_charge(out, tally->charge);
        print_number(out, "bytes", tally->bytes);
        print_number(out, "microseconds", tally->took_us);
        close_object(out);
        buf_byte(out, ',');
    }
    close_object(out);
    buf_byte(out, ',');
}

/* A key that was cut is no JSON any more: it is told as text. */
static void print_key(struct buf *out, const struct sketch_row *row)
{
    buf_text(out, "{\"key\":");
    json_print_string(out, row->key);
    buf_printf(out, ",\"count\":%llu,\"error\":%llu},", (unsigned long long)row->count,
               (unsigned long long)row->error);
}

static void print_sketch(struct buf *out, const struct container_record *container)
{
    struct buf bytes;

    buf_init(&bytes, out->arena);
    sketch_write(container->keys, &bytes);
    buf_text(out, "\"sketch\":\"");
    base64_encode(out, buf_as_slice(&bytes));
    buf_text(out, "\",");
    out->failed |= bytes.failed;
}

static void print_keys(struct buf *out, const struct container_record *container, enum workload_form form)
{
    struct sketch_row row[KEYS_SHOWN];
    size_t count = sketch_top(container->keys, row, KEYS_SHOWN);

    buf_text(out, "\"keys\":{");
    if (form == WORKLOAD_KEPT) {
        print_number(out, "named", container->keys_named);
        print_sketch(out, container);
    } else {
        print_number(out, "named", container->keys_named);
        print_number(out, "different", sketch_distinct(container->keys));
        buf_text(out, "\"commonest\":[");
        for (size_t i = 0; i < count; i++)
            print_key(out, &row[i]);
        if (count)
            out->size--;
        buf_text(out, "],");
    }
    close_object(out);
    buf_byte(out, ',');
}

static void print_paths(struct buf *out, const struct container_record *container)
{
    buf_text(out, "\"paths\":[");
    for (size_t i = 0; i < container->path_count; i++) {
        const struct path_record *path = container->path[i];

        buf_text(out, "{\"path\":");
        json_print_string(out, slice_of(path->path));
        buf_byte(out, ',');
        for (size_t use = 0; use < PATH_USES; use++)
            if (path->use[use])
                print_number(out, path_use_names[use], path->use[use]);
        print_number(out, "changed", path->changed);
        print_number(out, "alone", path->alone);
        close_object(out);
        buf_text(out, i + 1 < container->path_count ? "," : "");
    }
    buf_text(out, "],");
}

static void print_uses(struct buf *out, const struct container_record *container,
                       const struct query_path *path)
{
    buf_text(out, "{\"path\":");
    json_print_string(out, slice_of(container->path[path->path]->path));
    buf_text(out, ",\"use\":[");
    for (size_t use = 0, count = 0; use < PATH_USES; use++)
        if (path->use >> use & 1)
            buf_printf(out, "%s\"%s\"", count++ ? "," : "", path_use_names[use]);
    buf_text(out, "]}");
}

static void print_after(struct buf *out, const struct container_record *container,
                        const struct after_reads *after)
{
    if (after->count == 0)
        return;
    buf_text(out, "\"afterReads\":{\"rid\":\"");
    rid_print(out, &after->container);
    buf_text(out, "\",\"path\":");
    json_print_string(out, slice_of(container->path[after->path]->path));
    buf_printf(out, ",\"count\":%llu},", (unsigned long long)after->count);
}

static void print_examples(struct buf *out, const struct query_record *query)
{
    buf_text(out, "\"examples\":[");
    for (size_t i = 0, count = 0; i < BOOK_EXAMPLES; i++)
        if (query->example[i][0])
            buf_printf(out, "%s%s", count++ ? "," : "", query->example[i]);
    buf_text(out, "],");
}

static void print_query(struct buf *out, const struct container_record *container,
                        const struct query_record *query, enum workload_form form)
{
    buf_text(out, "{\"query\":");
    json_print_string(out, slice_of(query->text));
    buf_byte(out, ',');
    print_number(out, "executed", query->executed);
    print_number(out, "requests", query->requests);
    print_number(out, "singlePartition", query->single);
    print_charge(out, query->charge);
    print_number(out, "rows", query->rows);
    print_number(out, "scanned", query->scanned);
    print_number(out, "ranges", query->ranges);
    print_number(out, "bytes", query->bytes);
    print_number(out, "microseconds", query->took_us);
    buf_printf(out, "\"wholeItems\":%s,\"aggregates\":%s,\"partial\":%s,",
               query->reads_whole ? "true" : "false", query->aggregates ? "true" : "false",
               query->is_partial ? "true" : "false");
    print_after(out, container, &query->after);
    if (form != WORKLOAD_SHOWN)
        print_examples(out, query);
    buf_text(out, "\"paths\":[");
    for (size_t i = 0; i < query->path_count; i++) {
        buf_text(out, i ? "," : "");
        print_uses(out, container, &query->path[i]);
    }
    buf_text(out, "]}");
}

void book_print_container(const struct book *book, struct buf *out, enum workload_form form, size_t index)
{
    const struct container_record *container = book->container[index];

    buf_text(out, index ? ",{\"container\":" : "{\"container\":");
    json_print_string(out, slice_of(container->link));
    buf_text(out, ",\"rid\":\"");
    rid_print(out, &container->rid);
    buf_text(out, "\",");
    print_number(out, "rangesMost", container->ranges_most);
    print_number(out, "changes", container->changes);
    print_number(out, "readsById", container->read_ids);
    print_number(out, "queriesLeftOut", container->left_queries);
    print_number(out, "pathsLeftOut", container->left_paths);
    print_operations(out, container);
    print_keys(out, container, form);
    print_paths(out, container);
    buf_text(out, "\"queries\":[");
    for (size_t i = 0; i < container->query_count; i++) {
        buf_text(out, i ? "," : "");
        print_query(out, container, container->query[i], form);
    }
    buf_text(out, "]}");
}
