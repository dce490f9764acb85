/* client/remote_client.c - what managed resolvers and the manager ask, asked through a client. */
#include <limits.h>
#include <stdlib.h>

#include "client.h"
#include "manager.h"

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
    orrery_response *response = NULL;
    orrery_status status = orrery_read(self, link, NULL, &response);

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

/*
 * ORRERY_ENOTFOUND means that somebody else deleted it: a write that may have happened is never sent again (promise
 * 2).
 */
static orrery_status client_item_delete(void *self, const struct remote_item *item)
{
    orrery_options options = { .size = sizeof(options), .if_match = item->if_match };

    return orrery_item_delete(self, item->link, item->id, item->key, &options, NULL);
}

struct remote_cursor {
    orrery_query *query;
};

static orrery_status client_list_open(void *self, const char *link, struct remote_cursor **cursor)
{
    orrery_status status;

    *cursor = malloc(sizeof(**cursor));
    if (!*cursor)
        return ORRERY_ENOMEM;
    status = orrery_list_open(self, link, NULL, NULL, &(*cursor)->query);
    if (status != ORRERY_OK) {
        free(*cursor);
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
    free(cursor);
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
        .list_open = client_list_open,
        .list_next = client_list_next,
        .list_close = client_list_close,
        .now_ms = client_now_ms,
        .sleep_ms = client_sleep_ms,
        .name = client_name,
        .bound = client_bound,
    };

    return (struct remote){ &calls, client };
}
