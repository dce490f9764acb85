/* test/sim/world.c - opens, restarts and asks a server that has neither sockets nor threads. */
#include <stdio.h>
#include <stdlib.h>

#include "auth/hmac.h"
#include "base/encode.h"
#include "base/limits.h"
#include "packed/packed.h"
#include "partition/recover.h"
#include "route/path.h"
#include "world.h"

enum { TRIM_AFTER_MS = 30 * 1000 }; /* often in the middle of what is written */

static const int64_t BEGAN_MS = 1700000000000;

static void must(struct op *op, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, error_row(st)->name, op->error ? op->error : "");
    abort();
}

static void open_router(struct world *world)
{
    const char *keys[AUTH_KEYS_MAX] = { [AUTH_PRIMARY] = auth_emulator_key };

    must(&world->op, auth_open(&world->op, keys, AUTH_KEYS_MAX, &world->auth), "no keys");
    world->service = (struct service){ .env = world->env,
                                       .store = world->store,
                                       .catalog = world->catalog,
                                       .locks = locks_open(),
                                       .hints = hints_open(),
                                       .account = slice_of("orrery") };
    world->router = route_open(&(struct route_options){ .service = &world->service, .auth = world->auth });
}

static enum status open_catalog(struct world *world)
{
    enum status st;

    TRY(catalog_open(&world->op, world->store, &world->catalog));
    TRY(recover_index(&world->op, world->catalog));
    if (disk_is_off(world->disk)) /* while a run was written, which is tried again later */
        st = ST_UNAVAILABLE;
out:
    if (st != ST_OK)
        catalog_close(world->catalog);
    return st;
}

/*
 * The packed index reads while it holds its own locks and the committer's; on one thread nobody else may come in between. There
 * is one world at a time. The linker puts these calls before the real ones (CMakeLists.txt).
 */
static struct world *the_world;

enum status __real_packed_append(struct op *op, struct packed *packed, uint64_t bucket, uint64_t lsn,
                                 const struct packed_entry *entry, size_t count);
enum status __wrap_packed_append(struct op *op, struct packed *packed, uint64_t bucket, uint64_t lsn,
                                 const struct packed_entry *entry, size_t count);
void __real_packed_committed(struct packed *packed);
void __wrap_packed_committed(struct packed *packed);
enum status __real_packed_flush(struct op *op, struct packed *packed);
enum status __wrap_packed_flush(struct op *op, struct packed *packed);

enum status __wrap_packed_append(struct op *op, struct packed *packed, uint64_t bucket, uint64_t lsn,
                                 const struct packed_entry *entry, size_t count)
{
    enum status st;

    the_world->undisturbed++;
    st = __real_packed_append(op, packed, bucket, lsn, entry, count);
    the_world->undisturbed--;
    return st;
}

void __wrap_packed_committed(struct packed *packed)
{
    the_world->undisturbed++;
    __real_packed_committed(packed);
    the_world->undisturbed--;
}

enum status __wrap_packed_flush(struct op *op, struct packed *packed)
{
    enum status st;

    the_world->undisturbed++;
    st = __real_packed_flush(op, packed);
    the_world->undisturbed--;
    return st;
}

/* Fails only when the power does. */
static enum status open_store(struct world *world)
{
    struct packed_options packed = {
        .delta_bytes = world->delta_bytes, .filter_bytes = 4096, .page_bytes = 1 << 18, .merge_runs = 3
    };
    struct store_options options = { .sync = true,
                                     .entries = world->delta_bytes ? ENTRIES_PACKED : ENTRIES_PLAIN,
                                     .packed = &packed };
    struct op *op = &world->op;
    enum status st;

    op_begin(op, INT64_MAX / 2);
    world->controls = (struct faulty_controls){ 0 };
    world->catalog = NULL;
    the_world = world;
    must(op,
         store_open_over(op, faulty_backend(disk_backend(world->disk), &world->controls), &options,
                         &world->store),
         "the store cannot be opened");
    st = open_catalog(world);
    if (st == ST_OK)
        return st;
    if (!disk_is_off(world->disk))
        must(op, st, "the catalog cannot be opened");
    store_close(world->store);
    return st;
}

static void open_server(struct world *world)
{
    while (open_store(world) != ST_OK) {
        disk_power_on(world->disk, 0);
        world->starts_cut++;
    }
    open_router(world);
    world->sweep = sweep_open(world->catalog);
    world->reindex = reindex_open(world->catalog);
    world->trim = trim_open(world->catalog);
}

static void close_server(struct world *world)
{
    sweep_close(world->sweep);
    reindex_close(world->reindex);
    trim_close(world->trim);
    route_close(world->router);
    auth_close(world->auth);
    hints_close(world->service.hints);
    locks_close(world->service.locks);
    catalog_close(world->catalog);
    store_close(world->store);
}

