/* test/client/fake_remote.c - the made-up server. Items are found by id: their collections are partitioned by it. */
#include <stdio.h>
#include <stdlib.h>

#include "failing_alloc.h"
#include "fake_remote.h"
#include "resolver.h"

/* The server's own memory does not run out when the library's does. */
static void *own(size_t size)
{
    void *memory;

    failing_alloc_pause();
    memory = calloc(1, size);
    failing_alloc_go_on();
    return memory;
}

/* Whether the request goes through; *lost says that it is done but its answer is not heard. */
static bool arrives(struct fake *fake, bool *lost)
{
    *lost = false;
    if (fake->is_quiet)
        return true;
    if (fake->is_dead)
        return false;
    if (fake->before) {
        fake->is_quiet = true;
        fake->before(fake, fake->context);
        fake->is_quiet = false;
    }
    if (++fake->requests != fake->fault_at)
        return true;
    fake->is_dead = true;
    *lost = fake->fault == FAULT_ANSWER_LOST;
    return *lost;
}

static orrery_status answered(bool lost, orrery_status status)
{
    return lost ? ORRERY_EIO : status;
}

struct fake_collection *fake_find(struct fake *fake, const char *link)
{
    for (struct fake_collection *one = fake->collections; one; one = one->next)
        if (link_equal(one->link, link))
            return one;
    return NULL;
}

static struct fake_item **find_item(struct fake_collection *collection, const char *id)
{
    struct fake_item **at = &collection->items;

    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    return at;
}

size_t fake_count(struct fake *fake, const char *link)
{
    struct fake_collection *collection = fake_find(fake, link);
    size_t count = 0;

    for (struct fake_item *item = collection ? collection->items : NULL; item; item = item->next)
        count++;
    return count;
}

static orrery_status parse(struct arena *arena, const char *text, size_t size, struct json *value)
{
    struct op op = { .arena = *arena };
    enum status st = json_parse(&op, slice_make(text, size), value);

    *arena = op.arena;
    if (st == ST_TOO_LARGE)
        return ORRERY_ENOMEM;
    return st == ST_OK ? ORRERY_OK : ORRERY_EBADREQUEST;
}

static void print_etag(char etag[32], uint64_t version)
{
    snprintf(etag, 32, "\"v%llu\"", (unsigned long long)version);
}

/* The item as a server gives it. */
static orrery_status show(struct arena *arena, const struct fake_item *item, struct remote_answer *answer)
{
    char etag[32];
    struct buf text;

    print_etag(etag, item->version);
    buf_init(&text, arena);
    buf_append(&text, item->text, item->size - 1);
    buf_printf(
        &text,
        ",\"_rid\":\"r%llu\",\"_ts\":1,\"_self\":\"s\",\"_attachments\":\"a\",\"_etag\":\"\\\"v%llu\\\"\"}",
        (unsigned long long)item->number, (unsigned long long)item->version);
    *answer =
        (struct remote_answer){ .etag = slice_make(memory_text_in(arena, slice_of(etag)), strlen(etag)) };
    if (text.failed || !answer->etag.data)
        return ORRERY_ENOMEM;
    return parse(arena, text.data, text.size, &answer->body);
}

static orrery_status fake_read(void *self, struct arena *arena, const char *link,
                               struct remote_answer *answer)
{
    struct fake *fake = self;
    struct fake_collection *found;
    bool lost;
    struct buf text;

    if (!arrives(fake, &lost))
        return ORRERY_EIO;
    found = fake_find(fake, link);
    if (!found)
        return answered(lost, ORRERY_ENOTFOUND);
    *answer = (struct remote_answer){ .quota = slice_of(found->quota), .usage = slice_of(found->usage) };
    buf_init(&text, arena);
    buf_printf(&text, "{\"partitionKey\":{\"paths\":[\"/id\"]},\"_self\":\"dbs/rid/colls/%s/\"}",
               strrchr(found->link, '/') + 1);
    return answered(lost, text.failed ? ORRERY_ENOMEM : parse(arena, text.data, text.size, &answer->body));
}

static orrery_status make_collection(struct fake *fake, const char *feed_link, struct json definition)
{
    struct slice id = json_string(json_get(definition, "id"));
    struct fake_collection **at = &fake->collections, *made;
    char link[512];

    snprintf(link, sizeof(link), "%s/%.*s", feed_link, SLICE_ARGS(id));
    if (fake_find(fake, link))
        return ORRERY_ECONFLICT;
    made = own(sizeof(*made));
    made->link = strdup(link);
    while (*at)
        at = &(*at)->next;
    *at = made;
    return ORRERY_OK;
}

static orrery_status put_script(struct fake *fake, const char *feed_link)
{
    char link[512];
    struct fake_collection *collection;

    snprintf(link, sizeof(link), "%.*s", (int)(strrchr(feed_link, '/') - feed_link), feed_link);
    collection = fake_find(fake, link);
    if (collection)
        collection->scripts++;
    return collection ? ORRERY_OK : ORRERY_ENOTFOUND;
}

