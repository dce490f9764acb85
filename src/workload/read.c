/*
 * src/workload/read.c - the record from its JSON. It may be of an earlier program, or damaged: nothing in it is relied on, and what
 * has no meaning is left out.
 */
#include <math.h>

#include "base/encode.h"
#include "workload/book.h"

static uint64_t number_at(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_NUMBER && json_is_int(value) && json_int(value) > 0
               ? (uint64_t)json_int(value)
               : 0;
}

static uint64_t charge_at(struct json object)
{
    struct json value = json_get(object, "charge");
    double charge = json_kind(value) == JSON_NUMBER ? json_double(value) : 0;

    return charge > 0 && charge < 1e15 ? (uint64_t)llround(charge * 100) : 0;
}

static struct slice text_at(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
}

static bool is_true_at(struct json object, const char *name)
{
    return json_kind(json_get(object, name)) == JSON_TRUE;
}

static void read_operations(struct container_record *container, struct json operations)
{
    for (size_t i = 0; i < WORK_KINDS; i++) {
        struct json from = json_get(operations, work_kind_names[i]);

        container->tally[i] = (struct tally){ .count = number_at(from, "count"),
                                              .failed = number_at(from, "failed"),
                                              .charge = charge_at(from),
                                              .bytes = number_at(from, "bytes"),
                                              .took_us = number_at(from, "microseconds") };
    }
}

static void read_keys(struct op *op, struct container_record *container, struct json keys)
{
    struct slice text = text_at(keys, "sketch");
    uint64_t named = number_at(keys, "named");
    uint8_t *bytes = text.data ? arena_try_alloc(&op->arena, text.size) : NULL;
    size_t size;

    if (bytes && base64_decode(text, bytes, text.size, &size) &&
        sketch_read(container->keys, slice_make(bytes, size)))
        container->keys_named = named; /* else both begin anew */
}

static void read_paths(struct book *book, struct container_record *container, struct json paths)
{
    for (struct json_iter i = json_iter(paths); json_next(&i);) {
        struct slice text = text_at(i.value, "path");
        struct path_record *path;
        uint16_t index;

        path = text.data ? book_path(book, container, text, &index) : NULL;
        if (!path)
            continue;
        for (size_t use = 0; use < PATH_USES; use++)
            path->use[use] = number_at(i.value, path_use_names[use]);
        path->changed = number_at(i.value, "changed");
        path->alone = number_at(i.value, "alone");
    }
}

static unsigned use_named(struct json names)
{
    unsigned uses = 0;

    for (struct json_iter i = json_iter(names); json_next(&i);)
        for (size_t use = 0; use < PATH_USES; use++)
            if (json_kind(i.value) == JSON_STRING && slice_is(json_string(i.value), path_use_names[use]))
                uses |= 1u << use;
    return uses;
}

static void read_query_paths(struct book *book, struct container_record *container,
                             struct query_record *query, struct json paths)
{
    for (struct json_iter i = json_iter(paths); json_next(&i) && query->path_count < OUTLINE_PATHS_MAX;) {
        struct slice text = text_at(i.value, "path");
        uint16_t index;

        if (text.data && book_path(book, container, text, &index))
            query->path[query->path_count++] =
                (struct query_path){ index, (uint16_t)use_named(json_get(i.value, "use")) };
    }
}

static void read_after(struct book *book, struct container_record *container, struct query_record *query,
                       struct json after)
{
    struct slice path = text_at(after, "path");
    struct after_reads read = { .count = number_at(after, "count") };

    if (read.count && path.data && rid_parse(text_at(after, "rid"), &read.container) &&
        book_path(book, container, path, &read.path))
        query->after = read;
}

static void read_examples(struct op *op, struct query_record *query, struct json examples)
{
    size_t at = 0;

    for (struct json_iter i = json_iter(examples); json_next(&i) && at < BOOK_EXAMPLES;) {
        struct buf text;

        buf_init(&text, &op->arena);
        json_print(&text, i.value);
        if (text.failed || text.size > BOOK_EXAMPLE_BYTES_MAX)
            continue;
        memcpy(query->example[at], text.data, text.size);
        query->example[at++][text.size] = '\0';
    }
}

static void read_query(struct op *op, struct book *book, struct container_record *container, struct json from)
{
    struct slice text = text_at(from, "query");
    struct query_record *query = text.data ? book_query_of(book, container, text) : NULL;

    if (!query || query->requests)
        return;
    query->executed = number_at(from, "executed");
    query->requests = number_at(from, "requests");
    query->single = number_at(from, "singlePartition");
    query->charge = charge_at(from);
    query->rows = number_at(from, "rows");
    query->scanned = number_at(from, "scanned");
    query->ranges = number_at(from, "ranges");
    query->bytes = number_at(from, "bytes");
    query->took_us = number_at(from, "microseconds");
    query->reads_whole = is_true_at(from, "wholeItems");
    query->aggregates = is_true_at(from, "aggregates");
    query->is_partial = is_true_at(from, "partial");
    read_query_paths(book, container, query, json_get(from, "paths"));
    read_after(book, container, query, json_get(from, "afterReads"));
    read_examples(op, query, json_get(from, "examples"));
}

static void read_container(struct op *op, struct book *book, struct json from)
{
    struct slice link = text_at(from, "container");
    struct container_record *container = NULL;
    struct rid rid;

    if (link.data && rid_parse(text_at(from, "rid"), &rid) && rid_type(&rid) == RID_TYPE_CONTAINER)
        container = book_container(book, &rid, link);
    if (!container)
        return;
    container->ranges_most = number_at(from, "rangesMost");
    container->changes = number_at(from, "changes");
    container->read_ids = number_at(from, "readsById");
    container->left_queries = number_at(from, "queriesLeftOut");
    container->left_paths = number_at(from, "pathsLeftOut");
    read_operations(container, json_get(from, "operations"));
    read_keys(op, container, json_get(from, "keys"));
    read_paths(book, container, json_get(from, "paths"));
    for (struct json_iter i = json_iter(json_get(from, "queries")); json_next(&i);)
        read_query(op, book, container, i.value);
}

enum status book_read(struct op *op, struct book *book, struct slice text)
{
    struct json kept, seed;
    enum status st;

    TRY(json_parse(op, text, &kept));
    seed = json_get(kept, "seed");
    if (number_at(kept, "version") != 1 || json_kind(json_element(seed, 0)) != JSON_NUMBER ||
        json_kind(json_element(seed, 1)) != JSON_NUMBER || !json_is_int(json_element(seed, 0)) ||
        !json_is_int(json_element(seed, 1)))
        TRY(op_fail(op, ST_CORRUPT, "it is no record of a workload that this program knows"));
    book->seed = (struct hash_seed){ (uint64_t)json_int(json_element(seed, 0)),
                                     (uint64_t)json_int(json_element(seed, 1)) };
    book->since_ms = (int64_t)number_at(kept, "sinceMs");
    book->left_containers = number_at(kept, "containersLeftOut");
    for (struct json_iter i = json_iter(json_get(kept, "containers")); json_next(&i);)
        read_container(op, book, i.value);
out:
    return st;
}
