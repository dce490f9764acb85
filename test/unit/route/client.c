/* test/unit/route/client.c - hand-made exchanges, signed independently of auth/. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <semaphore.h>

#include "base/limits.h"
#include "base/encode.h"
#include "client.h"
#include "script/script.h"
#include "route/path.h"

static sem_t resumed;

static void print_other_metrics(void *context, struct buf *out)
{
    (void)context;
    buf_text(out, "# TYPE orrery_other gauge\norrery_other 1\n");
}

static void print_other_now(void *context, struct op *op, uint64_t since, struct buf *out)
{
    (void)context, (void)op;
    buf_printf(out, "\"since\":%llu", (unsigned long long)since);
}

static void print_token(void *context, const struct grant *grant, struct buf *out)
{
    auth_print_token(context, grant, out);
}

static void open_client(struct client *client, const char *audit_path,
                        enum status (*backup)(void *context, struct op *op, struct slice name,
                                              struct slice *made),
                        void *context)
{
    const char *keys[AUTH_KEYS_MAX] = {
        [AUTH_PRIMARY] = auth_emulator_key,
        [AUTH_SECONDARY] = CLIENT_SECONDARY_KEY,
        [AUTH_PRIMARY_READONLY] = CLIENT_PRIMARY_READONLY_KEY,
        [AUTH_SECONDARY_READONLY] = CLIENT_READONLY_KEY,
    };
    static const char *const origins[] = { "http://page.example" };
    const struct script_options no_scripts = {
        .env = env_system(), .program = "/none", .children_max = 1, .cores = 1
    };

    *client = (struct client){ .steps = INLINE_STEPS_MAX };
    rig_open(&client->rig, true);
    sem_init(&resumed, 0, 0);
    op_init(&client->exchange.op, client->rig.op->env, SIZE_MAX);
    op_init(&client->keep, client->rig.op->env, SIZE_MAX);
    CHECK(auth_open(client->rig.op, keys, AUTH_KEYS_MAX, &client->auth) == ST_OK);
    client->service = (struct service){ .env = client->rig.op->env,
                                        .store = client->rig.store,
                                        .catalog = client->rig.catalog,
                                        .ledger = client->rig.ledger,
                                        .locks = client->rig.locks,
                                        .hints = hints_open(),
                                        .scripts = scripts_open(&no_scripts),
                                        .trials = &client->trials,
                                        .print_token = print_token,
                                        .token_context = client->auth,
                                        .account = slice_of("orrery"),
                                        .serves_direct = true,
                                        .consistency = CONSISTENCY_SESSION };
    if (audit_path)
        CHECK(audit_open(client->rig.op, audit_path, &client->audit) == ST_OK);
    client->router = route_open(&(struct route_options){ .service = &client->service,
                                                         .serves_explorer = true,
                                                         .audit = client->audit,
                                                         .auth = client->auth,
                                                         .cors_origins = origins,
                                                         .cors_origin_count = 1,
                                                         .print_metrics = print_other_metrics,
                                                         .print_now = print_other_now,
                                                         .backup = backup,
                                                         .backup_context = context });
    client_clear(client);
}

void client_open(struct client *client)
{
    open_client(client, NULL, NULL, NULL);
}

void client_open_audited(struct client *client, const char *path)
{
    open_client(client, path, NULL, NULL);
}

void client_open_with(struct client *client,
                      enum status (*backup)(void *context, struct op *op, struct slice name,
                                            struct slice *made),
                      void *context)
{
    open_client(client, NULL, backup, context);
}
void client_close(struct client *client)
{
    route_close(client->router);
    auth_close(client->auth);
    audit_close(client->audit);
    scripts_close(client->service.scripts);
    hints_close(client->service.hints);
    op_free(&client->exchange.op);
    op_free(&client->keep);
    rig_close(&client->rig);
}

void client_header(struct client *client, enum header_id id, const char *value)
{
    client->header[id] = value ? rig_quoted(&client->keep, value) : (struct slice){ 0 };
}

void client_clear(struct client *client)
{
    memset(client->header, 0, sizeof(client->header));
    client->unsigned_request = false;
    client->key = auth_emulator_key;
    client_header(client, HEADER_HOST, "localhost:8081");
    client_header(client, HEADER_VERSION, "2020-07-15");
}

static void add_lower(struct buf *text, struct slice part)
{
    for (size_t i = 0; i < part.size; i++)
        buf_byte(text, part.data[i] >= 'A' && part.data[i] <= 'Z' ? (char)(part.data[i] + 32) : part.data[i]);
}

static void sign(struct client *client, struct request *request)
{
    static const char *const verbs[] = { "get", "head", "post", "put", "patch", "delete", "options", "" };
    struct op *op = &client->exchange.op;
    char *date = arena_alloc(&op->arena, HTTP_DATE_SIZE + 1);
    uint8_t key[256], made[EVP_MAX_MD_SIZE];
    struct buf text, header, encoded;
    unsigned made_size = 0;
    struct path path;
    size_t size = 0;

    http_date_format(op->now_ms, date);
    request->header[HEADER_MS_DATE] = slice_of(date);
    if (path_parse(op, request->target, &path) != ST_OK)
        return;
    buf_init(&text, &op->arena);
    buf_printf(&text, "%s\n", verbs[request->method]);
    add_lower(&text, path.type);
    buf_byte(&text, '\n');
    buf_slice(&text, path.link);
    buf_byte(&text, '\n');
    add_lower(&text, slice_of(date));
    buf_text(&text, "\n\n");
    CHECK(base64_decode(slice_of(client->key), key, sizeof(key), &size));
    HMAC(EVP_sha256(), key, (int)size, (const unsigned char *)text.data, text.size, made, &made_size);
    buf_init(&header, &op->arena);
    buf_text(&header, "type=master&ver=1.0&sig=");
    base64_encode(&header, slice_make(made, made_size));
    buf_init(&encoded, &op->arena);
    percent_encode(&encoded, buf_as_slice(&header));
    request->header[HEADER_AUTHORIZATION] = buf_as_slice(&encoded);
}

static void post(struct op *op, bool last)
{
    (void)op, (void)last;
    sem_post(&resumed);
}

/* What is written is committed while a loop thread does other things. */
static enum status handle_on_loop(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    enum status st;

    exchange->op.may_block = exchange->resumed = false;
    exchange->op.resume = post;
    st = route_handle(client->router, exchange);
    client->was_pending = st == ST_PENDING;
    if (client->was_pending) {
        sem_wait(&resumed);
        exchange->resumed = true;
        st = route_handle(client->router, exchange);
    }
    return st;
}

