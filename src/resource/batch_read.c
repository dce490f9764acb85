/*
 * src/resource/batch_read.c - reads the operations of a request, from JSON or from the binary form of .NET.
 * A mistake here refuses the request as a whole, because nothing says what the operation was meant to be.
 */
#include <assert.h>

#include "base/limits.h"
#include "json/binary_read.h"
#include "resource/batch.h"
#include "resource/hybrid_row.h"

/* clang-format off */
const struct batch_kind batch_kinds[ACTION_KINDS] = {
    [ACTION_CREATE]  = { "Create",  HYBRID_ROW_CREATE,  BODY_DOCUMENT, false },
    [ACTION_UPSERT]  = { "Upsert",  HYBRID_ROW_UPSERT,  BODY_DOCUMENT, false },
    [ACTION_READ]    = { "Read",    HYBRID_ROW_READ,    BODY_NONE,     true },
    [ACTION_REPLACE] = { "Replace", HYBRID_ROW_REPLACE, BODY_DOCUMENT, true },
    [ACTION_PATCH]   = { "Patch",   HYBRID_ROW_PATCH,   BODY_PATCH,    true },
    [ACTION_DELETE]  = { "Delete",  HYBRID_ROW_DELETE,  BODY_NONE,     true },
};
/* clang-format on */

static enum status bad_operation(struct op *op, size_t index, const char *member)
{
    return op_fail(op, ST_BAD_REQUEST,
                   "The request payload is invalid. Ensure to provide a valid request payload: '%s' of "
                   "operation %zu is missing or invalid.",
                   member, index);
}

/* ---- what both forms must have ---- */

static bool has_body(enum batch_body wanted, struct json body)
{
    enum json_kind kind = json_kind(body);

    return wanted == BODY_NONE || kind == JSON_OBJECT || (wanted == BODY_PATCH && kind == JSON_ARRAY);
}

static enum status check_operation(struct op *op, const struct part *part, size_t index)
{
    const struct batch_kind *kind = &batch_kinds[part->action.kind];

    if (kind->has_id && !part->action.id.size)
        return bad_operation(op, index, "id");
    if (!has_body(kind->body, part->body))
        return bad_operation(op, index, "resourceBody");
    return ST_OK;
}

static enum status check_count(struct op *op, size_t count)
{
    if (count == 0)
        return op_fail(op, ST_BAD_REQUEST, "Batch request has no operations.");
    if (count > BATCH_OPERATIONS_MAX)
        return op_fail(op, ST_BAD_REQUEST, "Batch request has more operations than what is supported.");
    return ST_OK;
}

static void make_parts(struct op *op, struct parts *parts, size_t count)
{
    assert(count > 0);
    assert(count <= BATCH_OPERATIONS_MAX);
    parts->count = count;
    parts->part = arena_alloc(&op->arena, count * sizeof(*parts->part));
    for (size_t i = 0; i < count; i++)
        parts->part[i] = (struct part){ .body = json_undefined, .status = ST_FAILED_DEPENDENCY };
}

/* ---- JSON ---- */

static bool read_kind(struct json value, enum action_kind *kind)
{
    if (json_kind(value) != JSON_STRING)
        return false;
    for (*kind = 0; *kind < ACTION_KINDS; ++*kind)
        if (slice_is_nocase(json_string(value), batch_kinds[*kind].name))
            return true;
    return false;
}

/* An absent text and null mean the same, and are no error. */
static bool read_text(struct json value, struct slice *text)
{
    if (json_kind(value) == JSON_STRING)
        *text = json_string(value);
    return json_kind(value) == JSON_STRING || json_kind(value) == JSON_UNDEFINED ||
           json_kind(value) == JSON_NULL;
}

static enum status read_object(struct op *op, struct json value, size_t index, struct part *part)
{
    struct action *action = &part->action;
    enum status st = ST_OK;

