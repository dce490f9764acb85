/*
 * client/transaction.c - transactions over several containers: their builder, their request.
 * The server keeps the outcome under the transaction's token. So the same bytes may be sent as often as need be: they are done
 * once. For that a write's bytes depend on nothing but what the caller said and the definitions of its containers.
 */
#include "transaction.h"

#include "base/limits.h"
#include "resolver.h"

static void make_token(orrery_transaction *transaction)
{
    env_guid(env_system(), transaction->token);
    transaction->keeps_token = transaction->was_sent = false;
}

orrery_status orrery_transaction_new(orrery_transaction **transaction)
{
    orrery_transaction *made;

    if (!transaction)
        return ORRERY_EINVAL;
    *transaction = NULL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made || orrery_batch_new(&made->batch) != ORRERY_OK) {
        allocator_free(made);
        return ORRERY_ENOMEM;
    }
    make_token(made);
    *transaction = made;
    return ORRERY_OK;
}

void orrery_transaction_free(orrery_transaction *transaction)
{
    if (!transaction)
        return;
    orrery_batch_free(transaction->batch);
    allocator_free(transaction->links);
    allocator_free(transaction);
}

/* ---- the token */

const char *orrery_transaction_token(orrery_transaction *transaction)
{
    if (!transaction)
        return NULL;
    transaction->keeps_token = true;
    return transaction->token;
}

