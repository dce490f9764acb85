/* src/main/copy.c - lists are read and what they name is made again, container by container. */
#include <stdio.h>
#include <string.h>

#include "main/copy.h"
#include "main/copy_attachments.h"

/* Where things come from and where they go. */
struct copying {
    struct op *op;
    struct inside *from, *to;
    struct slice from_id, to_id; /* of the databases */
    struct slice moment;         /* of the items; no data: now */
    struct json nothing;         /* an answer that nobody looks at */
    struct copied *copied;
};

static const struct slice no_id = { 0 };

static struct slice id_of(struct json resource)
{
    return json_string(json_get(resource, "id"));
}

static struct slice printed(struct op *op, const char *before, struct json value, const char *after)
{
    struct buf out;

    buf_init(&out, &op->arena);
    buf_text(&out, before);
    json_print(&out, value);
    buf_text(&out, after);
    return buf_as_slice(&out);
}

static struct slice definition_of(struct op *op, struct json resource)
{
    static const char *const nothing[] = { NULL };
    struct buf out;

    buf_init(&out, &op->arena);
    inside_print_without(&out, resource, nothing);
    return buf_as_slice(&out);
}

/* ---- every page of a list ---- */

typedef enum status visitor(struct copying *copying, struct json resource, const void *context);

enum { TOKEN_BYTES_MAX = 4096 };

/* The next page, and where the one after it begins: in `token`, which outlives both. Without data: it was the last. */
static enum status get_page(struct copying *copying, struct asked *asked, char token[TOKEN_BYTES_MAX],
                            struct json *page)
{
    struct op *op = copying->op;
    struct slice next;
    enum status st;

    TRY(inside_get(op, copying->from, asked, page));
    next = inside_header(copying->from, "x-ms-continuation");
    if (next.size >= TOKEN_BYTES_MAX)
        TRY(op_fail(op, ST_UNAVAILABLE, "A continuation is too long."));
    if (next.size)
        memcpy(token, next.data, next.size);
    asked->continuation = next.size ? slice_make(token, next.size) : (struct slice){ 0 };
out:
    return st;
}

/* `list` is the member that has the resources. What a page needs is given back with it. */
static enum status for_each(struct copying *copying, struct asked asked, const char *member, visitor *visit,
                            const void *context)
{
    struct op *op = copying->op;
    char token[TOKEN_BYTES_MAX];
    enum status st = ST_OK;

    asked.method = METHOD_GET;
    do {
        struct json page;

        TRY(op_check(op));
        TRY(get_page(copying, &asked, token, &page));
        for (struct json_iter i = json_iter(json_get(page, member)); json_next(&i);)
            TRY(visit(copying, i.value, context));
    } while (asked.continuation.data);
out:
    return st;
}

/* ---- throughput ---- */

struct offered {
    struct json rid;
    struct asked *asked;
};

static enum status take_offer(struct copying *copying, struct json offer, const void *context)
{
    const struct offered *offered = context;
    struct json content = json_get(offer, "content"), most;

    if (!json_equal(json_get(offer, "offerResourceId"), offered->rid))
        return ST_OK;
    most = json_get(json_get(content, "offerAutopilotSettings"), "maxThroughput");
    if (json_kind(most) == JSON_NUMBER)
        offered->asked->autopilot = printed(copying->op, "{\"maxThroughput\":", most, "}");
    else if (json_kind(json_get(content, "offerThroughput")) == JSON_NUMBER)
        offered->asked->throughput = printed(copying->op, "", json_get(content, "offerThroughput"), "");
    return ST_OK;
}

/* What was provisioned for the resource goes with its copy. */
static enum status add_throughput(struct copying *copying, struct json resource, struct asked *asked)
{
    struct offered offered = { json_get(resource, "_rid"), asked };

    return for_each(copying, (struct asked){ .target = slice_of("/offers") }, "Offers", take_offer, &offered);
}

/* ---- what lies in a container ---- */

