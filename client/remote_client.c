/* client/remote_client.c - what managed resolvers and the manager ask, asked through a client. */
#include <limits.h>
#include <stdlib.h>

#include "client.h"
#include "manager.h"

enum { LIST_PAGE_ITEMS = 1000 };

/* The body and the headers of an answer, in the arena. */
static orrery_status take(struct arena *arena, orrery_response *response, struct remote_answer *answer)
{
    const char *etag = orrery_response_etag(response);
    const char *quota = orrery_response_header(response, "x-ms-resource-quota");
    const char *usage = orrery_response_header(response, "x-ms-resource-usage");
    char *copies[3] = { memory_text_in(arena, slice_of(etag ? etag : "")),
                        memory_text_in(arena, slice_of(quota ? quota : "")),
                        memory_text_in(arena, slice_of(usage ? usage : "")) };
    size_t size;
    const char *body = orrery_response_body(response, &size);

    *answer = (struct remote_answer){ .body = json_undefined };
    if (!copies[0] || !copies[1] || !copies[2])
        return ORRERY_ENOMEM;
    answer->etag = slice_of(copies[0]);
    answer->quota = slice_of(copies[1]);
    answer->usage = slice_of(copies[2]);
    return parse_json(arena, slice_make(body, size), &answer->body);
}

static orrery_status answer_of(orrery_status status, struct arena *arena, orrery_response *response,
                               struct remote_answer *answer)
{
    if (status == ORRERY_OK)
        status = take(arena, response, answer);
    orrery_response_free(response);
    return status;
}

static orrery_status client_read(void *self, struct arena *arena, const char *link,
                                 struct remote_answer *answer)
{
    static const char *const headers[] = { "x-ms-documentdb-populatequotainfo: true", NULL };
    orrery_options options = { .size = sizeof(options), .headers = headers };
    orrery_response *response = NULL;
    orrery_status status = orrery_read(self, link, &options, &response);

    return answer_of(status, arena, response, answer);
}

static orrery_status client_create(void *self, const char *feed_link, const char *json,
                                   const orrery_options *options)
{
    return orrery_create(self, feed_link, json, ORRERY_TEXT, options, NULL);
}

static orrery_status client_drop(void *self, const char *link)
{
    return orrery_delete(self, link, NULL, NULL);
}

static orrery_status client_item_read(void *self, struct arena *arena, const struct remote_item *item,
                                      struct remote_answer *answer)
{
    orrery_response *response = NULL;
    orrery_status status = orrery_item_read(self, item->link, item->id, item->key, NULL, &response);

    return answer_of(status, arena, response, answer);
}

static orrery_status client_item_create(void *self, struct arena *arena, const struct remote_item *item,
                                        struct slice json, struct remote_answer *answer)
{
    orrery_response *response = NULL;
    orrery_status status =
        orrery_item_create(self, item->link, json.data, json.size, item->key, NULL, &response);

    return answer_of(status, arena, response, answer);
}

static orrery_status client_item_replace(void *self, struct arena *arena, const struct remote_item *item,
                                         struct slice json, struct remote_answer *answer)
{
    orrery_options options = { .size = sizeof(options), .if_match = item->if_match };
    orrery_response *response = NULL;
    orrery_status status =
        orrery_item_replace(self, item->link, item->id, json.data, json.size, item->key, &options, &response);

    return answer_of(status, arena, response, answer);
}

static void add_write(orrery_batch *batch, const struct remote_write *write)
{
    const struct remote_item *item = &write->item;

    if (write->is_delete)
        orrery_batch_delete(batch, item->id, item->if_match, item->key);
    else
        orrery_batch_create(batch, write->json.data, write->json.size, item->key);
}

static orrery_status take_write(struct arena *arena, orrery_response *response, size_t index,
                                struct remote_write *write)
{
    orrery_result result = { .size = sizeof(result) };
    orrery_status status = orrery_batch_result(response, index, &result);
    const char *etag;
    size_t size;

    if (status != ORRERY_OK)
        return ORRERY_EIO;
    etag = orrery_value_text(result.etag, &size);
    write->status = result.status;
    write->etag = slice_make(memory_text_in(arena, slice_make(etag, size)), size);
    return write->etag.data ? ORRERY_OK : ORRERY_ENOMEM;
}

