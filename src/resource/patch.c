/* src/resource/patch.c - partial updates of items: the request, its condition, and what may not be changed. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "resource/patch.h"
#include "resource/search.h"
#include "source/items.h"

/* ---- the request ---- */

/* Refuses a patch of the id, of a system property, or of the partition key by its own path. */
static enum status check_place(struct op *op, const struct container *container, const struct pointer *place)
{
    struct slice first = place->segment[0];

    assert(place->count > 0); /* patch_parse() refuses the whole document as a place */
    if (slice_is(first, "id") || item_is_system_name(first))
        return op_fail(op, ST_BAD_REQUEST, "Invalid patch request: Cannot patch system property '%.*s'.",
                       SLICE_ARGS(first));
    for (size_t i = 0; i < container->key_path_count; i++) {
        const struct key_path *key = &container->key_path[i];
        struct pointer pointer = { .segment = (struct slice *)key->segment, .count = key->count };

        if (pointer_covers(&pointer, place->segment, place->count))
            return op_fail(op, ST_BAD_REQUEST,
                           "Invalid patch request: Cannot patch partition key path '%.*s'.",
                           place->text.size > 200 ? 200 : (int)place->text.size, place->text.data);
    }
    return ST_OK;
}

static enum status check_places(struct op *op, const struct container *container, const struct patch *changes)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < changes->count; i++) {
        TRY(check_place(op, container, &changes->operation[i].path));
        if (changes->operation[i].kind == PATCH_MOVE)
            TRY(check_place(op, container, &changes->operation[i].from));
    }
out:
    return st;
}

/* A condition is "from c where ...". Another query could have a row that says nothing: a count always has one. */
static bool is_condition(struct slice text)
{
    text = slice_trim(text);
    return text.size > 4 && slice_is_nocase(slice_make(text.data, 4), "from") &&
           (uint8_t)text.data[4] <= ' '; /* white space */
}

static enum status compile_condition(struct op *op, const struct call *call, struct json text,
                                     struct query **condition)
{
    struct query_options options = search_options(call);
    enum status st;

    if (json_kind(text) == JSON_UNDEFINED || json_kind(text) == JSON_NULL)
        return ST_OK;
    if (json_kind(text) != JSON_STRING || !is_condition(json_string(text)))
        return op_fail(op, ST_BAD_REQUEST,
                       "Invalid patch request: the condition must be of the form 'from c where ...'.");
    options.is_condition = true;
    TRY(op_may_take_long(op)); /* joins within the item may take seconds */
    TRY(query_compile(op, json_string(text), json_undefined, &options, condition));
out:
    return st;
}

enum status item_patch_read(struct op *op, const struct call *call, struct json body,
                            struct item_patch *patch)
{
    struct json operations = json_kind(body) == JSON_ARRAY ? body : json_get(body, "operations");
    enum status st;

    *patch = (struct item_patch){ 0 };
    TRY(patch_parse(op, operations, &patch->changes));
    TRY(check_places(op, call->container, &patch->changes));
    TRY(compile_condition(op, call, json_get(body, "condition"), &patch->condition));
out:
    return st;
}

/* ---- the condition ---- */

/* The condition holds when its query has a row. */
static enum status check_condition(struct op *op, const struct container *container, struct query *condition,
                                   const struct record *item)
{
    static const struct query_limits limits = { .rows = 1, .bytes = PAGE_BYTES_MAX };
    struct query_page page = { 0 };
    enum status st = ST_OK;

    if (!condition)
        return ST_OK;
    TRY(query_run(op, condition, item_source_of_one(op, container, item), slice_of(""), &limits, &page));
    if (page.count == 0)
        TRY(op_fail_as(op, ST_PATCH_CONDITION));
out:
    query_page_free(&page);
    return st;
}

/* ---- the document ---- */

enum status item_patch_apply(struct op *op, const struct container *container, const struct item_patch *patch,
                             const struct record *old, struct json *document)
{
    enum status st;

    TRY(check_condition(op, container, patch->condition, old));
    TRY(patch_apply(op, &patch->changes, old->document, document));
    if (json_kind(json_get(*document, "ttl")) != JSON_UNDEFINED)
        TRY(ttl_check(op, json_get(*document, "ttl")));
    if (!partition_key_shared(container, *document, old->document)) /* it may be inside a patched object */
        TRY(op_fail(op, ST_BAD_REQUEST, "Invalid patch request: Cannot patch the partition key."));
    TRY(item_check_size(op, *document));
out:
    return st;
}
