/* client/processor_lease.c - leases as documents, in the form of the .NET and Java SDKs'. */
#include <stdlib.h>

#include "processor.h"
#include "resolver.h"

enum { ID_BYTES_MAX = 1024, LOCK_SECONDS = 60 };

void lease_free(struct lease *lease)
{
    allocator_free(lease->id);
    allocator_free(lease->token);
    allocator_free(lease->min);
    allocator_free(lease->max);
    allocator_free(lease->owner);
    allocator_free(lease->continuation);
    allocator_free(lease->etag);
    allocator_free(lease->text);
}

void leases_free(struct leases *leases)
{
    for (size_t i = 0; i < leases->count; i++)
        lease_free(&leases->lease[i]);
    allocator_free(leases->lease);
}

/* ---- reading */

static char *text_of(orrery_value object, const char *name, bool *good)
{
    orrery_value value = orrery_value_member(object, name);
    size_t size = 0;
    const char *text = orrery_value_text(value, &size);
    char *copy = orrery_value_type(value) == ORRERY_STRING ? memory_text(slice_make(text, size)) : NULL;

    *good = *good && (orrery_value_type(value) != ORRERY_STRING || copy);
    return copy;
}

static int64_t time_of(orrery_value document)
{
    orrery_value value = orrery_value_member(document, "timestamp");
    int64_t time_ms = 0;

    if (orrery_value_type(value) == ORRERY_STRING &&
        time_parse(slice_of(orrery_value_text(value, NULL)), &time_ms))
        return time_ms;
    return orrery_value_int(orrery_value_member(document, "_ts")) * 1000;
}

/* ORRERY_ENOMEM, or a lease, which the caller frees. */
static orrery_status lease_read(orrery_value document, struct lease *lease)
{
    orrery_value range = orrery_value_member(orrery_value_member(document, "FeedRange"), "Range");
    bool good = true;

    *lease = (struct lease){ .renewed_ms = time_of(document) };
    lease->id = text_of(document, "id", &good);
    lease->token = text_of(document, "LeaseToken", &good);
    lease->min = text_of(range, "min", &good);
    lease->max = text_of(range, "max", &good);
    lease->owner = text_of(document, "Owner", &good);
    lease->continuation = text_of(document, "ContinuationToken", &good);
    lease->etag = text_of(document, "_etag", &good);
    if (!lease->token) /* of the first SDKs that had leases */
        lease->token = text_of(document, "PartitionId", &good);
    lease->is_part = lease->token && strchr(lease->token, '-');
    return good && orrery_value_print(document, &lease->text, NULL) == ORRERY_OK ? ORRERY_OK : ORRERY_ENOMEM;
}

static orrery_status add_row(struct leases *leases, orrery_value row)
{
    struct lease *lease;
    orrery_status status;

    if (!memory_grow(&leases->lease, &leases->capacity, leases->count + 1, sizeof(*lease)))
        return ORRERY_ENOMEM;
    lease = &leases->lease[leases->count++];
    status = lease_read(row, lease);
    if (status == ORRERY_OK && (!lease->id || !lease->token || !lease->etag)) { /* none of ours */
        lease_free(lease);
        leases->count--;
    }
    return status;
}

orrery_status leases_read(struct orrery_processor *processor, struct leases *leases)
{
    char prefix[ID_BYTES_MAX + 8];
    orrery_parameter parameter = { "@prefix", prefix };
    orrery_query *query = NULL;
    orrery_status status;

    *leases = (struct leases){ .count = 0 };
    snprintf(prefix, sizeof(prefix), "\"%s..\"", processor->prefix);
    status = orrery_query_open(processor->client, processor->lease_link,
                               "SELECT * FROM c WHERE STARTSWITH(c.id, @prefix)", &parameter, 1, NULL, NULL,
                               &query);
    while (status == ORRERY_OK && (status = orrery_query_step(query)) == ORRERY_ROW)
        status = add_row(leases, orrery_query_value(query));
    orrery_query_close(query);
    return status == ORRERY_DONE     ? ORRERY_OK
           : status == ORRERY_ENOMEM ? client_no_memory(processor->client)
                                     : status;
}