static enum status make_child(struct copying *copying, struct json resource, const void *target)
{
    return inside_do(copying->op, copying->to,
                     &(struct asked){ .method = METHOD_POST,
                                      .target = *(const struct slice *)target,
                                      .body = definition_of(copying->op, resource) });
}

static enum status copy_scripts(struct copying *copying, struct slice from, struct slice to)
{
    static const char *const kinds[][2] = { { "sprocs", "StoredProcedures" },
                                            { "triggers", "Triggers" },
                                            { "udfs", "UserDefinedFunctions" } };
    enum status st = ST_OK;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct slice target = inside_path(copying->op, to, kinds[i][0], no_id);

        TRY(for_each(copying, (struct asked){ .target = inside_path(copying->op, from, kinds[i][0], no_id) },
                     kinds[i][1], make_child, &target));
    }
out:
    return st;
}

static enum status judge(struct op *op, void *context, size_t index, int status, struct json body)
{
    struct copying *copying = context;

    (void)index;
    copying->copied->items++;
    if (status == 201)
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "An item was refused with %d: %s", status,
                   json_kind(body) == JSON_OBJECT ? inside_message(op, printed(op, "", body, ""))
                                                  : "no reason");
}

static enum status make_attachment(struct copying *copying, struct json resource, const void *copy)
{
    struct arena_mark mark = arena_mark(&copying->op->arena);
    enum status st;

    TRY(copy_attachment(copy, resource));
    arena_rewind(&copying->op->arena, mark);
out:
    return st;
}

/* Those of a page whose items have been written. An item that is gone meanwhile, here or there, has none. */
static enum status copy_attachments(struct copying *copying, struct json page, struct json paths,
                                    struct slice from, struct slice to)
{
    struct op *op = copying->op;
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(json_get(page, "Documents")); json_next(&i);) {
        struct arena_mark mark = arena_mark(&op->arena);
        struct attachment_copy copy = { op, copying->from, copying->to,
                                        inside_path(op, to, "docs", id_of(i.value)),
                                        inside_key(op, paths, i.value) };
        struct slice item = inside_path(op, from, "docs", id_of(i.value));

        st = for_each(
            copying, (struct asked){ .target = inside_path(op, item, "attachments", no_id), .key = copy.key },
            "Attachments", make_attachment, &copy);
        if (st != ST_NOT_FOUND)
            TRY(st);
        arena_rewind(&op->arena, mark);
    }
    st = ST_OK;
out:
    return st;
}

/* A page is read, then its items are written. Both are given back before the next one. */
static enum status copy_items(struct copying *copying, struct slice from, struct slice to,
                              bool with_attachments)
{
    struct bulk bulk = { .inside = copying->to, .judge = judge, .context = copying };
    struct op *op = copying->op;
    struct asked asked = { .method = METHOD_GET,
                           .target = inside_path(op, from, "docs", no_id),
                           .as_of = copying->moment };
    char token[TOKEN_BYTES_MAX];
    enum status st;

    TRY(bulk_open(op, &bulk, to));
    do {
        struct arena_mark mark = arena_mark(&op->arena);
        struct json page;

        TRY(op_check(op));
        TRY(get_page(copying, &asked, token, &page));
        bulk_begin(op, &bulk);
        for (struct json_iter i = json_iter(json_get(page, "Documents")); json_next(&i);)
            TRY(bulk_add(op, &bulk, i.value));
        TRY(bulk_send(op, &bulk));
        if (with_attachments)
            TRY(copy_attachments(copying, page, bulk.paths, from, to));
        arena_rewind(&op->arena, mark);
    } while (asked.continuation.data);
out:
    return st;
}

static enum status copy_container(struct copying *copying, struct json resource, struct slice from,
                                  struct slice to, struct slice list, struct slice body)
{
    struct asked asked = { .method = METHOD_POST, .target = list, .body = body };
    bool with_attachments = false; /* of an earlier moment there are none: no log has them */
    enum status st;

