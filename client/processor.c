/* client/processor.c - a change feed processor: takes its share of the leases, reads their feeds, hands changes on. */
#include "processor.h"

#include <stdlib.h>

#include "base/encode.h"
#include "resolver.h"

enum {
    POLL_MS_DEFAULT = 5000, /* the SDKs' own figures */
    ACQUIRE_MS_DEFAULT = 13000,
    EXPIRES_MS_DEFAULT = 60000,
    RENEW_MS_DEFAULT = 17000,
    LOCKED_WAIT_MS = 1000,
    PREFIX_BYTES_MAX = 900,
};

/* ---- opening */

/* The host of an endpoint, without its port. */
static struct slice host_of(const char *endpoint)
{
    const char *begin = strstr(endpoint, "//"), *host = begin ? begin + 2 : endpoint;
    size_t size = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");

    return slice_make(host, size);
}

/* "name" + "host" + "_" + database + "_" + container, as the SDKs call their leases: by the rids of both. */
static orrery_status make_prefix(struct orrery_processor *processor, const char *name)
{
    orrery_response *response = NULL;
    orrery_status status = orrery_read(processor->client, processor->link, NULL, &response);
    struct slice host = host_of(processor->client->endpoint);
    const char *self, *end;
    char prefix[PREFIX_BYTES_MAX];
    int size = 0;

    if (status != ORRERY_OK)
        return status;
    self = orrery_value_text(orrery_value_member(orrery_response_json(response), "_self"), NULL);
    end = strncmp(self, "dbs/", 4) == 0 ? strstr(self, "/colls/") : NULL;
    if (end)
        size = snprintf(prefix, sizeof(prefix), "%s%.*s_%.*s_%.*s", name, SLICE_ARGS(host),
                        (int)(end - self - 4), self + 4, (int)strcspn(end + 7, "/"), end + 7);
    orrery_response_free(response);
    if (!end || size >= (int)sizeof(prefix) ||
        strpbrk(prefix, "/\\#?\"")) /* a rid may have a slash of base64 */
        return client_fail(processor->client, ORRERY_EUNSUPPORTED,
                           "leases cannot be named by this container's rid");
    processor->prefix = memory_text(slice_of(prefix));
    return processor->prefix ? ORRERY_OK : client_no_memory(processor->client);
}

static int or_else(int given, int otherwise)
{
    return given > 0 ? given : otherwise;
}

static orrery_status take_options(struct orrery_processor *processor, const orrery_processor_options *options)
{
    orrery_processor_options *kept = &processor->options;

    if (!options || !struct_take(kept, sizeof(*kept), options))
        return ORRERY_EINVAL;
    if (!kept->name || !kept->instance || !kept->changes || !link_is_collection(kept->lease_link))
        return ORRERY_EINVAL;
    kept->poll_ms = or_else(kept->poll_ms, POLL_MS_DEFAULT);
    kept->acquire_ms = or_else(kept->acquire_ms, ACQUIRE_MS_DEFAULT);
    kept->expires_ms = or_else(kept->expires_ms, EXPIRES_MS_DEFAULT);
    kept->renew_ms = or_else(kept->renew_ms, RENEW_MS_DEFAULT);
    if (kept->renew_ms >= kept->expires_ms)
        return ORRERY_EINVAL;
    return ORRERY_OK;
}

static orrery_status fill(struct orrery_processor *processor, const char *link)
{
    processor->link = memory_text(link_trim(link));
    processor->lease_link = memory_text(link_trim(processor->options.lease_link));
    processor->instance = memory_text(slice_of(processor->options.instance));
    if (!processor->link || !processor->lease_link || !processor->instance)
        return client_no_memory(processor->client);
    return make_prefix(processor, processor->options.name);
}