static orrery_status fake_create(void *self, const char *feed_link, const char *json,
                                 const orrery_options *options)
{
    struct fake *fake = self;
    const char *kind = strrchr(feed_link, '/') + 1;
    struct arena arena;
    struct json definition;
    orrery_status status;
    bool lost;

    (void)options;
    if (!arrives(fake, &lost))
        return ORRERY_EIO;
    if (strcmp(kind, "colls") != 0)
        return answered(lost, put_script(fake, feed_link));
    arena_init(&arena, SCRATCH_BYTES_MAX);
    status = parse(&arena, json, strlen(json), &definition);
    if (status == ORRERY_OK)
        status = make_collection(fake, feed_link, definition);
    arena_free(&arena);
    return answered(lost, status);
}

static void free_item(struct fake_item *item)
{
    free(item->id);
    free(item->text);
    free(item);
}

static void free_collection(struct fake_collection *collection)
{
    while (collection->items) {
        struct fake_item *item = collection->items;

        collection->items = item->next;
        free_item(item);
    }
    free(collection->link);
    free(collection);
}

static orrery_status fake_drop(void *self, const char *link)
{
    struct fake *fake = self;
    bool lost;

    if (!arrives(fake, &lost))
        return ORRERY_EIO;
    for (struct fake_collection **at = &fake->collections; *at; at = &(*at)->next) {
        struct fake_collection *gone = *at;

        if (!link_equal(gone->link, link))
            continue;
        *at = gone->next;
        free_collection(gone);
        return answered(lost, ORRERY_OK);
    }
    return answered(lost, ORRERY_ENOTFOUND);
}

/* The item that a request is about; NULL and why it is none. */
static orrery_status item_at(struct fake *fake, const struct remote_item *item, const char *if_match,
                             struct fake_item ***at)
{
    struct fake_collection *collection = fake_find(fake, item->link);
    char etag[32];

    if (!collection)
        return ORRERY_ENOTFOUND;
    *at = find_item(collection, item->id);
    if (!**at)
        return ORRERY_ENOTFOUND;
    print_etag(etag, (**at)->version);
    return if_match && strcmp(if_match, etag) != 0 ? ORRERY_EPRECONDITION : ORRERY_OK;
}

/* The same for a request that is told whether it arrived, and whether its answer is lost. */
static orrery_status reach(struct fake *fake, const struct remote_item *item, const char *if_match,
                           struct fake_item ***at, bool *lost)
{
    return arrives(fake, lost) ? item_at(fake, item, if_match, at) : ORRERY_EIO;
}

static orrery_status fake_item_read(void *self, struct arena *arena, const struct remote_item *item,
                                    struct remote_answer *answer)
{
    struct fake *fake = self;
    struct fake_item **at;
    bool lost;
    orrery_status status = reach(fake, item, NULL, &at, &lost);

    return answered(lost, status == ORRERY_OK ? show(arena, *at, answer) : status);
}

static void set_text(struct fake *fake, struct fake_item *item, struct slice json)
{
    free(item->text);
    item->text = own(json.size + 1);
    memcpy(item->text, json.data, json.size);
    item->text[json.size] = '\0';
    item->size = json.size;
    item->version = ++fake->versions;
}

static orrery_status fake_item_create(void *self, struct arena *arena, const struct remote_item *item,
                                      struct slice json, struct remote_answer *answer)
{
    struct fake *fake = self;
    struct fake_collection *collection;
    struct fake_item **at, *made;
    struct json document;
    orrery_status status;
    char *id;
    bool lost;

    if (!arrives(fake, &lost))
        return ORRERY_EIO;
    collection = fake_find(fake, item->link);
    if (!collection)
        return answered(lost, ORRERY_ENOTFOUND);
    status = parse(arena, json.data, json.size, &document);
    if (status != ORRERY_OK)
        return answered(lost, status);
    if (!(id = memory_text_in(arena, json_string(json_get(document, "id")))))
        return ORRERY_ENOMEM;
    at = find_item(collection, id);
    if (*at)
        return answered(lost, ORRERY_ECONFLICT);
    made = own(sizeof(*made));
    made->id = strdup(id);
    set_text(fake, made, json);
    made->number = made->version;
    *at = made;
    return answered(lost, show(arena, made, answer));
}

static orrery_status fake_item_replace(void *self, struct arena *arena, const struct remote_item *item,
                                       struct slice json, struct remote_answer *answer)
{
    struct fake *fake = self;
    struct fake_item **at;
    bool lost;
    orrery_status status = reach(fake, item, item->if_match, &at, &lost);

    if (status != ORRERY_OK)
        return answered(lost, status);
    set_text(fake, *at, json);
    return answered(lost, show(arena, *at, answer));
}