static void make_request(struct client *client, enum method method, const char *target, const char *body)
{
    struct exchange *exchange = &client->exchange;

    op_begin(&exchange->op, INT64_MAX / 2);
    exchange->op.steps_left = client->steps;
    exchange->state = NULL;
    exchange->refused = false;
    exchange->class = CLASS_QUICK;
    exchange->answer = (struct answer){ 0 };
    exchange->request = (struct request){ .method = method,
                                          .target = slice_of(target),
                                          .peer = slice_of("192.0.2.7:50312"),
                                          .body = rig_quoted(&exchange->op, body ? body : "") };
    memcpy(exchange->request.header, client->header, sizeof(client->header));
    if (!client->unsigned_request && !client->header[HEADER_AUTHORIZATION].data)
        sign(client, &exchange->request);
}

int client_ask_to_send(struct client *client, enum method method, const char *target)
{
    make_request(client, method, target, NULL);
    client->exchange.op.may_block = false;
    return route_admit(client->router, &client->exchange) ? 100 : client->exchange.answer.status;
}

int client_send(struct client *client, enum method method, const char *target, const char *body)
{
    struct exchange *exchange = &client->exchange;
    enum status st;

    make_request(client, method, target, body);
    st = handle_on_loop(client);
    client->was_handed_on = st == ST_WOULD_BLOCK;
    if (client->was_handed_on) {
        exchange->op.may_block = true;
        exchange->refused = client->is_refused;
        env_advance_ms(exchange->op.env, client->queued_ms);
        st = route_handle(client->router, exchange);
    }
    CHECK(st == ST_OK);
    rig_check_head(&exchange->answer);
    return exchange->answer.status;
}

struct json client_member(struct client *client, const char *name)
{
    return json_get(rig_body(&client->exchange.op, &client->exchange.answer), name);
}

struct slice client_answer(struct client *client, const char *header)
{
    return rig_header(&client->exchange.op, &client->exchange.answer, header);
}

void client_open_filled(struct client *client)
{
    client_open(client);
    client_fill(client);
}

void client_fill(struct client *client)
{
    CHECK(client_send(client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    CHECK(client_send(client, METHOD_POST, "/dbs/d/colls",
                      "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}") == 201);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    CHECK(client_send(client, METHOD_POST, "/dbs/d/colls/c/docs", "{'id':'1','pk':'a'}") == 201);
}

bool client_told(struct client *client, const char *code, const char *reason)
{
    struct slice message = json_string(client_member(client, "message"));

    return slice_is(json_string(client_member(client, "code")), code) &&
           memmem(message.data, message.size, reason, strlen(reason));
}

void client_mark(struct client *client, enum marker marker)
{
    static const struct {
        enum header_id id;
        const char *value;
    } headers[] = { [MARK_PLAN] = { HEADER_IS_QUERY_PLAN, "True" },
                    [MARK_BATCH] = { HEADER_IS_BATCH, "True" },
                    [MARK_QUERY] = { HEADER_IS_QUERY, "True" },
                    [MARK_UPSERT] = { HEADER_IS_UPSERT, "True" },
                    [MARK_READ] = { HEADER_OPERATION_TYPE, "Read" } };

    if (marker != MARK_NONE)
        client_header(client, headers[marker].id, headers[marker].value);
}

const char *client_transaction(struct client *client, const char *container, const char *kind)
{
    static char body[400];

    client_header(client, HEADER_IDEMPOTENCY_TOKEN, "51eb84be-bf65-4749-8806-f12cd964658a");
    client_mark(client, strcmp(kind, "Read") == 0 ? MARK_READ : MARK_NONE);
    snprintf(body, sizeof(body),
             "{'operations':[{'databaseName':'d','collectionName':'%s','id':'1','partitionKey':['a'],"
             "'operationType':'%s'%s}]}",
             container, kind,
             strcmp(kind, "Read") == 0 || strcmp(kind, "Delete") == 0
                 ? ""
                 : ",'resourceBody':{'id':'1','pk':'a'}");
    return body;
}

const char *client_target_of(const char *shape)
{
    static char target[100];
    static const char *const ids[] = { "d", "c", "1", "1", "1" };
    size_t size = 0, id = 0;

    target[size++] = '/';
    for (const char *c = shape; *c; c++)
        target[size++] = *c == 'x' && (c[1] == '/' || !c[1]) && c[-1] == '/' ? ids[id++][0] : *c;
    target[size] = '\0';
    return target;
}