orrery_status orrery_processor_open(orrery_client *client, const char *container_link,
                                    const orrery_processor_options *options, orrery_processor **processor)
{
    struct orrery_processor *made;
    orrery_status status;

    if (!client || !processor)
        return ORRERY_EINVAL;
    *processor = NULL;
    if (!link_is_collection(container_link))
        return client_refuse(client, ORRERY_EINVAL, "a container has changes, and nothing else has");
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return client_refuse(client, ORRERY_ENOMEM, "%s", orrery_status_text(ORRERY_ENOMEM));
    made->client = client;
    status = take_options(made, options);
    if (status != ORRERY_OK)
        client_refuse(
            client, status,
            "a processor has a name, an instance, leases and a function, and renews before leases expire");
    else
        status = fill(made, container_link);
    if (status == ORRERY_OK)
        *processor = made;
    else
        orrery_processor_close(made);
    return status;
}

/* Leases that cannot be given back expire. */
void orrery_processor_close(orrery_processor *processor)
{
    if (!processor)
        return;
    for (size_t i = 0; i < processor->owned_count; i++) {
        lease_give_back(processor, &processor->owned[i]);
        lease_free(&processor->owned[i]);
    }
    allocator_free(processor->owned);
    allocator_free(processor->link);
    allocator_free(processor->lease_link);
    allocator_free(processor->prefix);
    allocator_free(processor->instance);
    allocator_free(processor);
}

size_t orrery_processor_leases(const orrery_processor *processor)
{
    return processor ? processor->owned_count : 0;
}

/* ---- shares */

static bool is_mine(const struct orrery_processor *processor, const struct lease *lease)
{
    return lease->owner && strcmp(lease->owner, processor->instance) == 0;
}

static size_t count_of(const struct orrery_processor *processor, const struct leases *all, const char *owner)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        count += !lease_has_expired(processor, &all->lease[i]) && strcmp(all->lease[i].owner, owner) == 0;
    return count;
}

/* Whoever has a lease that has not expired, and this one. */
static size_t count_workers(const struct orrery_processor *processor, const struct leases *all)
{
    size_t count = 1;

    for (size_t i = 0; i < all->count; i++) {
        const struct lease *lease = &all->lease[i];
        bool is_first = !lease_has_expired(processor, lease) && !is_mine(processor, lease);

        for (size_t j = 0; j < i && is_first; j++)
            is_first = lease_has_expired(processor, &all->lease[j]) ||
                       strcmp(all->lease[j].owner, lease->owner) != 0;
        count += is_first;
    }
    return count;
}

static bool is_owned(const struct orrery_processor *processor, const char *id)
{
    for (size_t i = 0; i < processor->owned_count; i++)
        if (strcmp(processor->owned[i].id, id) == 0)
            return true;
    return false;
}

/* Takes the lease's memory if it gets it. That another was faster is no failure. */
static orrery_status take(struct orrery_processor *processor, struct lease *lease)
{
    orrery_status status;

    if (!memory_grow(&processor->owned, &processor->owned_capacity, processor->owned_count + 1,
                     sizeof(*lease)))
        return client_no_memory(processor->client);
    status = lease_take(processor, lease);
    if (status != ORRERY_OK)
        return status == ORRERY_EBUSY ? ORRERY_OK : status;
    processor->owned[processor->owned_count++] = *lease;
    *lease = (struct lease){ .id = NULL };
    return ORRERY_OK;
}

/* One lease of whoever has the most, if that is more than so many. */
static struct lease *find_to_steal(const struct orrery_processor *processor, struct leases *all,
                                   size_t enough)
{
    struct lease *found = NULL;
    size_t most = enough;

    for (size_t i = 0; i < all->count; i++) {
        struct lease *lease = &all->lease[i];
        size_t count = !lease->id || lease_has_expired(processor, lease) || is_mine(processor, lease)
                           ? 0
                           : count_of(processor, all, lease->owner);

        if (count > most) {
            most = count;
            found = lease;
        }
    }
    return found;
}

/*
 * Those that nobody has, up to a share of them; where there is none of these, one of somebody who has more than a share, or as
 * much as one while this one lacks two: the same rules as the SDKs', with whom leases are shared.
 */
