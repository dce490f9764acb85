/* src/route/path.c - targets as SDKs send them, in all their encodings. */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "keys/rid.h"
#include "route/path.h"

/* The queries that a path may have. Any other "?..." is part of an id that the client did not encode. */
static const char *const known_queries[] = { "$resolveFor", "$filter", "$partitionKeyRangeIds",
                                             "api-version" };

static bool is_query(struct slice text)
{
    if (text.size == 0)
        return true;
    for (size_t i = 0; i < sizeof(known_queries) / sizeof(known_queries[0]); i++)
        if (slice_starts_with(text, known_queries[i]))
            return true;
    return false;
}

static struct slice without_query(struct slice target)
{
    const char *mark = memchr(target.data, '?', target.size);
    size_t at = mark ? (size_t)(mark - target.data) : target.size;

    if (mark && is_query(slice_after(target, at + 1)))
        target.size = at;
    return target;
}

/* http://host:port/path, as proxies are asked, means the same as /path. */
static struct slice without_origin(struct slice target)
{
    bool secure = slice_starts_with(target, "https://");
    struct slice rest;
    const char *slash;

    if (!secure && !slice_starts_with(target, "http://"))
        return target;
    rest = slice_after(target, strlen(secure ? "https://" : "http://"));
    slash = memchr(rest.data, '/', rest.size);
    return slash ? slice_after(rest, (size_t)(slash - rest.data)) : slice_of("/");
}

static struct slice trim_slashes(struct slice text)
{
    while (text.size && text.data[0] == '/')
        text = slice_after(text, 1);
    while (text.size && text.data[text.size - 1] == '/')
        text.size--;
    return text;
}

/* Types stay as they came: a slash or a letter that was encoded is none of theirs. */
static enum status add_segment(struct op *op, struct slice raw, struct path *path)
{
    bool is_id = path->count % 2;
    struct slice segment = raw;

    if (path->count == PATH_SEGMENTS)
        return op_fail(op, ST_BAD_HEADER, "The request path has too many segments.");
    if (is_id && !percent_decode(&op->arena, raw, &segment))
        return op_fail(op, ST_BAD_HEADER, "The request path is not percent-encoded correctly.");
    path->segment[path->count++] = segment;
    return ST_OK;
}

static enum status split(struct op *op, struct slice raw, struct path *path)
{
    enum status st = ST_OK;

    while (raw.size) {
        const char *slash = memchr(raw.data, '/', raw.size);
        size_t size = slash ? (size_t)(slash - raw.data) : raw.size;

        TRY(add_segment(op, slice_make(raw.data, size), path));
        raw = slice_after(raw, slash ? size + 1 : size);
    }
out:
    return st;
}

static struct slice join(struct op *op, const struct path *path, size_t count)
{
    struct buf out;

    buf_init(&out, &op->arena);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_byte(&out, '/');
        buf_slice(&out, path->segment[i]);
    }
    return buf_as_slice(&out);
}

static struct slice shape_of(struct op *op, const struct path *path)
{
    struct buf out;

    buf_init(&out, &op->arena);
    for (size_t i = 0; i < path->count; i++) {
        if (i)
            buf_byte(&out, '/');
        buf_slice(&out, i % 2 ? slice_of("x") : path->segment[i]);
    }
    return buf_as_slice(&out);
}

static bool is_rid(const struct path *path, struct slice id, struct rid *rid)
{
    return rid_parse(id, rid) || (slice_is(path->segment[0], "offers") && rid_parse_offer(id, rid));
}

static bool is_below(const struct rid *rid, const struct rid *owner)
{
    return rid->size > owner->size && memcmp(rid->bytes, owner->bytes, owner->size) == 0;
}

/* Clients that go by rids sign the last one alone. A name that looks like a rid is not below its owner. */
static struct slice rid_of(const struct path *path, size_t in_link)
{
    struct rid owner = { 0 }, rid;