/* 8-4-4-4-12 digits, in any case of letters. */
static bool is_guid(const char *text)
{
    static const char form[] = "00000000-0000-0000-0000-000000000000";

    if (strlen(text) != GUID_SIZE)
        return false;
    for (size_t i = 0; i < GUID_SIZE; i++)
        if (form[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
            return false;
    return true;
}

orrery_status orrery_transaction_set_token(orrery_transaction *transaction, const char *token)
{
    if (!transaction || (token && !is_guid(token)))
        return ORRERY_EINVAL;
    make_token(transaction);
    if (token)
        memcpy(transaction->token, token, GUID_SIZE);
    transaction->keeps_token = token != NULL;
    return ORRERY_OK;
}

/* ---- building */

static void fail(orrery_transaction *transaction, orrery_status status)
{
    if (transaction->batch->status == ORRERY_OK)
        transaction->batch->status = status;
}

/* The container of the operation that comes next. NULL: there is no transaction that could have one. */
static orrery_batch *next_in(orrery_transaction *transaction, const char *link)
{
    orrery_batch *batch = transaction ? transaction->batch : NULL;

    if (!batch)
        return NULL;
    if (!memory_grow(&transaction->links, &transaction->capacity, transaction->count + 1,
                     sizeof(*transaction->links))) {
        fail(transaction, ORRERY_ENOMEM);
        return batch;
    }
    transaction->links[transaction->count] = memory_text_in(&batch->arena, slice_of(link ? link : ""));
    if (!transaction->links[transaction->count++])
        fail(transaction, ORRERY_ENOMEM);
    return batch;
}

void orrery_transaction_create(orrery_transaction *transaction, const char *container_link, const char *json,
                               size_t size, const orrery_key *key)
{
    orrery_batch_create(next_in(transaction, container_link), json, size, key);
}

void orrery_transaction_upsert(orrery_transaction *transaction, const char *container_link, const char *json,
                               size_t size, const orrery_key *key)
{
    orrery_batch_upsert(next_in(transaction, container_link), json, size, key);
}

void orrery_transaction_replace(orrery_transaction *transaction, const char *container_link, const char *id,
                                const char *json, size_t size, const char *etag, const orrery_key *key)
{
    orrery_batch_replace(next_in(transaction, container_link), id, json, size, etag, key);
}

void orrery_transaction_patch(orrery_transaction *transaction, const char *container_link, const char *id,
                              const orrery_patch *patch, const char *etag, const orrery_key *key)
{
    orrery_batch_patch(next_in(transaction, container_link), id, patch, etag, key);
}

void orrery_transaction_delete(orrery_transaction *transaction, const char *container_link, const char *id,
                               const char *etag, const orrery_key *key)
{
    orrery_batch_delete(next_in(transaction, container_link), id, etag, key);
}

void orrery_transaction_read(orrery_transaction *transaction, const char *container_link, const char *id,
                             const char *etag, const orrery_key *key)
{
    orrery_batch *batch = next_in(transaction, container_link);
    char *kept = batch && etag ? memory_text_in(&batch->arena, slice_of(etag)) : NULL;

    orrery_batch_read(batch, id, key);
    if (kept && batch->status == ORRERY_OK)
        batch->operations[batch->count - 1].etag = slice_of(kept);
    if (batch && etag && !kept)
        fail(transaction, ORRERY_ENOMEM);
}

/* ---- what is refused before anything is sent */

static bool is_read(const struct operation *operation)
{
    return strcmp(operation->type, "Read") == 0;
}

static orrery_status check_options(orrery_client *client, const orrery_options *options)
{
    const char *session = OPTION(options, session_token);

    if (options && !struct_is_sized(options))
        return client_refuse(client, ORRERY_EINVAL, "%s", options_unsized);
    if (OPTION(options, if_match) || OPTION(options, if_none_match))
        return client_refuse(client, ORRERY_EINVAL, "in a transaction each operation has its own ETag");
    if (session && *session)
        return client_refuse(client, ORRERY_EINVAL,
                             "a session token is of one container, and a transaction of several");
    if (OPTION(options, pre_triggers) || OPTION(options, post_triggers))
        return client_refuse(client, ORRERY_EUNSUPPORTED, "a transaction runs no triggers");
    return ORRERY_OK;
}

static orrery_status check_operations(orrery_client *client, const orrery_transaction *transaction)
{
    const orrery_batch *batch = transaction ? transaction->batch : NULL;

    if (!batch || batch->count == 0 || batch->count > TRANSACTION_OPERATIONS_MAX)
        return client_refuse(client, ORRERY_EINVAL, "a transaction has 1 to %d operations",
                             TRANSACTION_OPERATIONS_MAX);
    if (batch->status != ORRERY_OK)
        return client_refuse(client, batch->status, "an operation of the transaction: %s",
                             orrery_status_text(batch->status));
    for (size_t i = 0; i < batch->count; i++) {
        if (is_read(&batch->operations[i]) != is_read(&batch->operations[0]))
            return client_refuse(client, ORRERY_EINVAL, "a transaction reads or writes, and not both");
        if (!link_is_collection(transaction->links[i]))
            return client_refuse(client, ORRERY_EINVAL, "operation %zu: \"%s\" is no link of a container", i,
                                 transaction->links[i]);
        if (!batch->operations[i].key.data && !operation_has_document(&batch->operations[i]))
            return client_refuse(client, ORRERY_EINVAL, "operation %zu needs its partition key", i);
    }
    return ORRERY_OK;
}

/* ---- the request */

/* One operation while it is printed. */
struct printed {
    struct call *call;
    size_t index;
    const char *link;
    struct target target; /* of the container */
    const struct operation *operation;
    struct json document; /* undefined: none */
    struct slice id;
};

static orrery_status wrong(const struct printed *printed, orrery_status status, const char *why)
{
    if (status == ORRERY_ENOMEM)
        return client_no_memory(printed->call->client);
    return client_fail(printed->call->client, status, "operation %zu: %s", printed->index, why);
}

/* Self-links have no names. They are told from others by what is signed of them: the last part alone. */
static orrery_status find_container(struct printed *printed)
{
    orrery_status status =
        link_target(&printed->call->arena, printed->link, strlen(printed->link), &printed->target);

    if (status != ORRERY_OK)
        return wrong(printed, status, "it has no link of a container");
    if (printed->target.sign.size != printed->target.container.size)
        return wrong(printed, ORRERY_EUNSUPPORTED,
                     "a transaction names its containers, and has no self-links");
    return ORRERY_OK;
}

/* An id that is made here would be another one when the transaction is built again after a crash. */
static orrery_status read_document(struct printed *printed, struct arena *arena)
{
    orrery_status status;

    printed->id = printed->operation->id;
    if (!operation_has_document(printed->operation))
        return ORRERY_OK;
    status = parse_json(arena, printed->operation->body, &printed->document);
    if (status == ORRERY_OK && json_kind(printed->document) != JSON_OBJECT)
        status = ORRERY_EJSON;
    if (status != ORRERY_OK)
        return wrong(printed, status, "its document is no JSON object");
    if (!printed->id.data && json_kind(json_get(printed->document, "id")) == JSON_STRING)
        printed->id = json_string(json_get(printed->document, "id"));
    return printed->id.size > 0 ? ORRERY_OK : wrong(printed, ORRERY_EINVAL, "its document has no id");
}

static orrery_status print_key(const struct printed *printed)
{
    const struct definition *definition = NULL;
    struct call *call = printed->call;
    orrery_status status;

    if (printed->operation->key.data) {
        buf_slice(&call->body, printed->operation->key);
        return ORRERY_OK;
    }
    status = definition_of(call->client, printed->link, call_left_ms(call), &definition);
    if (status == ORRERY_OK)
        status = definition_key(call->client, definition, printed->document, &call->body);
    definition_release(call->client, definition);
    return status;
}

/* "dbs/name/colls/name": both names. */
static void print_names(struct buf *out, struct slice container)
{
    struct slice rest = slice_after(container, 4);
    size_t size = (size_t)((const char *)memchr(rest.data, '/', rest.size) - rest.data);

    buf_text(out, "{\"databaseName\":");
    json_print_string(out, slice_make(rest.data, size));
    buf_text(out, ",\"collectionName\":");
    json_print_string(out, slice_after(rest, size + 7));
}

static void print_member(struct buf *out, const char *name, struct slice text)
{
    if (!text.data || text.size == 0)
        return;
    buf_text(out, name);
    json_print_string(out, text);
}

/* Of reads, as any other read has it. A write's bytes must not depend on what was read before. */
static void print_session(const struct printed *printed, bool is_wanted)
{
    orrery_client *client = printed->call->client;
    const char *token;

    share_lock(client);
    token = is_wanted ? session_known(client, printed->target.container) : NULL;
    print_member(&printed->call->body, ",\"sessionToken\":", slice_of(token ? token : ""));
    share_unlock(client);
}

static orrery_status print_operation(const struct printed *printed)
{
    const struct operation *operation = printed->operation;
    struct buf *out = &printed->call->body;
    bool reads = is_read(operation);
    orrery_status status;

    print_names(out, printed->target.container);
    print_member(out, ",\"id\":", printed->id);
    buf_text(out, ",\"partitionKey\":");
    status = print_key(printed);
    buf_printf(out, ",\"index\":%zu", printed->index);
    if (operation->body.data) {
        buf_text(out, ",\"resourceBody\":");
        buf_slice(out, operation->body);
    }
    print_session(printed, reads && !printed->call->session_given);
    print_member(out, reads ? ",\"ifNoneMatch\":" : ",\"ifMatch\":", operation->etag);
    buf_printf(out, ",\"operationType\":\"%s\",\"resourceType\":\"Document\"}", operation->type);
    return status;
}

static orrery_status print_one(struct printed *printed, struct carried *carried, struct arena *scratch)
{
    orrery_status status = find_container(printed);

    if (status == ORRERY_OK)
        status = read_document(printed, scratch);
    if (status == ORRERY_OK)
        status = print_operation(printed);
    carried->containers[printed->index] = printed->target.container;
    return status;
}

static orrery_status print_all(struct call *call, const orrery_transaction *transaction,
                               struct carried *carried)
{
    orrery_status status = ORRERY_OK;
    struct arena scratch;

    arena_init(&scratch, SIZE_MAX);
    call_body(call, "application/json", slice_of("{\"operations\":["));
    for (size_t i = 0; i < transaction->count && status == ORRERY_OK; i++) {
        struct printed printed = { .call = call,
                                   .index = i,
                                   .link = memory_text_in(&call->arena, slice_of(transaction->links[i])),
                                   .operation = &transaction->batch->operations[i],
                                   .document = json_undefined };

        buf_text(&call->body, i ? "," : "");
        status = printed.link ? print_one(&printed, carried, &scratch) : client_no_memory(call->client);
        arena_reset(&scratch);
    }
    buf_text(&call->body, "]}");
    arena_free(&scratch);
    return status;
}

void transaction_head(struct call *call)
{
    const struct carried *carried = call->of_kind;

    call->head.size = carried->head_bytes;
    call_header(call, "x-ms-cosmos-idempotency-token", carried->token);
    if (!carried->reads)
        call_header(call, "x-ms-cosmos-internal-is-dtx-retry", carried->was_sent ? "True" : "False");
}

static void print_head(struct call *call, struct carried *carried)
{
    call->target = (struct target){ .type = "distributedtransactionbatch",
                                    .path = slice_of("/operations/dtc"),
                                    .sign = slice_of(""),
                                    .container = slice_of("") };
    call->kind = &transaction_kind;
    call->of_kind = carried;
    call->repeatable = call->splits_time = true;
    call_header(call, "x-ms-noretry-449", "True");
    call_header(call, "x-ms-cosmos-operation-type", carried->reads ? "Read" : "CommitDistributedTransaction");
    call_header(call, "x-ms-cosmos-resource-type", "DistributedTransactionBatch");
    if (!carried->reads)
        call_header(call, "x-ms-cosmos-internal-is-dtx-cross-region-redirect", "False");
    carried->head_bytes = call->head.size;
    buf_reserve(&call->head, 256); /* so that a later attempt's lines need no memory */
    transaction_head(call);
}

static struct carried *carry(struct call *call, orrery_transaction *transaction, bool waits)
{
    struct carried *carried = memory_list(&call->arena, 1, sizeof(*carried));
    struct slice *containers = memory_list(&call->arena, transaction->count, sizeof(*containers));

    if (!carried || !containers)
        return NULL;
    *carried = (struct carried){ .renewed = waits && !transaction->keeps_token ? transaction : NULL,
                                 .reads = is_read(&transaction->batch->operations[0]),
                                 .was_sent = transaction->was_sent,
                                 .count = transaction->count,
                                 .containers = containers };
    memcpy(carried->token, transaction->token, sizeof(carried->token));
    return carried;
}

orrery_status orrery_transaction_run(orrery_client *client, orrery_transaction *transaction,
                                     const orrery_options *options, orrery_response **response)
{
    struct carried *carried;
    orrery_status status;
    struct call *call;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    status = check_options(client, options);
    if (status == ORRERY_OK)
        status = check_operations(client, transaction);
    if (status != ORRERY_OK)
        return status;
    call = call_new(client, METHOD_POST, options);
    if (!call)
        return ORRERY_ENOMEM;
    carried = carry(call, transaction, !OPTION(options, done));
    status = carried ? print_all(call, transaction, carried) : client_no_memory(client);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    print_head(call, carried);
    transaction->was_sent = true;
    return call_dispatch(call, options, response);
}