static orrery_status take_share(struct orrery_processor *processor, struct leases *all)
{
    size_t workers = count_workers(processor, all), share = (all->count + workers - 1) / workers;
    orrery_status status = ORRERY_OK;
    bool took = false;
    struct lease *other;

    for (size_t i = 0; i < all->count && processor->owned_count < share && status == ORRERY_OK; i++) {
        struct lease *lease = &all->lease[i];
        bool is_free = lease_has_expired(processor, lease) || is_mine(processor, lease);

        if (!is_free || is_owned(processor, lease->id))
            continue;
        status = take(processor, lease);
        took = true;
    }
    if (status != ORRERY_OK || took || processor->owned_count >= share)
        return status;
    other = find_to_steal(processor, all, share - (share - processor->owned_count > 1));
    return other ? take(processor, other) : ORRERY_OK;
}

static orrery_status balance(struct orrery_processor *processor)
{
    struct leases all = { .count = 0 };
    orrery_status status = leases_make(processor);
    bool is_locked = status == ORRERY_WAIT;

    if (status == ORRERY_OK)
        status = leases_read(processor, &all);
    if (status == ORRERY_OK)
        status = take_share(processor, &all);
    leases_free(&all);
    if (status == ORRERY_OK || is_locked)
        processor->balance_due_ms = env_monotonic_ms(processor->client->env) +
                                    (is_locked ? LOCKED_WAIT_MS : processor->options.acquire_ms);
    return is_locked ? ORRERY_OK : status;
}

/* ---- feeds */

static void lose(struct orrery_processor *processor, size_t index)
{
    lease_free(&processor->owned[index]);
    processor->owned[index] = processor->owned[--processor->owned_count];
}

static void start_headers(const struct orrery_processor *processor, const struct lease *lease,
                          struct call *call)
{
    char date[32];

    if (lease->continuation) {
        call_header(call, "If-None-Match", lease->continuation);
    } else if (processor->options.start == ORRERY_FROM_NOW) {
        call_header(call, "If-None-Match", "*");
    } else if (processor->options.start == ORRERY_FROM_TIME) {
        http_date_format(processor->options.start_unix_seconds * 1000, date);
        call_header(call, "If-Modified-Since", date);
    }
}

static void feed_headers(const struct orrery_processor *processor, const struct lease *lease,
                         const char *range, struct call *call)
{
    bool all = processor->options.all_versions;

    call->follows_ranges = true;
    call_header(call, "A-IM", all ? "Full-Fidelity Feed" : "Incremental Feed");
    call_header(call, "x-ms-cosmos-changefeed-wire-format-version", all ? "2021-09-15" : NULL);
    if (processor->options.page_items > 0)
        call_header_int(call, "x-ms-max-item-count", processor->options.page_items);
    call_header(call, "x-ms-documentdb-partitionkeyrangeid", range);
    if (lease->is_part) {
        call_header(call, "x-ms-start-epk", lease->min);
        call_header(call, "x-ms-end-epk", lease->max);
        call_header(call, "x-ms-read-key-type", "EffectivePartitionKeyRange");
    }
    start_headers(processor, lease, call);
}

/* ORRERY_EGONE: the range is divided, or was put together with others. */
static orrery_status read_page(struct orrery_processor *processor, const struct lease *lease,
                               orrery_response **response)
{
    struct call *call;
    char range[64];
    orrery_status status = lease_range(processor, lease, range);

    if (status != ORRERY_OK || !*range)
        return status == ORRERY_OK ? ORRERY_EGONE : status;
    call = call_new(processor->client, METHOD_GET, NULL);
    if (!call)
        return ORRERY_ENOMEM;
    feed_headers(processor, lease, range, call);
    status = call_child(call, processor->link, "docs", NULL);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    return call_run(call, response);
}

/* A failure of the caller's function is told as it is, and the changes come again. */
static orrery_status hand_on(struct orrery_processor *processor, struct lease *lease,
                             orrery_response *response)
{
    orrery_value changes = orrery_value_member(orrery_response_json(response), "Documents");
    const orrery_processor_options *options = &processor->options;
    orrery_status status = ORRERY_OK;

    if (orrery_value_type(changes) != ORRERY_ARRAY)
        return client_fail(processor->client, ORRERY_EJSON, "a page of changes makes no sense");
    if (orrery_value_count(changes) > 0)
        status = options->changes(options->context, lease->token, changes);
    if (orrery_failed(status))
        return client_refuse(processor->client, status, "the function that takes changes: %s",
                             orrery_status_text(status));
    return ORRERY_OK;
}