bool lease_has_expired(const struct orrery_processor *processor, const struct lease *lease)
{
    return !lease->owner || !*lease->owner ||
           lease->renewed_ms + processor->options.expires_ms < env_now_ms(processor->client->env);
}

/* ---- making */

static void write_time(orrery_writer *writer, struct env *env)
{
    char text[TIME_TEXT_MAX];
    size_t size = time_print(env_now_ms(env), text);

    orrery_write_name(writer, "timestamp");
    orrery_write_string(writer, text, size);
}

static void write_text(orrery_writer *writer, const char *name, const char *text)
{
    orrery_write_name(writer, name);
    if (text)
        orrery_write_string(writer, text, ORRERY_TEXT);
    else
        orrery_write_null(writer);
}

static orrery_status create(struct orrery_processor *processor, orrery_writer *writer)
{
    size_t size = 0;
    const char *text = orrery_writer_text(writer, &size);

    if (!text)
        return client_no_memory(processor->client);
    return orrery_item_create(processor->client, processor->lease_link, text, size, NULL, NULL, NULL);
}

/* What a lease is made of. */
struct part {
    const char *token;
    struct slice min, max;
    bool is_part;
    const char *continuation;
};

static void write_lease(orrery_writer *writer, struct orrery_processor *processor, const struct part *part)
{
    char id[ID_BYTES_MAX];

    snprintf(id, sizeof(id), "%s..%s", processor->prefix, part->token);
    orrery_write_object(writer);
    write_text(writer, "id", id);
    orrery_write_name(writer, "version");
    orrery_write_int(writer, part->is_part);
    write_text(writer, "LeaseToken", part->token);
    orrery_write_name(writer, "FeedRange");
    orrery_write_object(writer);
    orrery_write_name(writer, "Range");
    orrery_write_object(writer);
    orrery_write_name(writer, "min");
    orrery_write_string(writer, part->min.data, part->min.size);
    orrery_write_name(writer, "max");
    orrery_write_string(writer, part->max.data, part->max.size);
    orrery_write_end(writer);
    orrery_write_end(writer);
    write_text(writer, "Owner", NULL);
    write_text(writer, "ContinuationToken", part->continuation);
    orrery_write_name(writer, "properties");
    orrery_write_object(writer);
    orrery_write_end(writer);
    write_time(writer, processor->client->env);
    write_text(writer, "Mode", processor->options.all_versions ? "Full-Fidelity Feed" : "Incremental Feed");
    orrery_write_end(writer);
}

/* One that is there is left as it is: it knows where its feed goes on. */
static orrery_status make(struct orrery_processor *processor, const struct part *part)
{
    orrery_writer *writer = NULL;
    orrery_status status = orrery_writer_new(&writer);

    if (status == ORRERY_OK) {
        write_lease(writer, processor, part);
        status = create(processor, writer);
    }
    orrery_writer_free(writer);
    return status == ORRERY_ECONFLICT ? ORRERY_OK : status;
}

/* ---- ranges of the container */

/* `*answer` is the caller's. */
static orrery_status read_ranges(struct orrery_processor *processor, orrery_response **answer,
                                 orrery_value *list)
{
    struct call *call = call_new(processor->client, METHOD_GET, NULL);
    orrery_status status;

    *answer = NULL;
    if (!call)
        return ORRERY_ENOMEM;
    call_header(call, "x-ms-max-item-count", "-1");
    status = call_child(call, processor->link, "pkranges", NULL);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    status = call_run(call, answer);
    if (status != ORRERY_OK)
        return status;
    *list = orrery_value_member(orrery_response_json(*answer), "PartitionKeyRanges");
    if (orrery_value_type(*list) == ORRERY_ARRAY)
        return ORRERY_OK;
    return client_fail(processor->client, ORRERY_EJSON, "the collection's ranges make no sense");
}

static struct slice member(orrery_value object, const char *name)
{
    size_t size = 0;
    const char *text = orrery_value_text(orrery_value_member(object, name), &size);

    return slice_make(text, size);
}