    if (!copying->moment.data)
        TRY(copy_has_attachments(copying->op, copying->from, resource, &with_attachments));
    TRY(add_throughput(copying, resource, &asked));
    TRY(inside_do(copying->op, copying->to, &asked));
    copying->copied->containers++;
    TRY(copy_scripts(copying, from, to));
    TRY(copy_items(copying, from, to, with_attachments));
out:
    return st;
}

/* ---- a database ---- */

static struct slice database_path(struct op *op, struct slice id)
{
    return inside_path(op, slice_of(""), "dbs", id);
}

static enum status copy_one(struct copying *copying, struct json resource, const void *context)
{
    struct op *op = copying->op;
    struct slice from = database_path(op, copying->from_id), to = database_path(op, copying->to_id);

    (void)context;
    return copy_container(copying, resource, inside_path(op, from, "colls", id_of(resource)),
                          inside_path(op, to, "colls", id_of(resource)), inside_path(op, to, "colls", no_id),
                          definition_of(op, resource));
}

/* "dbs/shop/colls/orders" becomes "dbs/copy/colls/orders". A link by rids, or into another database, stays. */
static struct slice moved_link(struct copying *copying, struct slice link)
{
    struct buf begin, out;
    struct slice prefix;

    buf_init(&begin, &copying->op->arena);
    buf_text(&begin, "dbs/");
    buf_slice(&begin, copying->from_id);
    buf_byte(&begin, '/');
    prefix = buf_as_slice(&begin);
    if (link.size <= prefix.size || memcmp(link.data, prefix.data, prefix.size) != 0)
        return link;
    buf_init(&out, &copying->op->arena);
    buf_text(&out, "dbs/");
    buf_slice(&out, copying->to_id);
    buf_byte(&out, '/');
    buf_slice(&out, slice_after(link, prefix.size));
    return buf_as_slice(&out);
}

static enum status make_permission(struct copying *copying, struct json resource, const void *target)
{
    static const char *const own[] = { "resource", NULL };
    struct json link = json_get(resource, "resource");
    struct buf body;

    buf_init(&body, &copying->op->arena);
    inside_print_without(&body, resource, own);
    body.size--; /* the brace */
    buf_text(&body, ",\"resource\":");
    json_print_string(&body,
                      moved_link(copying, json_kind(link) == JSON_STRING ? json_string(link) : slice_of("")));
    buf_byte(&body, '}');
    return inside_do(copying->op, copying->to,
                     &(struct asked){ .method = METHOD_POST,
                                      .target = *(const struct slice *)target,
                                      .body = buf_as_slice(&body) });
}

static enum status copy_user(struct copying *copying, struct json resource, const void *context)
{
    struct op *op = copying->op;
    struct slice from = database_path(op, copying->from_id), to = database_path(op, copying->to_id);
    struct slice users = inside_path(op, to, "users", no_id);
    struct slice permissions =
        inside_path(op, inside_path(op, to, "users", id_of(resource)), "permissions", no_id);
    enum status st;

    (void)context;
    TRY(make_child(copying, resource, &users));
    TRY(for_each(copying,
                 (struct asked){ .target = inside_path(op, inside_path(op, from, "users", id_of(resource)),
                                                       "permissions", no_id) },
                 "Permissions", make_permission, &permissions));
out:
    return st;
}

static enum status copy_keys(struct copying *copying)
{
    static const char kind[] = "clientencryptionkeys";
    struct op *op = copying->op;
    struct slice from = inside_path(op, database_path(op, copying->from_id), kind, no_id);
    struct slice to = inside_path(op, database_path(op, copying->to_id), kind, no_id);

    return for_each(copying, (struct asked){ .target = from }, "ClientEncryptionKeys", make_child, &to);
}

static enum status make_database(struct copying *copying)
{
    struct asked asked = { .method = METHOD_POST, .target = slice_of("/dbs") };
    struct op *op = copying->op;
    struct json database;
    struct buf body;
    enum status st;