    for (size_t i = 1; i < in_link; i += 2) {
        if (!is_rid(path, path->segment[i], &rid) || !is_below(&rid, &owner))
            return (struct slice){ 0 };
        owner = rid;
    }
    return in_link ? path->segment[in_link - 1] : (struct slice){ 0 };
}

/* Clients sign .../colls/b/operations/c as a request for the container b. */
static void sign_as_container(struct op *op, struct path *path)
{
    assert(path->count == 6);
    path->type = path->segment[2];
    path->link = join(op, path, 4);
    path->rid = rid_of(path, 4);
}

/* What is no resource of the service's is signed by its whole path. */
static void sign_as_own(struct op *op, struct path *path)
{
    path->type = path->segment[0];
    path->link = join(op, path, path->count);
    path->rid = (struct slice){ 0 };
}

/* Clients sign a transaction as one of the account's. */
static void sign_as_transaction(struct path *path)
{
    path->type = slice_of("distributedtransactionbatch");
    path->link = slice_of("");
    path->rid = (struct slice){ 0 };
}

/* The value of a parameter in what follows the path, decoded; absent where there is none. */
static enum status parameter(struct op *op, struct slice target, const char *name, struct slice *value)
{
    const char *mark = memchr(target.data, '?', target.size);
    struct slice rest = mark ? slice_after(target, (size_t)(mark + 1 - target.data)) : slice_of("");

    while (rest.size) {
        const char *end = memchr(rest.data, '&', rest.size);
        struct slice pair = slice_make(rest.data, end ? (size_t)(end - rest.data) : rest.size);

        rest = slice_after(rest, end ? pair.size + 1 : pair.size);
        if (!slice_starts_with(pair, name) || pair.size == strlen(name) || pair.data[strlen(name)] != '=')
            continue;
        if (!percent_decode(&op->arena, slice_after(pair, strlen(name) + 1), value))
            return op_fail(op, ST_BAD_HEADER, "The request path is not percent-encoded correctly.");
    }
    return ST_OK;
}

/* Clients in Direct mode sign the question for addresses as one for what they are about. */
static enum status sign_as_addressed(struct op *op, struct slice target, struct path *path)
{
    struct path owner = { 0 };
    enum status st;

    TRY(parameter(op, target, "$resolveFor", &path->resolve_for));
    TRY(parameter(op, target, "$partitionKeyRangeIds", &path->range_ids));
    TRY(split(op, trim_slashes(path->resolve_for), &owner));
    path->type = owner.count == 5 ? slice_of("docs") : slice_of("dbs");
    path->link = join(op, &owner, owner.count == 5 ? 4 : 0);
    path->rid = owner.count == 5 ? rid_of(&owner, 4) : (struct slice){ 0 };
out:
    return st;
}

enum status path_parse(struct op *op, struct slice target, struct path *path)
{
    struct slice raw = trim_slashes(without_query(without_origin(target)));
    size_t in_link;
    enum status st;

    *path = (struct path){ 0 };
    if (raw.size > TARGET_PATH_BYTES_MAX) /* before it is decoded, joined and signed */
        TRY(op_fail(op, ST_BAD_HEADER, "The request path is too long."));
    TRY(split(op, raw, path));
    assert(path->count <= PATH_SEGMENTS);
    in_link = path->count - path->count % 2;
    path->shape = shape_of(op, path);
    path->link = join(op, path, in_link);
    path->rid = rid_of(path, in_link);
    if (path->count)
        path->type = path->segment[path->count % 2 ? path->count - 1 : path->count - 2];
    else
        path->type = slice_of("");
    if (path->count && slice_is(path->segment[0], "_orrery"))
        sign_as_own(op, path);
    if (slice_is(path->shape, "dbs/x/colls/x/operations/x"))
        sign_as_container(op, path);
    if (slice_is(path->shape, "operations/x"))
        sign_as_transaction(path);
    if (slice_is(path->shape, "addresses"))
        TRY(sign_as_addressed(op, target, path));
out:
    return st;
}