static bool is_child(orrery_value range, const char *parent)
{
    orrery_value parents = orrery_value_member(range, "parents");

    for (size_t i = 0; i < orrery_value_count(parents); i++)
        if (orrery_value_equals(orrery_value_element(parents, i), parent))
            return true;
    return false;
}

/* A range that others say they came from is not one of the container's any more. */
static bool is_gone(orrery_value list, orrery_value range)
{
    const char *id = orrery_value_text(orrery_value_member(range, "id"), NULL);

    for (size_t i = 0; i < orrery_value_count(list); i++)
        if (is_child(orrery_value_element(list, i), id))
            return true;
    return false;
}

/* The part of a range that is the lease's. False: nothing of it is. */
static bool find_part(const struct lease *lease, orrery_value range, struct part *part)
{
    struct slice min = member(range, "minInclusive"), max = member(range, "maxExclusive");

    part->min = min;
    part->max = max;
    if (!lease->min || !lease->max)
        return is_child(range, lease->token);
    if (slice_compare(slice_of(lease->min), min) > 0)
        part->min = slice_of(lease->min);
    if (slice_compare(slice_of(lease->max), max) < 0)
        part->max = slice_of(lease->max);
    part->is_part = !slice_equal(part->min, min) || !slice_equal(part->max, max);
    return slice_compare(part->min, part->max) < 0;
}

static orrery_status make_child(struct orrery_processor *processor, const struct lease *lease,
                                orrery_value range)
{
    struct part part = { .continuation = lease->continuation };
    char token[ID_BYTES_MAX];

    if (!find_part(lease, range, &part))
        return ORRERY_OK;
    if (part.is_part)
        snprintf(token, sizeof(token), "%.*s-%.*s", SLICE_ARGS(part.min), SLICE_ARGS(part.max));
    else
        snprintf(token, sizeof(token), "%.*s", SLICE_ARGS(member(range, "id")));
    part.token = token;
    return strcmp(token, lease->token) == 0
               ? client_fail(processor->client, ORRERY_EGONE, "range %s is gone, and still told of", token)
               : make(processor, &part);
}

static orrery_status drop(struct orrery_processor *processor, const char *id)
{
    orrery_key key = orrery_key_text(id);
    orrery_status status = orrery_item_delete(processor->client, processor->lease_link, id, &key, NULL, NULL);

    return status == ORRERY_ENOTFOUND ? ORRERY_OK : status;
}

orrery_status lease_divide(struct orrery_processor *processor, const struct lease *lease)
{
    orrery_response *answer = NULL;
    orrery_value list = { NULL };
    orrery_status status = read_ranges(processor, &answer, &list);

    for (size_t i = 0; i < orrery_value_count(list) && status == ORRERY_OK; i++)
        if (!is_gone(list, orrery_value_element(list, i)))
            status = make_child(processor, lease, orrery_value_element(list, i));
    orrery_response_free(answer);
    return status == ORRERY_OK ? drop(processor, lease->id) : status;
}

orrery_status lease_range(struct orrery_processor *processor, const struct lease *lease, char range[64])
{
    orrery_response *answer = NULL;
    orrery_value list = { NULL };
    orrery_status status;

    snprintf(range, 64, "%s", lease->is_part ? "" : lease->token);
    if (!lease->is_part || !lease->min || !lease->max)
        return ORRERY_OK;
    status = read_ranges(processor, &answer, &list);
    for (size_t i = 0; i < orrery_value_count(list) && status == ORRERY_OK; i++) {
        orrery_value one = orrery_value_element(list, i);

        if (!is_gone(list, one) && slice_compare(member(one, "minInclusive"), slice_of(lease->min)) <= 0 &&
            slice_compare(slice_of(lease->max), member(one, "maxExclusive")) <= 0)
            snprintf(range, 64, "%.*s", SLICE_ARGS(member(one, "id")));
    }
    orrery_response_free(answer);
    return status;
}

/* ---- the first processor */

