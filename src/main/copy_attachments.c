/* src/main/copy_attachments.c - an attachment is made again: what it says, and the bytes that are kept here. */
#include <string.h>

#include "main/copy_attachments.h"
#include "partition/attachment.h"

enum status copy_has_attachments(struct op *op, const struct inside *from, struct json container, bool *any)
{
    struct slice name = json_string(json_get(container, "_rid"));
    struct container *found = NULL;
    struct database *database;
    struct rid rid;
    struct buf text;
    enum status st = ST_OK;

    *any = false;
    if (!rid_parse(name, &rid))
        return op_fail(op, ST_CORRUPT, "A container has no rid.");
    rid.size = RID_DATABASE_BYTES;
    buf_init(&text, &op->arena);
    rid_print(&text, &rid);
    database = catalog_find_database(from->service.catalog, buf_as_slice(&text));
    if (database)
        found = catalog_find_container(from->service.catalog, database, name);
    if (found) /* else it was dropped meanwhile, and has no items either */
        st = attachment_any(op, found, any);
    container_release(found);
    database_release(database);
    return st;
}

static struct slice text_of(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of("");
}

static struct slice without(struct op *op, struct json attachment, const char *const *names)
{
    struct buf body;

    buf_init(&body, &op->arena);
    inside_print_own(&body, attachment, names);
    return buf_as_slice(&body);
}

static struct slice list_of(const struct attachment_copy *copy)
{
    return inside_path(copy->op, copy->item, "attachments", (struct slice){ 0 });
}

/* Properties beside the three that an upload makes are added to it, under the link that it got. */
static enum status add_properties(const struct attachment_copy *copy, struct json attachment,
                                  struct json made)
{
    static const char *const given[] = { "id", "contentType", "media", NULL };
    static const char *const media[] = { "media", NULL };
    struct op *op = copy->op;
    struct slice own = without(op, attachment, media);
    struct buf body;

    if (slice_is(without(op, attachment, given), "{}"))
        return ST_OK;
    buf_init(&body, &op->arena);
    buf_slice(&body, slice_make(own.data, own.size - 1)); /* the brace */
    buf_text(&body, ",\"media\":");
    json_print(&body, json_get(made, "media"));
    buf_byte(&body, '}');
    return inside_do(
        op, copy->to,
        &(struct asked){ .method = METHOD_PUT,
                         .target = inside_path(op, copy->item, "attachments", text_of(made, "id")),
                         .key = copy->key,
                         .body = buf_as_slice(&body) });
}

/* The bytes are in the answer of `from`, which may be `to`: they are kept before that is asked something else. */
static enum status upload(const struct attachment_copy *copy, struct json attachment)
{
    struct op *op = copy->op;
    struct slice bytes = inside_body(copy->from);
    char *kept = arena_alloc(&op->arena, bytes.size + 1);
    struct json made;
    enum status st;

    memcpy(kept, bytes.data, bytes.size);
    TRY(inside_get(op, copy->to,
                   &(struct asked){ .method = METHOD_POST,
                                    .target = list_of(copy),
                                    .key = copy->key,
                                    .slug = text_of(attachment, "id"),
                                    .type = text_of(attachment, "contentType"),
                                    .body = slice_make(kept, bytes.size) },
                   &made));
    TRY(add_properties(copy, attachment, made));
out:
    return st;
}

/* Its media are elsewhere, or kept here: then /media/<rid> has them, and the copy has its own. */
enum status copy_attachment(const struct attachment_copy *copy, struct json attachment)
{
    static const char *const nothing[] = { NULL };
    struct slice media = text_of(attachment, "media");

    if (slice_starts_with(media, "/media/") &&
        inside_ask(copy->from, &(struct asked){ .method = METHOD_GET, .target = media }) == 200)
        return upload(copy, attachment);
    return inside_do(copy->op, copy->to,
                     &(struct asked){ .method = METHOD_POST,
                                      .target = list_of(copy),
                                      .key = copy->key,
                                      .body = without(copy->op, attachment, nothing) });
}
