/* src/main/inside.c - one request at a time to a router of its own; items a hundred at a time. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/limits.h"
#include "main/inside.h"

/* With one item more, however large, it is a batch that is not too large. */
enum { ITEMS_AT_ONCE = 100, ITEMS_BYTES = 64 * 1024 };

void inside_open(struct inside *inside, const struct service *service, struct account *account)
{
    memset(inside, 0, sizeof(*inside));
    inside->service = *service;
    inside->service.enforces_throughput = false;
    inside->router = route_open(&(struct route_options){ .service = &inside->service, .trusts_all = true });
    op_init(&inside->exchange.op, service->env, OP_MEMORY_BYTES_MAX);
    op_join_account(&inside->exchange.op, account);
}

void inside_close(struct inside *inside)
{
    route_close(inside->router);
    op_free(&inside->exchange.op);
}

static void reset_answer(struct exchange *exchange)
{
    exchange->answer.status = 0;
    buf_init(&exchange->answer.head, &exchange->op.arena);
    buf_init(&exchange->answer.body, &exchange->op.arena);
    exchange->answer.body.moves = true;
}

static void fill_request(struct request *request, const struct asked *asked)
{
    *request = (struct request){ .method = asked->method, .target = asked->target, .body = asked->body };
    if (!request->body.data)
        request->body = slice_of("");
    request->header[HEADER_OFFER_THROUGHPUT] = asked->throughput;
    request->header[HEADER_OFFER_AUTOPILOT] = asked->autopilot;
    request->header[HEADER_AS_OF] = asked->as_of;
    request->header[HEADER_CONTINUATION] = asked->continuation;
    request->header[HEADER_PARTITION_KEY] = asked->key;
    request->header[HEADER_SLUG] = asked->slug;
    request->header[HEADER_CONTENT_TYPE] = asked->type;
    if (asked->is_batch)
        request->header[HEADER_IS_BATCH] = request->header[HEADER_BATCH_CONTINUE] = slice_of("true");
}

int inside_ask(struct inside *inside, const struct asked *asked)
{
    struct exchange *exchange = &inside->exchange;
    enum status st;

    op_begin(&exchange->op, OP_TIMEOUT_MS);
    exchange->op.may_block = false;
    exchange->class = CLASS_QUICK;
    fill_request(&exchange->request, asked);
    reset_answer(exchange);
    st = route_handle(inside->router, exchange);
    if (st == ST_WOULD_BLOCK) {
        reset_answer(exchange);
        exchange->op.may_block = true;
        st = route_handle(inside->router, exchange);
    }
    assert(st == ST_OK); /* nobody resumes it, so it has waited */
    return exchange->answer.status;
}

struct slice inside_body(const struct inside *inside)
{
    return buf_as_slice(&inside->exchange.answer.body);
}

static enum status refused(struct op *op, const struct inside *inside)
{
    int status = inside->exchange.answer.status;

    return op_fail(op,
                   status == 404   ? ST_NOT_FOUND
                   : status == 409 ? ST_EXISTS
                   : status < 500  ? ST_BAD_REQUEST
                                   : ST_UNAVAILABLE,
                   "%s", inside_message(op, inside_body(inside)));
}

enum status inside_get(struct op *op, struct inside *inside, const struct asked *asked, struct json *value)
{
    struct slice body;
    char *kept;

    *value = json_undefined;
    if (inside_ask(inside, asked) >= 300)
        return refused(op, inside);
    body = inside_body(inside);
    kept = arena_alloc(&op->arena, body.size + 1);
    memcpy(kept, body.data, body.size);
    return json_parse(op, slice_make(kept, body.size), value);
}

enum status inside_do(struct op *op, struct inside *inside, const struct asked *asked)
{
    return inside_ask(inside, asked) < 300 ? ST_OK : refused(op, inside);
}

struct slice inside_header(const struct inside *inside, const char *name)
{
    struct slice head = buf_as_slice(&inside->exchange.answer.head);
    size_t size = strlen(name);

    while (head.size) {
        const char *end = memmem(head.data, head.size, "\r\n", 2);
        struct slice line = slice_make(head.data, end ? (size_t)(end - head.data) : head.size);

        if (line.size > size && strncasecmp(line.data, name, size) == 0 && line.data[size] == ':')
            return slice_trim(slice_after(line, size + 1));
        head = slice_after(head, end ? line.size + 2 : line.size);
    }
    return (struct slice){ 0 };
}

/* Message: {"Errors":["..."]} is how the protocol wraps some of its errors: the first of them. */
static struct slice unwrapped(struct op *op, struct slice text)
{
    static const char wrap[] = "Message: ";
    struct json parsed;
    struct json_iter errors;

    if (!slice_starts_with(text, wrap) || json_parse(op, slice_after(text, strlen(wrap)), &parsed) != ST_OK)
        return text;
    errors = json_iter(json_get(parsed, "Errors"));
    return json_next(&errors) && json_kind(errors.value) == JSON_STRING ? json_string(errors.value) : text;
}

const char *inside_message(struct op *op, struct slice body)
{
    struct slice text = body;
    struct json parsed;
    const char *end;

    if (json_parse(op, body, &parsed) == ST_OK && json_kind(json_get(parsed, "message")) == JSON_STRING)
        text = json_string(json_get(parsed, "message"));
    end = memchr(text.data, '\r', text.size);
    text.size = end ? (size_t)(end - text.data) : text.size;
    return arena_text(&op->arena, unwrapped(op, text));
}

struct slice inside_path(struct op *op, struct slice above, const char *type, struct slice id)
{
    struct buf out;