static orrery_status find(struct orrery_processor *processor, const char *suffix, orrery_response **response)
{
    char id[ID_BYTES_MAX];
    orrery_key key;

    snprintf(id, sizeof(id), "%s%s", processor->prefix, suffix);
    key = orrery_key_text(id);
    return orrery_item_read(processor->client, processor->lease_link, id, &key, NULL, response);
}

/* A document that says something by being there; with seconds, not for longer than that. */
static orrery_status mark(struct orrery_processor *processor, const char *suffix, int seconds)
{
    char json[ID_BYTES_MAX + 64], ttl[32] = "";

    if (seconds)
        snprintf(ttl, sizeof(ttl), ",\"ttl\":%d", seconds);
    snprintf(json, sizeof(json), "{\"id\":\"%s%s\"%s}", processor->prefix, suffix, ttl);
    return orrery_item_create(processor->client, processor->lease_link, json, ORRERY_TEXT, NULL, NULL, NULL);
}

static orrery_status make_all(struct orrery_processor *processor)
{
    orrery_response *answer = NULL;
    orrery_value list = { NULL };
    orrery_status status = read_ranges(processor, &answer, &list);

    for (size_t i = 0; i < orrery_value_count(list) && status == ORRERY_OK; i++) {
        orrery_value range = orrery_value_element(list, i);
        struct part part = { .token = orrery_value_text(orrery_value_member(range, "id"), NULL),
                             .min = member(range, "minInclusive"),
                             .max = member(range, "maxExclusive") };

        if (!is_gone(list, range))
            status = make(processor, &part);
    }
    orrery_response_free(answer);
    return status;
}

/* Whoever made the lock was ended before it made all leases. */
static bool lock_is_old(struct orrery_processor *processor)
{
    orrery_response *response = NULL;
    orrery_status status = find(processor, ".lock", &response);
    int64_t made = orrery_value_int(orrery_value_member(orrery_response_json(response), "_ts"));

    orrery_response_free(response);
    return status == ORRERY_OK && (made + LOCK_SECONDS) * 1000 < env_now_ms(processor->client->env);
}

static orrery_status unlock(struct orrery_processor *processor)
{
    char id[ID_BYTES_MAX];

    snprintf(id, sizeof(id), "%s.lock", processor->prefix);
    return drop(processor, id);
}

orrery_status leases_make(struct orrery_processor *processor)
{
    orrery_status status = find(processor, ".info", NULL);

    if (status != ORRERY_ENOTFOUND)
        return status;
    status = mark(processor, ".lock", LOCK_SECONDS);
    if (status == ORRERY_ECONFLICT && lock_is_old(processor))
        status = unlock(processor);
    else if (status == ORRERY_ECONFLICT)
        return ORRERY_WAIT;
    if (status == ORRERY_OK)
        status = make_all(processor);
    if (status == ORRERY_OK)
        status = mark(processor, ".info", 0);
    if (status == ORRERY_ECONFLICT)
        status = ORRERY_OK;
    return status == ORRERY_OK ? unlock(processor) : status;
}

/* ---- changing */