void world_open(struct world *world, uint64_t seed)
{
    /* Each commit becomes a run, or most of them are in memory, to be made again after a cut. */
    static const size_t delta_bytes[] = { 0, 1, 0, 80000 };

    *world = (struct world){ .env = env_seeded(seed, BEGAN_MS),
                             .disk = disk_new(),
                             .delta_bytes = delta_bytes[seed % 4] };
    op_init(&world->op, world->env, SIZE_MAX);
    for (int i = 0; i < WORLD_DEPTH; i++)
        op_init(&world->exchange[i].op, world->env, OP_MEMORY_BYTES_MAX);
    open_server(world);
}

void world_close(struct world *world)
{
    close_server(world);
    for (int i = 0; i < WORLD_DEPTH; i++)
        op_free(&world->exchange[i].op);
    op_free(&world->op);
    disk_free(world->disk);
    env_free(world->env);
}

void world_restart(struct world *world, uint64_t luck, uint64_t again)
{
    close_server(world);
    disk_power_on(world->disk, luck);
    disk_cut_at(world->disk, again, luck & 1);
    open_server(world);
    disk_cut_at(world->disk, 0, false);
}

static struct slice signature(struct op *op, const struct request *request, const char *date)
{
    static const char *const verbs[] = { "get", "head", "post", "put", "patch", "delete", "options", "" };
    struct buf text, header, encoded;
    uint8_t key[256], made[HMAC_BYTES];
    struct hmac hmac;
    struct path path;
    size_t size = 0;

    must(op, path_parse(op, request->target, &path), "the path cannot be read");
    buf_init(&text, &op->arena);
    buf_printf(&text, "%s\n%.*s\n", verbs[request->method], SLICE_ARGS(path.type));
    buf_slice(&text, path.link);
    buf_byte(&text, '\n');
    for (const char *c = date; *c; c++)
        buf_byte(&text, *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c);
    buf_text(&text, "\n\n");
    if (!base64_decode(slice_of(auth_emulator_key), key, sizeof(key), &size))
        abort();
    hmac_init(&hmac, slice_make(key, size));
    hmac_sign(&hmac, buf_as_slice(&text), made);
    buf_init(&header, &op->arena);
    buf_text(&header, "type=master&ver=1.0&sig=");
    base64_encode(&header, slice_make(made, sizeof(made)));
    buf_init(&encoded, &op->arena);
    percent_encode(&encoded, buf_as_slice(&header));
    return buf_as_slice(&encoded);
}

static void sign(struct op *op, struct request *request)
{
    char *date = arena_alloc(&op->arena, HTTP_DATE_SIZE + 1);

    http_date_format(op->now_ms, date);
    request->header[HEADER_HOST] = slice_of("localhost:8081");
    request->header[HEADER_VERSION] = slice_of("2020-07-15");
    request->header[HEADER_MS_DATE] = slice_of(date);
    request->header[HEADER_AUTHORIZATION] = signature(op, request, date);
}

struct exchange *world_send(struct world *world, enum method method, const char *target,
                            const struct world_header *headers, size_t count, const char *body)
{
    struct exchange *exchange = &world->exchange[world->depth];
    enum status st;

    world->requests++;
    op_begin(&exchange->op, OP_TIMEOUT_MS);
    exchange->op.may_block = false;
    exchange->state = NULL;
    exchange->answer = (struct answer){ 0 };
    exchange->request =
        (struct request){ .method = method, .target = slice_of(target), .body = slice_of(body) };
    sign(&exchange->op, &exchange->request);
    for (size_t i = 0; i < count; i++)
        if (headers[i].value)
            exchange->request.header[headers[i].id] = slice_of(headers[i].value);
    st = route_handle(world->router, exchange);
    if (st == ST_WOULD_BLOCK) {
        exchange->op.may_block = true;
        st = route_handle(world->router, exchange);
    }
    must(&exchange->op, st, "a request was not answered");
    return exchange;
}

enum status world_sweep(struct world *world)
{
    enum status st;

    op_begin(&world->op, OP_TIMEOUT_MS);
    world->op.may_block = true;
    world->holds_catalog = true;
    st = catalog_sweep(&world->op, world->catalog);
    world->holds_catalog = false;
    TRY(st);
    TRY(sweep_expired(&world->op, world->sweep, &world->expired));
    world->reindexing = true;
    st = reindex_items(&world->op, world->reindex);
    world->reindexing = false;
    TRY(st);
    TRY(trim_logs(&world->op, world->trim, TRIM_AFTER_MS));
out:
    return st;
}

bool world_header_text(struct exchange *exchange, const char *name, char *text, size_t size)
{
    char *head = arena_text(&exchange->op.arena, buf_as_slice(&exchange->answer.head)), *line, *end;
    size_t name_size = strlen(name);

    for (line = head; *line && (end = strstr(line, "\r\n")); line = end + 2) {
        if (strncmp(line, name, name_size) != 0 || line[name_size] != ':')
            continue;
        line += name_size + 2;
        return (size_t)snprintf(text, size, "%.*s", (int)(end - line), line) < size;
    }
    return false;
}

struct json world_body(struct exchange *exchange)
{
    struct json body = json_undefined;

    if (json_parse(&exchange->op, buf_as_slice(&exchange->answer.body), &body) != ST_OK)
        return json_undefined;
    return body;
}
