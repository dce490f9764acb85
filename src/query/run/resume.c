/* src/query/run/resume.c - a request's resumeFilter: {"value":[...],"rid":"...","exclude":false}. */
#include "keys/rid.h"
#include "query/run/compile.h"
#include "query/run/fill.h"
#include "query/run/resume.h"

static enum status malformed(struct op *op, const char *why)
{
    return op_fail(op, ST_BAD_REQUEST, "The resumeFilter of the query is invalid: %s.", why);
}

static bool is_text(struct json value, const char *text)
{
    return json_kind(value) == JSON_STRING && slice_is(json_string(value), text);
}

static bool is_integer(struct json value)
{
    return json_kind(value) == JSON_NUMBER && json_is_int(value);
}

/* {"type":"array","low":...,"high":...}: a value that is too large to be sent, by its json_order_hash(). */
static bool read_hashed(struct op *op, struct json given, struct value *key)
{
    struct json type = json_get(given, "type"), low = json_get(given, "low"), high = json_get(given, "high");
    struct buf bytes;

    if (json_count(given) != 3 || !is_integer(low) || !is_integer(high) ||
        (!is_text(type, "array") && !is_text(type, "object")))
        return false;
    buf_init(&bytes, &op->arena);
    position_put_hash(&bytes, (struct hash128){ (uint64_t)json_int(low), (uint64_t)json_int(high) });
    *key = (struct value){ .kind = is_text(type, "array") ? JSON_ARRAY : JSON_OBJECT,
                           .string = buf_as_slice(&bytes) };
    return !bytes.failed;
}

/* [] stands for undefined. */
static bool read_value(struct op *op, struct json given, struct value *key)
{
    switch (json_kind(given)) {
    case JSON_ARRAY:
        *key = value_undefined;
        return json_count(given) == 0;
    case JSON_OBJECT:
        return read_hashed(op, given, key);
    default:
        *key = value_from_json(given);
        return true;
    }
}

static enum status read_values(struct op *op, const struct select *select, struct json given,
                               struct position *resume)
{
    if (json_kind(given) != JSON_ARRAY)
        return malformed(op, "'value' is an array");
    if (json_count(given) != select->order_count)
        return malformed(op, "it has another number of values than ORDER BY has items");
    for (struct json_iter i = json_iter(given); json_next(&i);)
        if (!read_value(op, i.value, &resume->key[resume->key_count++]))
            return malformed(op, "an array or object is named by its type, low and high");
    return ST_OK;
}

/*
 * Among rows of the value itself: before or behind all of them, or at an item's first row or behind its last. Rows of a
 * subquery over all items are no items', so that none of them has a rid.
 */
static enum status read_place(struct op *op, const struct select *select, struct json given, bool exclude,
                              struct position *resume)
{
    bool descending = select->order[0].descending;
    struct rid rid;

    resume->number = descending == exclude ? 0 : UINT64_MAX;
    resume->index = exclude ? UINT32_MAX : 0;
    if (json_kind(given) == JSON_UNDEFINED || json_kind(given) == JSON_NULL)
        return ST_OK;
    if (json_kind(given) != JSON_STRING || !rid_parse(json_string(given), &rid) || rid_number(&rid) == 0)
        return malformed(op, "'rid' is none of an item");
    if (!select->whole)
        resume->number = rid_number(&rid);
    return ST_OK;
}

static bool is_known(struct slice name)
{
    return slice_is(name, "value") || slice_is(name, "rid") || slice_is(name, "exclude");
}

static enum status check(struct op *op, const struct select *select, struct json filter)
{
    enum json_kind exclude = json_kind(json_get(filter, "exclude"));

    if (json_kind(filter) != JSON_OBJECT)
        return malformed(op, "it is an object");
    for (struct json_iter i = json_iter(filter); json_next(&i);)
        if (!is_known(i.name))
            return malformed(op, "it has a property that is not known");
    if (exclude != JSON_UNDEFINED && exclude != JSON_TRUE && exclude != JSON_FALSE)
        return malformed(op, "'exclude' is true or false");
    if (fill_order(select) != ORDER_SORTED)
        return malformed(op, "the query has no ORDER BY");
    return ST_OK;
}

enum status query_resume(struct op *op, struct query *query, struct json filter)
{
    struct position *resume;
    bool exclude = json_kind(json_get(filter, "exclude")) == JSON_TRUE;
    enum status st = ST_OK;

    if (json_kind(filter) == JSON_UNDEFINED || json_kind(filter) == JSON_NULL)
        return ST_OK;
    TRY(check(op, query->select, filter));
    resume = arena_alloc(&op->arena, sizeof(*resume));
    *resume = (struct position){ .order = ORDER_SORTED };
    TRY(read_values(op, query->select, json_get(filter, "value"), resume));
    TRY(read_place(op, query->select, json_get(filter, "rid"), exclude, resume));
    query->resume = resume;
out:
    return st;
}

static int sign_of(const struct select *select, size_t key)
{
    return select->order[key].descending ? -1 : 1;
}

bool resume_is_behind(const struct fill *fill, const struct position *resume, const struct position *at)
{
    const struct select *select = fill->cursor->select;
    uint64_t tie = fill_tie(fill, resume->number), tie_at = fill_tie(fill, at->number);
    int order = 0;

    for (size_t i = 0; order == 0 && i < select->order_count; i++)
        order = sign_of(select, i) * position_compare_keys(resume, at, i);
    if (order == 0 && tie != tie_at)
        order = sign_of(select, 0) * (tie < tie_at ? -1 : 1);
    return order ? order > 0 : resume->index > at->index;
}