/* Whether there may be more at once. */
static orrery_status poll_lease(struct orrery_processor *processor, struct lease *lease, bool *more)
{
    orrery_response *response = NULL;
    orrery_status status = read_page(processor, lease, &response);
    const char *next = response ? orrery_response_etag(response) : NULL;

    *more = status == ORRERY_OK;
    if (status == ORRERY_OK)
        status = hand_on(processor, lease, response);
    if (status == ORRERY_OK && next)
        status = lease_move(processor, lease, next);
    else if (status == ORRERY_NOT_MODIFIED)
        status = !lease->continuation && next ? lease_move(processor, lease, next) : ORRERY_OK;
    orrery_response_free(response);
    return status;
}

/* One look at a lease: renewed if need be, its feed read if it is due. ORRERY_EBUSY: it was lost, and is no more there. */
static orrery_status turn_lease(struct orrery_processor *processor, struct lease *lease)
{
    struct env *env = processor->client->env;
    orrery_status status = ORRERY_OK;
    bool more = false;

    if (env_now_ms(env) - lease->renewed_ms >= processor->options.renew_ms)
        status = lease_renew(processor, lease);
    if (status != ORRERY_OK || env_monotonic_ms(env) < lease->poll_due_ms)
        return status;
    status = poll_lease(processor, lease, &more);
    lease->poll_due_ms = more ? 0 : env_monotonic_ms(env) + processor->options.poll_ms;
    if (status != ORRERY_EGONE)
        return status;
    status = lease_divide(processor, lease);
    processor->balance_due_ms = 0; /* somebody must take the new ones */
    return status == ORRERY_OK ? ORRERY_EBUSY : status;
}

static orrery_status turn(struct orrery_processor *processor)
{
    orrery_status status = ORRERY_OK;

    if (env_monotonic_ms(processor->client->env) >= processor->balance_due_ms)
        status = balance(processor);
    for (size_t i = 0; i < processor->owned_count && status == ORRERY_OK;) {
        status = turn_lease(processor, &processor->owned[i]);
        if (status == ORRERY_EBUSY) {
            lose(processor, i);
            status = ORRERY_OK;
        } else {
            i++;
        }
    }
    return status;
}

/* When there is something to do again. */
static int64_t due_ms(const struct orrery_processor *processor)
{
    struct env *env = processor->client->env;
    int64_t due = processor->balance_due_ms, now_ms = env_now_ms(env), ticks_ms = env_monotonic_ms(env);

    for (size_t i = 0; i < processor->owned_count; i++) {
        const struct lease *lease = &processor->owned[i];
        int64_t renew_ms = ticks_ms + lease->renewed_ms + processor->options.renew_ms - now_ms;

        due = lease->poll_due_ms < due ? lease->poll_due_ms : due;
        due = renew_ms < due ? renew_ms : due;
    }
    return due;
}

orrery_status orrery_processor_run(orrery_processor *processor, int timeout_ms)
{
    struct env *env;
    int64_t until_ms;
    orrery_status status;

    if (!processor)
        return ORRERY_EINVAL;
    client_begin(processor->client);
    env = processor->client->env;
    until_ms = timeout_ms < 0 ? INT64_MAX : env_monotonic_ms(env) + timeout_ms;
    for (;;) {
        int64_t now_ms, wait_ms;

        status = turn(processor);
        now_ms = env_monotonic_ms(env);
        if (status != ORRERY_OK || now_ms >= until_ms)
            return status;
        wait_ms = due_ms(processor) < until_ms ? due_ms(processor) - now_ms : until_ms - now_ms;
        if (wait_ms > 0)
            poll(NULL, 0, (int)(wait_ms < 60000 ? wait_ms : 60000));
    }
}