    TRY(inside_get(op, copying->from,
                   &(struct asked){ .method = METHOD_GET, .target = database_path(op, copying->from_id) },
                   &database));
    buf_init(&body, &op->arena);
    buf_text(&body, "{\"id\":");
    json_print_string(&body, copying->to_id);
    buf_byte(&body, '}');
    asked.body = buf_as_slice(&body);
    TRY(add_throughput(copying, database, &asked));
    TRY(inside_do(op, copying->to, &asked));
out:
    return st;
}

/* What was made of it, when the rest failed. The failure is told, and not that of the removal. */
static void remove_again(struct op *op, struct inside *inside, struct slice path)
{
    const char *error = op->error;

    (void)inside_ask(inside, &(struct asked){ .method = METHOD_DELETE, .target = path });
    op->error = error;
}

enum status copy_database(struct op *op, struct inside *from, struct slice from_id, struct inside *to,
                          struct slice to_id, struct copied *copied)
{
    struct copying copying = { op, from, to, from_id, to_id, .copied = copied };
    struct slice path = database_path(op, from_id);
    enum status st;

    *copied = (struct copied){ 0 };
    st = make_database(&copying);
    if (st != ST_OK)
        return st;
    st = copy_keys(&copying); /* which containers may name */
    if (st == ST_OK)
        st = for_each(&copying, (struct asked){ .target = inside_path(op, path, "colls", no_id) },
                      "DocumentCollections", copy_one, NULL);
    if (st == ST_OK)
        st = for_each(&copying, (struct asked){ .target = inside_path(op, path, "users", no_id) }, "Users",
                      copy_user, NULL);
    if (st != ST_OK)
        remove_again(op, to, database_path(op, to_id));
    return st;
}

/* ---- a container of an earlier moment ---- */

/* dbs/D/colls/C to its two ids. */
static enum status split_link(struct op *op, struct slice link, struct slice *database,
                              struct slice *container)
{
    const char *middle = memmem(link.data, link.size, "/colls/", 7);

    if (!slice_starts_with(link, "dbs/") || !middle || middle <= link.data + 4)
        return op_fail(op, ST_BAD_REQUEST, "A container is named like dbs/D/colls/C.");
    *database = slice_make(link.data + 4, (size_t)(middle - link.data) - 4);
    *container = slice_after(link, (size_t)(middle - link.data) + 7);
    if (!container->size || memchr(container->data, '/', container->size))
        return op_fail(op, ST_BAD_REQUEST, "A container is named like dbs/D/colls/C.");
    return ST_OK;
}

enum status copy_container_at(struct op *op, struct inside *inside, struct slice from, struct slice moment,
                              struct slice to, struct copied *copied)
{
    static const char *const own[] = { "id", NULL };
    struct copying copying = { .op = op, .from = inside, .to = inside, .moment = moment, .copied = copied };
    struct slice database, container, to_database, to_container, source, target;
    struct json definition;
    struct buf body;
    enum status st;

    *copied = (struct copied){ 0 };
    TRY(split_link(op, from, &database, &container));
    TRY(split_link(op, to, &to_database, &to_container));
    source = inside_path(op, database_path(op, database), "colls", container);
    target = inside_path(op, database_path(op, to_database), "colls", to_container);
    TRY(inside_get(op, inside, &(struct asked){ .method = METHOD_GET, .target = source }, &definition));
    TRY(inside_get(op, inside, /* before anything is made: whether the moment is a good one */
                   &(struct asked){ .method = METHOD_GET,
                                    .target = inside_path(op, source, "docs", no_id),
                                    .as_of = moment },
                   &copying.nothing));
    buf_init(&body, &op->arena);
    inside_print_without(&body, definition, own);
    body.size--; /* the brace */
    buf_text(&body, ",\"id\":");
    json_print_string(&body, to_container);
    buf_byte(&body, '}');
    st = copy_container(&copying, definition, source, target,
                        inside_path(op, database_path(op, to_database), "colls", no_id), buf_as_slice(&body));
    if (st != ST_OK && copied->containers)
        remove_again(op, inside, target);
out:
    return st;
}