static bool is_changed(const char *name)
{
    static const char *const names[] = { "Owner", "ContinuationToken", "timestamp" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '_'; /* the server's */
}

/* The document as it was, but for who has it, where it goes on and when that was. */
static orrery_status write_changed(struct orrery_processor *processor, const struct lease *lease,
                                   const char *owner, const char *continuation, orrery_writer *writer)
{
    orrery_json *json = NULL;
    orrery_status status = orrery_json_parse(lease->text, ORRERY_TEXT, &json);
    const char *name;
    orrery_value value;

    if (status != ORRERY_OK)
        return status;
    orrery_write_object(writer);
    for (size_t at = 0; orrery_value_next(orrery_json_root(json), &at, &name, &value);)
        if (!is_changed(name)) {
            orrery_write_name(writer, name);
            orrery_write_value(writer, value);
        }
    write_text(writer, "Owner", owner);
    write_text(writer, "ContinuationToken", continuation);
    write_time(writer, processor->client->env);
    orrery_write_end(writer);
    orrery_json_free(json);
    return orrery_writer_status(writer);
}

static orrery_status reread(struct lease *lease, orrery_response *response)
{
    struct lease fresh;
    orrery_status status = lease_read(orrery_response_json(response), &fresh);

    if (status != ORRERY_OK) {
        lease_free(&fresh);
        return status;
    }
    fresh.poll_due_ms = lease->poll_due_ms;
    lease_free(lease);
    memcpy(lease, &fresh, sizeof(fresh));
    return ORRERY_OK;
}

static orrery_status replace(struct orrery_processor *processor, struct lease *lease, const char *owner,
                             const char *continuation)
{
    orrery_options options = { .size = sizeof(options), .if_match = lease->etag };
    orrery_key key = orrery_key_text(lease->id);
    orrery_response *response = NULL;
    orrery_writer *writer = NULL;
    size_t size = 0;
    const char *text;
    orrery_status status = orrery_writer_new(&writer);

    if (status == ORRERY_OK)
        status = write_changed(processor, lease, owner, continuation, writer);
    text = orrery_writer_text(writer, &size);
    if (status == ORRERY_OK)
        status = orrery_item_replace(processor->client, processor->lease_link, lease->id, text, size, &key,
                                     &options, &response);
    if (status == ORRERY_OK)
        status = reread(lease, response);
    orrery_response_free(response);
    orrery_writer_free(writer);
    return status;
}

/* Whether another's change of the document left it with us. */
static orrery_status look_again(struct orrery_processor *processor, struct lease *lease)
{
    orrery_key key = orrery_key_text(lease->id);
    orrery_response *response = NULL;
    orrery_status status =
        orrery_item_read(processor->client, processor->lease_link, lease->id, &key, NULL, &response);

    if (status == ORRERY_OK)
        status = reread(lease, response);
    orrery_response_free(response);
    if (status == ORRERY_ENOTFOUND)
        return ORRERY_EBUSY;
    if (status == ORRERY_OK && (!lease->owner || strcmp(lease->owner, processor->instance) != 0))
        return ORRERY_EBUSY;
    return status;
}

/*
 * Of a lease that is ours. A write that may or may not have happened is looked at: if it did, the ETag that is known is an old
 * one, and the lease is ours all the same.
 */
static orrery_status change(struct orrery_processor *processor, struct lease *lease, const char *owner,
                            const char *continuation)
{
    orrery_status status = ORRERY_OK;

    for (int i = 0; i < 3; i++) {
        status = replace(processor, lease, owner, continuation);
        if (status != ORRERY_EPRECONDITION && status != ORRERY_EIO && status != ORRERY_ETIMEOUT)
            break;
        status = look_again(processor, lease);
        if (status != ORRERY_OK)
            break;
        status = ORRERY_EPRECONDITION;
    }
    return status == ORRERY_ENOTFOUND || status == ORRERY_EPRECONDITION ? ORRERY_EBUSY : status;
}

orrery_status lease_take(struct orrery_processor *processor, struct lease *lease)
{
    orrery_status status = replace(processor, lease, processor->instance, lease->continuation);

    return status == ORRERY_ENOTFOUND || status == ORRERY_EPRECONDITION ? ORRERY_EBUSY : status;
}

orrery_status lease_renew(struct orrery_processor *processor, struct lease *lease)
{
    return lease_move(processor, lease, lease->continuation);
}

orrery_status lease_move(struct orrery_processor *processor, struct lease *lease, const char *continuation)
{
    char *kept = continuation ? memory_text(slice_of(continuation))
                              : NULL; /* it may be the lease's own, which is given back */
    orrery_status status = continuation && !kept ? client_no_memory(processor->client)
                                                 : change(processor, lease, processor->instance, kept);

    allocator_free(kept);
    return status;
}

orrery_status lease_give_back(struct orrery_processor *processor, struct lease *lease)
{
    char *kept = lease->continuation ? memory_text(slice_of(lease->continuation)) : NULL;
    orrery_status status = lease->continuation && !kept ? client_no_memory(processor->client)
                                                        : change(processor, lease, NULL, kept);

    allocator_free(kept);
    return status == ORRERY_EBUSY ? ORRERY_OK : status;
}