static orrery_status fake_item_delete(void *self, const struct remote_item *item)
{
    struct fake *fake = self;
    struct fake_item **at, *gone;
    bool lost;
    orrery_status status = reach(fake, item, item->if_match, &at, &lost);

    if (status != ORRERY_OK)
        return answered(lost, status);
    gone = *at;
    *at = gone->next;
    free_item(gone);
    return answered(lost, ORRERY_OK);
}

/* Each of them is a request of its own: a kill, and a client's writes, may come between any two. */
static orrery_status fake_write_many(void *self, struct arena *arena, struct remote_write *writes,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct remote_write *write = &writes[i];
        struct remote_answer answer = { .etag = slice_of("") };

        write->status = write->is_delete ? fake_item_delete(self, &write->item)
                                         : fake_item_create(self, arena, &write->item, write->json, &answer);
        write->etag = answer.etag;
    }
    return ORRERY_OK;
}

struct remote_cursor {
    struct fake *fake;
    char *link;
    bool is_of_collections;
    uint64_t after; /* the number of the last row */
    struct arena arena;
};

static orrery_status fake_list_open(void *self, const char *link, struct remote_cursor **cursor)
{
    struct fake *fake = self;
    const char *end = strrchr(link, '/');
    bool lost;

    *cursor = NULL;
    if (!arrives(fake, &lost))
        return ORRERY_EIO;
    if (strcmp(end, "/colls") != 0 && !fake_find(fake, link))
        return answered(lost, ORRERY_ENOTFOUND);
    if (lost)
        return ORRERY_EIO;
    *cursor = own(sizeof(**cursor));
    **cursor = (struct remote_cursor){ .fake = fake,
                                       .link = strdup(link),
                                       .is_of_collections = strcmp(end, "/colls") == 0 };
    arena_init(&(*cursor)->arena, SCRATCH_BYTES_MAX);
    fake->cursors++;
    return ORRERY_OK;
}

static orrery_status next_collection(struct remote_cursor *cursor, struct json *row)
{
    uint64_t number = 0;
    struct buf text;

    for (struct fake_collection *one = cursor->fake->collections; one; one = one->next)
        if (number++ == cursor->after) {
            cursor->after++;
            buf_init(&text, &cursor->arena);
            buf_printf(&text, "{\"id\":\"%s\"}", strrchr(one->link, '/') + 1);
            if (text.failed)
                return ORRERY_ENOMEM;
            return parse(&cursor->arena, text.data, text.size, row) == ORRERY_OK ? ORRERY_ROW : ORRERY_ENOMEM;
        }
    return ORRERY_DONE;
}

static orrery_status fake_list_next(struct remote_cursor *cursor, struct json *row)
{
    struct fake_collection *collection;
    struct remote_answer answer;
    bool lost;

    if (!arrives(cursor->fake, &lost) || lost)
        return ORRERY_EIO;
    arena_reset(&cursor->arena);
    if (cursor->is_of_collections)
        return next_collection(cursor, row);
    collection = fake_find(cursor->fake, cursor->link);
    if (!collection)
        return ORRERY_ENOTFOUND;
    for (struct fake_item *item = collection->items; item; item = item->next)
        if (item->number > cursor->after) {
            cursor->after = item->number;
            if (show(&cursor->arena, item, &answer) != ORRERY_OK)
                return ORRERY_ENOMEM;
            *row = answer.body;
            return ORRERY_ROW;
        }
    return ORRERY_DONE;
}

static void fake_list_close(struct remote_cursor *cursor)
{
    if (!cursor)
        return;
    cursor->fake->cursors--;
    arena_free(&cursor->arena);
    free(cursor->link);
    free(cursor);
}

static int64_t fake_now_ms(void *self)
{
    return ((struct fake *)self)->now_ms;
}

static void fake_sleep_ms(void *self, int64_t ms)
{
    ((struct fake *)self)->now_ms += ms;
}

static void fake_name(void *self, char *text, size_t size)
{
    snprintf(text, size, "manager-%llu", (unsigned long long)++((struct fake *)self)->names);
}

static void fake_bound(void *self, int64_t ms)
{
    ((struct fake *)self)->bound_ms = ms;
}

struct remote fake_remote(struct fake *fake)
{
    static const struct remote_calls calls = { fake_read,        fake_create,      fake_drop,
                                               fake_item_read,   fake_item_create, fake_item_replace,
                                               fake_item_delete, fake_write_many,  fake_list_open,
                                               fake_list_next,   fake_list_close,  fake_now_ms,
                                               fake_sleep_ms,    fake_name,        fake_bound };

    return (struct remote){ &calls, fake };
}

void fake_revive(struct fake *fake)
{
    fake->is_dead = false;
    fake->fault_at = 0;
    fake->requests = 0;
}

void fake_free(struct fake *fake)
{
    while (fake->collections) {
        struct fake_collection *gone = fake->collections;

        fake->collections = gone->next;
        free_collection(gone);
    }
}
