/*
 * test/fuzz/entries_fuzz.c - an indexing policy and two documents, a line each, as the entries of an index.
 * A value has an entry exactly where the policy says so, found here by walking documents path by path; and the change from the
 * first document to the second, applied to the first one's entries, gives the second one's.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/indexing.h"
#include "index/entries.h"
#include "keys/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBER = 5, BUCKET = 1 << BUCKET_BITS };

static int by_bytes(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* ------- the slow way: every value, each path asked for from the root ------- */

struct slow {
    struct arena *arena;
    const struct index_policy *policy;
    struct index_step step[JSON_DEPTH_MAX + 1];
    size_t depth, count;
    struct slice *term;
};

static void add_term(struct slow *slow, struct json value)
{
    struct index_path path = { slow->step, slow->depth };
    uint8_t *term = arena_alloc(slow->arena, TERM_PATH_BYTES + ORDERED_BYTES_MAX);

    if (!index_policy_has_values(slow->policy, &path))
        return;
    term_put_path(term, index_path_id(slow->policy, &path));
    slow->term[slow->count++] =
        slice_make(term, TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES, value, false));
}

static void walk(struct slow *slow, struct json value)
{
    bool is_array = json_kind(value) == JSON_ARRAY;

    if (slow->depth)
        add_term(slow, value);
    for (struct json_iter i = json_iter(value); json_next(&i);) {
        if (slow->depth == 0 && slice_is(i.name, "_ts"))
            continue; /* the time is the item's, whatever the document says */
        slow->step[slow->depth++] = (struct index_step){ is_array, i.name };
        walk(slow, i.value);
        slow->depth--;
    }
}

static size_t drop_equal(struct slice *term, size_t count)
{
    size_t kept = 0;

    qsort(term, count, sizeof(*term), by_bytes);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !slice_equal(term[kept - 1], term[i]))
            term[kept++] = term[i];
    return kept;
}

static bool has_term(const struct index_terms *terms, struct slice term)
{
    return bsearch(&term, terms->term, terms->count, sizeof(term), by_bytes) != NULL;
}

/* Entries of composites, tuples and cells are beside those; every document has the one of its time. */
static void check_terms(struct op *op, const struct index_item *item, bool has_cells,
                        const struct index_terms *terms)
{
    struct slow slow = { .arena = &op->arena, .policy = item->policy };
    size_t composites, tuples, count;

    for (size_t i = 1; i < terms->count; i++)
        assert(slice_compare(terms->term[i - 1], terms->term[i]) < 0);
    slow.term = arena_alloc(&op->arena, (json_size(item->document) + 1) * sizeof(struct slice));
    walk(&slow, item->document);
    count = drop_equal(slow.term, slow.count);
    for (size_t i = 0; i < count; i++)
        assert(has_term(terms, slow.term[i]));
    index_policy_composites(item->policy, &composites);
    index_policy_tuples(item->policy, &tuples);
    if (index_policy_is_empty(item->policy))
        assert(terms->count == 0);
    else if (tuples == 0 && !has_cells)
        assert(terms->count == count + composites + 1);
    else
        assert(terms->count > count + composites);
}

/* ------- the change ------- */

static struct slice term_of(struct slice key)
{
    return slice_make(key.data + KEY_INDEX_TERM, key.size - KEY_INDEX_BYTES);
}

static void check_change(struct op *op, const struct index_item *old, struct index_item *new,
                         const struct index_terms *before, const struct index_terms *after)
{
    struct batch *batch = batch_new(op, BUCKET);
    size_t count, added = 0, removed = 0;
    const struct batch_index_entry *entry;

    if (index_change(op, batch, NUMBER, old, new) != ST_OK)
        return;
    entry = batch_index_entries(batch, &count);
    for (size_t i = 0; i < count; i++) {
        struct slice term = term_of(entry[i].key);

        assert(has_term(before, term) == !entry[i].present && has_term(after, term) == entry[i].present);
        added += entry[i].present;
        removed += !entry[i].present;
    }
    assert(before->count + added - removed == after->count);
}

/* ------- reading the input ------- */

static struct slice take_line(struct slice *rest)
{
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    struct slice line = { rest->data, end ? (size_t)(end - rest->data) : rest->size };

    *rest = slice_after(*rest, end ? line.size + 1 : line.size);
    return line;
}

static bool read_object(struct op *op, struct slice text, struct json *object)
{
    return json_parse(op, text, object) == ST_OK && json_kind(*object) == JSON_OBJECT;
}

/* As a container's definition would have it. */
static bool read_policy(struct op *op, struct slice text, bool planar, struct index_policy **policy,
                        bool *has_cells)
{
    struct index_policy_source source = { .planar = planar };
    struct json_builder out;
    struct json given;

    json_builder_init(&out, &op->arena);
    if (!read_object(op, text, &given) ||
        indexing_policy_define(op, given, (struct indexing_options){ .is_geometry = planar }, &out) != ST_OK)
        return false;
    source.policy = json_built(&out);
    *has_cells = json_kind(json_get(source.policy, "spatialIndexes")) != JSON_UNDEFINED;
    return json_kind(source.policy) == JSON_OBJECT &&
           index_policy_read(op, &op->arena, &source, policy) == ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_make(data, size);
    struct index_policy *policy;
    struct index_terms before, after;
    struct index_item old = { .ts_ms = 1700000000000 }, new = old;
    bool has_cells;
    struct op op;

    op_init(&op, env_system(), 16 << 20);
    if (read_policy(&op, take_line(&rest), size % 2, &policy, &has_cells) &&
        read_object(&op, take_line(&rest), &old.document) &&
        read_object(&op, take_line(&rest), &new.document)) {
        old.policy = new.policy = policy;
        if (index_terms(&op, &old, &before) == ST_OK && index_terms(&op, &new, &after) == ST_OK) {
            check_terms(&op, &old, has_cells, &before);
            check_terms(&op, &new, has_cells, &after);
            check_change(&op, &old, &new, &before, &after);
        }
    }
    op_free(&op);
    return 0;
}