    buf_init(&out, &op->arena);
    buf_slice(&out, above);
    buf_printf(&out, "/%s", type);
    if (id.data) {
        buf_byte(&out, '/');
        percent_encode(&out, id);
    }
    return buf_as_slice(&out);
}

static bool is_among(struct slice name, const char *const *names)
{
    for (; *names; names++)
        if (slice_is(name, *names))
            return true;
    return false;
}

/* Those of items and attachments; definitions have links, too, which all begin so. */
static bool is_systems(struct slice name, bool users_have_others)
{
    static const char *const names[] = { "_rid", "_self", "_etag", "_attachments", "_ts", NULL };

    return users_have_others ? is_among(name, names) : name.size && name.data[0] == '_';
}

static void print_without(struct buf *out, struct json object, const char *const *names,
                          bool users_have_others)
{
    bool any = false;

    buf_byte(out, '{');
    for (struct json_iter i = json_iter(object); json_next(&i);) {
        if (is_systems(i.name, users_have_others) || is_among(i.name, names))
            continue;
        buf_text(out, any ? "," : "");
        any = true;
        json_print_string(out, i.name);
        buf_byte(out, ':');
        json_print(out, i.value);
    }
    buf_byte(out, '}');
}

void inside_print_without(struct buf *out, struct json object, const char *const *names)
{
    print_without(out, object, names, false);
}

void inside_print_own(struct buf *out, struct json object, const char *const *names)
{
    print_without(out, object, names, true);
}

/* ---- items ---- */

/* The value at /a/b of the document; undefined where it has none. A name may stand in quotes. */
static struct json value_at(struct json document, struct slice path)
{
    while (path.size && json_kind(document) == JSON_OBJECT) {
        struct slice rest = slice_after(path, 1);
        bool quoted = rest.size && rest.data[0] == '"';
        struct slice name = quoted ? slice_after(rest, 1) : rest;
        const char *end = memchr(name.data, quoted ? '"' : '/', name.size);

        name.size = end ? (size_t)(end - name.data) : name.size;
        path = slice_after(rest, end && quoted ? name.size + 2 : quoted ? rest.size : name.size);
        document = json_member(document, name);
    }
    return path.size ? json_undefined : document;
}

struct slice inside_key(struct op *op, struct json paths, struct json item)
{
    struct buf key;
    bool any = false;

    buf_init(&key, &op->arena);
    buf_byte(&key, '[');
    for (struct json_iter i = json_iter(paths); json_next(&i); any = true) {
        struct json value = value_at(item, json_string(i.value));

        buf_text(&key, any ? "," : "");
        if (json_kind(value) == JSON_UNDEFINED)
            buf_text(&key, "{}");
        else
            json_print(&key, value);
    }
    buf_byte(&key, ']');
    return buf_as_slice(&key);
}

void bulk_begin(struct op *op, struct bulk *bulk)
{
    bulk->count = 0;
    bulk->mark = arena_mark(&op->arena);
    buf_init(&bulk->body, &op->arena);
}

/* The container's own paths: it may have been there before. */
enum status bulk_open(struct op *op, struct bulk *bulk, struct slice container)
{
    struct json definition;
    enum status st;

    bulk->target = inside_path(op, container, "docs", (struct slice){ 0 });
    if (inside_ask(bulk->inside, &(struct asked){ .method = METHOD_GET, .target = container }) != 200)
        TRY(op_fail(op, ST_BAD_REQUEST, "%s", inside_message(op, inside_body(bulk->inside))));
    TRY(json_parse(op, inside_body(bulk->inside), &definition));
    bulk->paths = json_get(json_get(definition, "partitionKey"), "paths");
    bulk_begin(op, bulk);
out:
    return st;
}

enum status bulk_add(struct op *op, struct bulk *bulk, struct json item)
{
    static const char *const nothing[] = { NULL };
    struct buf *body = &bulk->body;

    buf_text(body, bulk->count ? "," : "[");
    bulk->count++;
    buf_text(body, "{\"operationType\":\"Create\",\"partitionKey\":");
    json_print_string(body, inside_key(op, bulk->paths, item)); /* a text inside the operation */
    buf_text(body, ",\"resourceBody\":");
    inside_print_own(body, item, nothing);
    buf_byte(body, '}');
    return bulk->count == ITEMS_AT_ONCE || body->size > ITEMS_BYTES ? bulk_send(op, bulk) : ST_OK;
}

static int status_of(struct json result)
{
    struct json status = json_get(result, "statusCode");

    return json_kind(status) == JSON_NUMBER ? (int)json_double(status) : 0;
}

enum status bulk_send(struct op *op, struct bulk *bulk)
{
    struct asked asked = { .method = METHOD_POST, .target = bulk->target, .is_batch = true };
    struct json results;
    enum status st = ST_OK;

    if (bulk->count == 0)
        goto out;
    buf_byte(&bulk->body, ']');
    asked.body = buf_as_slice(&bulk->body);
    if (inside_ask(bulk->inside, &asked) >= 300)
        TRY(op_fail(op, ST_BAD_REQUEST, "%s", inside_message(op, inside_body(bulk->inside))));
    TRY(json_parse(op, inside_body(bulk->inside), &results));
    for (struct json_iter i = json_iter(results); json_next(&i); bulk->first++)
        TRY(bulk->judge(op, bulk->context, bulk->first, status_of(i.value),
                        json_get(i.value, "resourceBody")));
    arena_rewind(&op->arena, bulk->mark);
    bulk_begin(op, bulk);
out:
    return st;
}