/* Those of one collection, as a bulk; they are the ones whose status is ORRERY_WAIT. */
static orrery_status write_collection(orrery_client *client, struct arena *arena, const char *link,
                                      struct remote_write *writes, size_t count)
{
    orrery_response *response = NULL;
    orrery_batch *batch = NULL;
    size_t index = 0;
    orrery_status status = orrery_batch_new(&batch);

    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        if (writes[i].status == ORRERY_WAIT && strcmp(writes[i].item.link, link) == 0)
            add_write(batch, &writes[i]);
    if (status == ORRERY_OK)
        status = orrery_bulk_run(client, link, batch, NULL, &response);
    if (status == ORRERY_EBATCH)
        status = ORRERY_OK;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        if (writes[i].status == ORRERY_WAIT && strcmp(writes[i].item.link, link) == 0)
            status = take_write(arena, response, index++, &writes[i]);
    orrery_response_free(response);
    orrery_batch_free(batch);
    return status;
}

static orrery_status client_write_many(void *self, struct arena *arena, struct remote_write *writes,
                                       size_t count)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < count; i++)
        writes[i].status = ORRERY_WAIT;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        if (writes[i].status == ORRERY_WAIT)
            status = write_collection(self, arena, writes[i].item.link, &writes[i], count - i);
    return status;
}

/*
 * ORRERY_ENOTFOUND means that somebody else deleted it: a write that may have happened is never sent again (promise 2).
 * It goes as a bulk of one, which is a POST. A DELETE may be repeated by any gateway on the way.
 */
static orrery_status client_item_delete(void *self, const struct remote_item *item)
{
    struct remote_write write = { .is_delete = true, .item = *item };
    struct arena arena;
    orrery_status status;

    arena_init(&arena, SCRATCH_BYTES_MAX);
    status = client_write_many(self, &arena, &write, 1);
    arena_free(&arena);
    return status == ORRERY_OK ? write.status : status;
}

struct remote_cursor {
    orrery_query *query;
};

static orrery_status client_list_open(void *self, const char *link, struct remote_cursor **cursor)
{
    orrery_options options = { .size = sizeof(options), .page_items = LIST_PAGE_ITEMS };
    orrery_status status;

    *cursor = allocator_get(sizeof(**cursor));
    if (!*cursor)
        return ORRERY_ENOMEM;
    status = orrery_list_open(self, link, NULL, &options, &(*cursor)->query);
    if (status != ORRERY_OK) {
        allocator_free(*cursor);
        *cursor = NULL;
    }
    return status;
}

static orrery_status client_list_next(struct remote_cursor *cursor, struct json *row)
{
    orrery_status status = orrery_query_step(cursor->query);

    if (status != ORRERY_ROW)
        return status;
    *row = value_json(orrery_query_value(cursor->query));
    return row->at ? ORRERY_ROW : ORRERY_ENOMEM;
}

static void client_list_close(struct remote_cursor *cursor)
{
    if (!cursor)
        return;
    orrery_query_close(cursor->query);
    allocator_free(cursor);
}

static int64_t client_now_ms(void *self)
{
    return env_now_ms(((orrery_client *)self)->env);
}

static void client_sleep_ms(void *self, int64_t ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    (void)self;
    nanosleep(&time, NULL);
}

static void client_name(void *self, char *text, size_t size)
{
    snprintf(text, size, "%016llx", (unsigned long long)env_random_u64(((orrery_client *)self)->env));
}

static void client_bound(void *self, int64_t ms)
{
    orrery_client *client = self;

    client->write_ms_max = ms < 1 ? 1 : ms > INT_MAX ? INT_MAX : (int)ms;
}

static void client_explain(void *self, orrery_status status, const char *why)
{
    client_fail(self, status, "%s", why);
}

struct remote remote_of_client(orrery_client *client)
{
    static const struct remote_calls calls = {
        .read = client_read,
        .create = client_create,
        .drop = client_drop,
        .item_read = client_item_read,
        .item_create = client_item_create,
        .item_replace = client_item_replace,
        .item_delete = client_item_delete,
        .write_many = client_write_many,
        .list_open = client_list_open,
        .list_next = client_list_next,
        .list_close = client_list_close,
        .now_ms = client_now_ms,
        .sleep_ms = client_sleep_ms,
        .name = client_name,
        .explain = client_explain,
        .bound = client_bound,
    };

    return (struct remote){ &calls, client };
}