    part->body = json_get(value, "resourceBody");
    if (!read_kind(json_get(value, "operationType"), &action->kind))
        TRY(bad_operation(op, index, "operationType"));
    if (!read_text(json_get(value, "id"), &action->id))
        TRY(bad_operation(op, index, "id"));
    TRY(check_operation(op, part, index));
    if (!read_text(json_get(value, "partitionKey"), &part->key))
        TRY(bad_operation(op, index, "partitionKey"));
    if (!read_text(json_get(value, "ifMatch"), &action->if_match))
        TRY(bad_operation(op, index, "ifMatch"));
    if (!read_text(json_get(value, "ifNoneMatch"), &action->if_none_match))
        TRY(bad_operation(op, index, "ifNoneMatch"));
    part->minimal = json_kind(json_get(value, "minimalReturnPreference")) == JSON_TRUE;
out:
    return st;
}

static enum status read_json(struct op *op, struct parts *parts, struct slice text)
{
    struct json body;
    size_t index = 0;
    enum status st;

    TRY(json_parse_body(op, text, &body));
    if (json_kind(body) != JSON_ARRAY)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The request payload is invalid. Ensure to provide a valid request payload."));
    TRY(check_count(op, json_count(body)));
    make_parts(op, parts, json_count(body));
    for (struct json_iter i = json_iter(body); json_next(&i); index++)
        TRY(read_object(op, i.value, index, &parts->part[index]));
    assert(index == parts->count);
out:
    return st;
}

/* ---- rows ---- */

static bool read_type(int32_t type, enum action_kind *kind)
{
    for (*kind = 0; *kind < ACTION_KINDS; ++*kind)
        if (batch_kinds[*kind].row_type == type)
            return true;
    return false;
}

static bool read_indexing(struct slice text, enum indexing_wish *wish)
{
    if (text.data && slice_is_nocase(text, "Include"))
        *wish = INDEXING_INCLUDE;
    else if (text.data && slice_is_nocase(text, "Exclude"))
        *wish = INDEXING_EXCLUDE;
    else
        return !text.data || slice_is_nocase(text, "Default");
    return true;
}

/* Each row's body is text or binary JSON by itself. */
static enum status read_row_body(struct op *op, struct slice text, struct json *body)
{
    return text.size ? json_parse_body(op, text, body) : ST_OK;
}

static enum status read_row(struct op *op, const struct hybrid_row_operation *row, size_t index,
                            struct part *part)
{
    struct action *action = &part->action;
    enum status st = ST_OK;

    if (row->is_foreign)
        TRY(op_fail(op, ST_NOT_BUILT,
                    "Effective partition keys, binary ids and times to live of operations are not taken."));
    if (!read_type(row->type, &action->kind))
        TRY(bad_operation(op, index, "operationType"));
    if (!read_indexing(row->indexing, &action->indexing))
        TRY(bad_operation(op, index, "indexingDirective"));
    TRY(read_row_body(op, row->body, &part->body));
    action->id = row->id;
    action->if_match = row->if_match;
    action->if_none_match = row->if_none_match;
    part->key = row->key;
    part->minimal = row->minimal;
    TRY(check_operation(op, part, index));
out:
    return st;
}

static enum status read_rows(struct op *op, struct parts *parts, struct slice text)
{
    struct hybrid_row_operation *rows = arena_alloc(&op->arena, BATCH_OPERATIONS_MAX * sizeof(*rows));
    size_t count;
    enum status st;

    TRY(hybrid_row_read(op, text, rows, BATCH_OPERATIONS_MAX, &count));
    TRY(check_count(op, count));
    make_parts(op, parts, count);
    for (size_t i = 0; i < count; i++)
        TRY(read_row(op, &rows[i], i, &parts->part[i]));
out:
    return st;
}

enum status batch_read(struct op *op, struct parts *parts)
{
    struct slice text = parts->call->request->body;
    enum status st;

    if (text.size > BATCH_BYTES_MAX)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    parts->is_binary = hybrid_row_is(text);
    TRY(parts->is_binary ? read_rows(op, parts, text) : read_json(op, parts, text));
    for (size_t i = 0; i < parts->count; i++)
        parts->part[i].minimal |= call_wants_minimal(parts->call);
out:
    return st;
}
