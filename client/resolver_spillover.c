/* client/resolver_spillover.c - documents go to the last collection until it is full; then another is made. */
#include <pthread.h>
#include <stdlib.h>

#include "resolver_managed.h"
#include "state.h"

struct spillover {
    pthread_mutex_t lock; /* over all that follows the options */
    struct remote remote;
    struct arena arena;
    const char *database_link, *prefix;
    double fill_factor, quota_kb;
    int64_t check_ms;
    orrery_template shape;

    struct arena links_arena; /* of the list below, which is made anew at each look */
    const char **link;        /* by number */
    size_t count, capacity;
    uint64_t next_number;
    int64_t checked_ms; /* when the last one was looked at; INT64_MIN: never */
};

/* Where documents go does not depend on them. */
static orrery_status spillover_key(void *self, orrery_value document, orrery_held_key *key)
{
    orrery_key none = orrery_key_none();

    (void)self, (void)document;
    return orrery_held_key_put(key, &none);
}

static orrery_status add_link(struct spillover *spillover, uint64_t number)
{
    struct buf id;
    char *link;

    if (!memory_grow_in(&spillover->links_arena, &spillover->link, &spillover->capacity, spillover->count + 1,
                        sizeof(*spillover->link)))
        return ORRERY_ENOMEM;
    buf_init(&id, &spillover->links_arena);
    buf_printf(&id, "%s%llu", spillover->prefix, (unsigned long long)number);
    buf_append(&id, "", 1);
    link = id.failed ? NULL : collection_link(&spillover->links_arena, spillover->database_link, id.data);
    if (!link)
        return ORRERY_ENOMEM;
    spillover->link[spillover->count++] = link;
    spillover->next_number = number + 1;
    return ORRERY_OK;
}

struct numbers {
    uint64_t *number;
    size_t count, capacity;
};

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The number behind the prefix; a collection whose rest is no number is somebody else's. */
static bool number_of(const struct spillover *spillover, struct json row, uint64_t *number)
{
    struct json id = json_get(row, "id");
    size_t prefix = strlen(spillover->prefix);

    return json_kind(id) == JSON_STRING && slice_starts_with(json_string(id), spillover->prefix) &&
           slice_to_u64(slice_after(json_string(id), prefix), number) && *number < UINT32_MAX;
}

static orrery_status note(struct numbers *numbers, uint64_t number)
{
    if (!memory_grow(&numbers->number, &numbers->capacity, numbers->count + 1, sizeof(number)))
        return ORRERY_ENOMEM;
    numbers->number[numbers->count++] = number;
    return ORRERY_OK;
}

static orrery_status list_numbers(struct spillover *spillover, struct numbers *numbers)
{
    const struct remote_calls *calls = spillover->remote.calls;
    struct remote_cursor *cursor = NULL;
    char feed[512 + sizeof("/colls")];
    struct json row;
    uint64_t number;
    orrery_status status;

    snprintf(feed, sizeof(feed), "%s/colls", spillover->database_link);
    status = calls->list_open(spillover->remote.self, feed, &cursor);
    while (status == ORRERY_OK && (status = calls->list_next(cursor, &row)) == ORRERY_ROW) {
        status = ORRERY_OK;
        if (number_of(spillover, row, &number))
            status = note(numbers, number);
    }
    calls->list_close(cursor);
    return status == ORRERY_DONE ? ORRERY_OK : status;
}

/* What is there now, in the order of the numbers. */
static orrery_status read_links(struct spillover *spillover)
{
    struct numbers numbers = { 0 };
    orrery_status status = list_numbers(spillover, &numbers);

    if (status == ORRERY_OK && numbers.count)
        qsort(numbers.number, numbers.count, sizeof(*numbers.number), by_number);
    if (status == ORRERY_OK) {
        arena_reset(&spillover->links_arena);
        spillover->link = NULL;
        spillover->count = spillover->capacity = 0;
    }
    for (size_t i = 0; i < numbers.count && status == ORRERY_OK; i++)
        status = add_link(spillover, numbers.number[i]);
    allocator_free(numbers.number);
    return status;
}

/* A figure of "documentsSize=3;collectionSize=10;"; negative when it is not there. */
static double figure(struct slice list, const char *name)
{
    size_t size = strlen(name);

    while (list.size > 0) {
        const char *end = memchr(list.data, ';', list.size);
        struct slice part = slice_trim(slice_make(list.data, end ? (size_t)(end - list.data) : list.size));
        uint64_t number;

        if (part.size > size && memcmp(part.data, name, size) == 0 && part.data[size] == '=' &&
            slice_to_u64(slice_after(part, size + 1), &number))
            return (double)number;
        list = end ? slice_after(list, (size_t)(end - list.data) + 1) : slice_make(list.data, 0);
    }
    return -1;
}

static bool is_full(const struct spillover *spillover, const struct remote_answer *answer)
{
    static const char *const names[] = { "collectionSize", "documentsSize" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        double used = figure(answer->usage, names[i]), quota = figure(answer->quota, names[i]);

        if (quota <= 0 ||
            (spillover->quota_kb > 0 && spillover->quota_kb < quota)) /* without a limit it says -1 */
            quota = spillover->quota_kb;
        if (used >= 0 && quota > 0)
            return used >= quota * spillover->fill_factor;
    }
    return false;
}

static orrery_status make_next(struct spillover *spillover)
{
    char id[512];
    orrery_status status;

    snprintf(id, sizeof(id), "%s%llu", spillover->prefix, (unsigned long long)spillover->next_number);
    status = collection_make(&spillover->remote, spillover->database_link, id, &spillover->shape);
    return status == ORRERY_OK ? add_link(spillover, spillover->next_number) : status;
}

/* At most once in each interval: is the last one full, and is it still the last? */
static orrery_status check(struct spillover *spillover)
{
    const struct remote_calls *calls = spillover->remote.calls;
    int64_t now_ms = calls->now_ms(spillover->remote.self);
    struct remote_answer answer;
    struct arena arena;
    orrery_status status;
    bool full = false;

    if (spillover->count && spillover->checked_ms != INT64_MIN &&
        now_ms - spillover->checked_ms < spillover->check_ms)
        return ORRERY_OK;
    status = read_links(spillover); /* another client may have gone on to the next */
    if (status == ORRERY_OK && spillover->count) {
        arena_init(&arena, SCRATCH_BYTES_MAX);
        status = calls->read(spillover->remote.self, &arena, spillover->link[spillover->count - 1], &answer);
        full = status == ORRERY_OK && is_full(spillover, &answer);
        arena_free(&arena);
    }
    if (status == ORRERY_OK && (full || spillover->count == 0))
        status = make_next(spillover);
    if (status == ORRERY_OK)
        spillover->checked_ms = now_ms;
    return status;
}

static orrery_status spillover_create(void *self, const orrery_key *key, orrery_links *links)
{
    struct spillover *spillover = self;
    orrery_status status;

    (void)key;
    pthread_mutex_lock(&spillover->lock);
    status = check(spillover);
    if (status == ORRERY_OK)
        status = orrery_links_add(links, spillover->link[spillover->count - 1]);
    pthread_mutex_unlock(&spillover->lock);
    return status;
}

/* Looks again at what is there when that is due, and makes nothing. */
static orrery_status spillover_read(void *self, const orrery_key *key, orrery_links *links)
{
    struct spillover *spillover = self;
    orrery_status status = ORRERY_OK;
    int64_t now_ms = spillover->remote.calls->now_ms(spillover->remote.self);

    (void)key;
    pthread_mutex_lock(&spillover->lock);
    if (spillover->checked_ms == INT64_MIN || now_ms - spillover->checked_ms >= spillover->check_ms)
        status = read_links(spillover);
    for (size_t i = 0; i < spillover->count && status == ORRERY_OK; i++)
        status = orrery_links_add(links, spillover->link[i]);
    pthread_mutex_unlock(&spillover->lock);
    return status;
}

/* What it is told, and not what it found: whoever loads it looks again. */
static orrery_status spillover_save(void *self, char **json)
{
    struct spillover *spillover = self;
    struct state_writer writer;

    state_begin(&writer, "Spillover");
    state_text(&writer, "DatabaseLink", slice_of(spillover->database_link));
    state_text(&writer, "Prefix", slice_of(spillover->prefix));
    state_name(&writer, "FillFactor");
    json_print_double(&writer.out, spillover->fill_factor);
    state_number(&writer, "CheckSeconds", spillover->check_ms / 1000);
    state_number(&writer, "QuotaInKb", (int64_t)spillover->quota_kb);
    state_shape(&writer, "Collection", &spillover->shape);
    return state_end(&writer, json);
}

static void spillover_destroy(void *self)
{
    struct spillover *spillover = self;

    pthread_mutex_destroy(&spillover->lock);
    arena_free(&spillover->links_arena);
    arena_free(&spillover->arena);
    allocator_free(spillover);
}

static const orrery_resolver_vtbl spillover_calls = { sizeof(spillover_calls), spillover_key,
                                                      spillover_create,        spillover_read,
                                                      spillover_save,          spillover_destroy };

static orrery_status fill(struct spillover *spillover, const char *database_link,
                          const orrery_spillover_options *options)
{
    const char *prefix = options->prefix ? options->prefix : "Collection.";

    spillover->fill_factor = options->fill_factor > 0 ? options->fill_factor : 0.90;
    spillover->check_ms = options->check_seconds ? options->check_seconds * INT64_C(1000) : 3600 * 1000;
    spillover->quota_kb = (double)options->quota_kb;
    spillover->checked_ms = INT64_MIN;
    spillover->database_link = memory_text_in(&spillover->arena, link_trim(database_link));
    spillover->prefix = memory_text_in(&spillover->arena, slice_of(prefix));
    if (!spillover->database_link || !spillover->prefix)
        return ORRERY_ENOMEM;
    return template_copy(&spillover->arena, options->collection, &spillover->shape);
}

orrery_status spillover_with(struct remote remote, const char *database_link,
                             const orrery_spillover_options *options, orrery_resolver **resolver)
{
    orrery_spillover_options known = { .size = 0 };
    struct spillover *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (options && !struct_take(&known, sizeof(known), options))
        return ORRERY_EINVAL;
    if (!link_is_database(database_link) || strlen(database_link) > 500 ||
        (known.prefix && strlen(known.prefix) > 255))
        return ORRERY_ELINK;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    pthread_mutex_init(&made->lock, NULL);
    arena_init(&made->arena, RESOLVER_BYTES_MAX);
    arena_init(&made->links_arena, RESOLVER_BYTES_MAX);
    made->remote = remote;
    status = fill(made, database_link, &known);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&spillover_calls, made, resolver);
    if (status != ORRERY_OK)
        spillover_destroy(made);
    return status;
}

orrery_status orrery_resolver_spillover(orrery_client *client, const char *database_link,
                                        const orrery_spillover_options *options, orrery_resolver **resolver)
{
    if (resolver)
        *resolver = NULL;
    return client ? spillover_with(remote_of_client(client), database_link, options, resolver)
                  : ORRERY_EINVAL;
}
