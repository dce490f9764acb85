/* src/route/route.c - the steps of a request, in order. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/reserve.h"
#include "resource/heat.h"
#include "resource/reshape.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/throughput.h"
#include "route/endpoints.h"
#include "route/grant.h"
#include "route/metrics.h"
#include "route/origin.h"
#include "route/record.h"
#include "route/role.h"
#include "route/routed.h"
#include "route/table.h"

struct router *route_open(const struct route_options *options)
{
    struct router *router = heap_allocate(sizeof(*router));

    router->metrics = heap_allocate((route_count + 1) * sizeof(*router->metrics));
    router->options = *options;
    return router;
}

void route_close(struct router *router)
{
    if (!router)
        return;
    metrics_free(router->metrics);
    free(router->metrics);
    free(router);
}

void route_totals(const struct router *router, struct request_totals *totals)
{
    metrics_total(router->metrics, totals);
}

/* The client's id for this request, if it sent a sensible one. */
static void set_activity_id(struct op *op, const struct request *request)
{
    struct slice id = slice_trim(request->header[HEADER_ACTIVITY_ID]);
    bool sensible = id.data && id.size > 0 && id.size <= ACTIVITY_ID_SIZE;

    for (size_t i = 0; sensible && i < id.size; i++)
        sensible = id.data[i] > ' ' && id.data[i] < 0x7f && id.data[i] != '"' && id.data[i] != '\\';
    if (!sensible) {
        env_guid(op->env, op->activity_id);
        return;
    }
    memcpy(op->activity_id, id.data, id.size);
    op->activity_id[id.size] = '\0';
}

static enum marker marker_of(const struct request *request, struct slice shape)
{
    struct slice type = request->header[HEADER_CONTENT_TYPE];

    if (request->method != METHOD_POST)
        return MARK_NONE;
    if (slice_is(shape, "operations/x"))
        return slice_is(slice_trim(request->header[HEADER_OPERATION_TYPE]), "Read") ? MARK_READ : MARK_NONE;
    if (header_is_true(request, HEADER_IS_QUERY_PLAN))
        return MARK_PLAN;
    if (header_is_true(request, HEADER_IS_BATCH))
        return MARK_BATCH;
    if (header_is_true(request, HEADER_IS_QUERY) || header_is_true(request, HEADER_IS_QUERY_GO) ||
        (type.data && slice_starts_with(type, "application/query+json")))
        return MARK_QUERY;
    if (header_is_true(request, HEADER_IS_UPSERT))
        return MARK_UPSERT;
    return MARK_NONE;
}

/* The route says which keys are good, so it is found before the signature is checked. It is told only after that. */
static void find_route(const struct request *request, struct routed *routed)
{
    struct slice shape = routed->path.shape;

    routed->route = route_find(request->method, marker_of(request, shape), shape, &routed->known_path);
}

/* What clients in Direct mode ask first: they are told before their signature is looked at. */
static enum status check_direct(struct op *op, const struct service *service, const struct route *route)
{
    if (!route || route->run != address_list || service->serves_direct)
        return ST_OK;
    return op_fail(op, ST_NOT_BUILT,
                   "This server was started without Direct mode (--no-direct): use gateway mode.");
}

static enum status check_route(struct op *op, const struct routed *routed)
{
    if (routed->route)
        return ST_OK;
    if (routed->known_path)
        return op_fail_as(op, ST_METHOD_NOT_ALLOWED);
    return op_fail(op, ST_NOT_FOUND, "The request path '/%.*s' names no resource.",
                   routed->path.link.size > 64 ? 64 : (int)routed->path.link.size, routed->path.link.data);
}

static enum status check_signature(struct op *op, const struct router *router, const struct request *request,
                                   const struct path *path, bool writes, struct auth_who *who)
{
    struct auth_subject subject = {
        .type = path->type, .link = path->link, .rid = path->rid, .writes = writes
    };

    if (router->options.trusts_all) {
        *who = (struct auth_who){ .kind = AUTH_BY_KEY, .is_known = true };
        return ST_OK;
    }
    return auth_check(op, router->options.auth, request, &subject, who);
}

/* Programs that wait for an emulator ask for its account without a key. What it tells is known to whoever asks. */
static bool is_emulators_account(const struct router *router, const struct request *request,
                                 const struct route *route)
{
    return router->options.emulator && route && route->run == account_read &&
           !request->header[HEADER_AUTHORIZATION].data;
}

/* While a container is about to be replaced by another one, its writes are told to come back. */
static enum status check_hold(struct op *op, const struct routed *routed)
{
    if (!(routed->route->flags & OF_ITEMS) || !route_writes(routed->route) || !routed->call.container)
        return ST_OK;
    return hold_check(op, routed->call.container);
}

/* Requests for plans and definitions are not held back, and each operation in bulk enters by itself. */
static enum status enter(struct op *op, struct routed *routed)
{
    const struct route *route = routed->route;
    bool bulk = route->marker == MARK_BATCH && !header_is_true(routed->call.request, HEADER_BATCH_ATOMIC);

    if (!(route->flags & OF_ITEMS) || route->marker == MARK_PLAN || bulk)
        return ST_OK;
    return throughput_enter(op, &routed->call);
}

/* Who asks, and for what. None of it waits. */
static enum status let_in(struct router *router, struct exchange *exchange, struct routed *routed)
{
    const struct request *request = &exchange->request;
    struct op *op = &exchange->op;
    enum status st;

    TRY(origin_check_host(op, &router->options, request));
    TRY(path_parse(op, request->target, &routed->path));
    find_route(request, routed);
    TRY(check_direct(op, router->options.service, routed->route));
    if (is_emulators_account(router, request, routed->route))
        goto out;
    TRY(check_signature(op, router, request, &routed->path,
                        routed->route && route_wants_full_key(routed->route), &routed->who));
    TRY(check_route(op, routed));
out:
    return st;
}

/* What keys may do has been checked with their signatures. */
static enum status check_rights_to(struct op *op, const struct router *router, const struct auth_who *who,
                                   struct call *call, const struct route *route, const struct path *path)
{
    if (who->kind == AUTH_BY_TOKEN)
        return grant_check(op, &who->grant, call, route);
    if (who->kind == AUTH_BY_PRINCIPAL)
        return role_check(op, router->options.auth, &who->principal, call, route, path);
    return ST_OK;
}

/* An operation of a transaction needs the rights that it would need as a request of its own. */
static enum status check_part(struct op *op, const struct call *whole, struct call *part,
                              const struct slice names[2])
{
    const struct routed *routed = whole->check_context;
    bool is_list = part->request->method == METHOD_POST; /* to which something is added */
    struct slice shape = slice_of(is_list ? "dbs/x/colls/x/docs" : "dbs/x/colls/x/docs/x");
    struct path path = { .count = 5, .segment = { [1] = names[0], [3] = names[1] }, .shape = shape };
    bool known_path;
    const struct route *route =
        route_find(part->request->method, marker_of(part->request, shape), shape, &known_path);

    assert(route); /* items have a row for every kind of operation */
    if (is_list)
        part->id = (struct slice){ 0 };
    return check_rights_to(op, routed->router, &routed->who, part, route, &path);
}

static enum status check_rights(struct op *op, const struct router *router, struct routed *routed)
{
    if (routed->route->flags & IN_PARTS)
        return ST_OK;
    return check_rights_to(op, router, &routed->who, &routed->call, routed->route, &routed->path);
}

/* Everything before the operation itself. Only a catalog that is in doubt can make it wait. */
static enum status prepare(struct router *router, struct exchange *exchange, struct routed *routed)
{
    struct op *op = &exchange->op;
    enum status st, owners;

    assert(!routed->is_prepared);
    TRY(let_in(router, exchange, routed));
    TRY(routed_check_headers(op, routed));
    exchange->class = route_class(routed->route, &exchange->request);
    TRY(routed_settle_catalog(op, routed));
    TRY(routed_catch_up(op, routed));
    owners = routed_find_owners(op, routed);
    if (owners == ST_WOULD_BLOCK)
        TRY(owners);
    TRY(check_rights(op, router, routed)); /* before the owners: nobody is told what there is elsewhere */
    TRY(owners);
    TRY(routed_check_claims(op, routed));
    if (routed->call.container)
        exchange->owner = rid_owner(&routed->call.container->rid);
    TRY(check_hold(op, routed));
    TRY(enter(op, routed));
    routed->is_prepared = true;
out:
    return st;
}

/* Session tokens had another form before this version of the protocol. */
enum { VERSION_WITH_VECTORS = 20180618 };

/* Each attempt begins its reply anew. One that goes on after its commit keeps what it has noted. */
static void begin_reply(struct exchange *exchange, struct routed *routed)
{
    uint64_t version;

    if (routed->call.resume) {
        reply_resume(&routed->reply);
        return;
    }
    version = call_version(&routed->call);
    reply_begin(&routed->reply, &exchange->op, &exchange->answer);
    routed->reply.plain_session = version != 0 && version < VERSION_WITH_VECTORS;
    routed->reply.tells_retriable = reply_tells_retriable(&exchange->request);
}

/* A failure on items tells the container's LSN, unless the operation has noted the one that it saw. */
static void note_session(struct routed *routed)
{
    const struct route *route = routed->route;

    if (route && route->flags & OF_ITEMS && routed->call.container && !reply_has_session(&routed->reply))
        reply_session(&routed->reply, scope_lsn(&routed->call, &routed->reply));
}

static void audit(struct router *router, struct exchange *exchange, const struct routed *routed,
                  enum status st)
{
    const struct route *route = routed->route;

    audit_request(
        router->options.audit, &exchange->op,
        &(struct audit_event){ .request = &exchange->request,
                               .who = &routed->who,
                               .catalog = routed->is_outside ? NULL : router->options.service->catalog,
                               .operation = route ? route->name : "none",
                               .is_definition = route && route_changes_definitions(route),
                               .status = exchange->answer.status,
                               .sub_status = st == ST_OK ? 0 : error_row(st)->sub });
}

/* Where what was read lies, as its client wrote it. */
static void reply_location(struct op *op, struct routed *routed)
{
    const struct request *request = routed->call.request;
    struct slice host = request->header[HEADER_HOST];
    struct buf place;

    if (request->method != METHOD_GET || !routed->call.id.size || !host.data)
        return;
    buf_init(&place, &op->arena);
    buf_text(&place, request->tls ? "https://" : "http://");
    buf_slice(&place, host);
    buf_slice(&place, request->target);
    reply_header_link(&routed->reply, "content-location", buf_as_slice(&place));
}

/* Those who watch may name the trace that a request belongs to: it becomes an example of how long such a one takes. */
static void observe(struct router *router, struct exchange *exchange, const struct routed *routed,
                    enum status st, double charge, struct route_metrics *metrics, int64_t took_us)
{
    struct trace_id trace =
        router->options.observe(router->options.observe_context, &exchange->op,
                                &(struct observed){ .operation = routed->route ? routed->route->name : "none",
                                                    .request = &exchange->request,
                                                    .answer = &exchange->answer,
                                                    .reply = &routed->reply,
                                                    .link = routed->path.link,
                                                    .charge = charge,
                                                    .sub_status = st == ST_OK ? 0 : error_row(st)->sub,
                                                    .took_us = took_us });

    if (trace.text[0])
        metrics_note_example(metrics, &trace, took_us, env_now_ms(exchange->op.env));
}

static void finish(struct router *router, struct exchange *exchange, struct routed *routed, enum status st)
{
    struct op *op = &exchange->op;
    size_t index = routed->route ? (size_t)(routed->route - routes) : route_count;
    int64_t took_us;
    double charge;

    assert(st != ST_WOULD_BLOCK); /* it goes on, on a thread that may wait */
    assert(st != ST_PENDING);     /* it goes on, when it is committed */
    st = op_explain_memory(op, st);
    if (st != ST_OK)
        note_session(routed);
    else
        reply_location(op, routed);
    charge = reply_finish(&routed->reply, st);
    if (routed->route && routed->route->flags & OF_ITEMS) {
        throughput_leave(op, &routed->call, charge);
        heat_note(op, &routed->call, &routed->reply, charge);
    }
    origin_allow(&router->options, &exchange->request, &exchange->answer);
    audit(router, exchange, routed, st);
    took_us = env_monotonic_us(op->env) - routed->call.began_us;
    if (op->noted)
        record_request(exchange, &routed->call, &routed->reply, routed->route,
                       (struct request_end){ st, charge, routed->call.began_us, took_us });
    if (router->options.observe && took_us >= router->options.observe_after_us)
        observe(router, exchange, routed, st, charge, &router->metrics[index], took_us);
    routed_release_owners(&routed->call);
    metrics_count(&router->metrics[index], exchange->answer.status, took_us, exchange->request.direct);
}

static struct routed *begin(struct router *router, struct exchange *exchange)
{
    struct routed *routed = arena_alloc(&exchange->op.arena, sizeof(*routed));

    assert(!exchange->op.may_block); /* every request begins on a loop thread */
    *routed = (struct routed){ .router = router,
                               .call = { .service = router->options.service,
                                         .request = &exchange->request,
                                         .check_part = check_part,
                                         .check_context = routed,
                                         .began_us = env_monotonic_us(exchange->op.env) } };
    set_activity_id(&exchange->op, &exchange->request);
    record_begin(&exchange->op, router->options.service);
    exchange->state = routed;
    return routed;
}

/* A browser asks whether a web page may send requests here. */
static enum status answer_preflight(struct router *router, struct exchange *exchange)
{
    struct reply reply;

    reply_begin(&reply, &exchange->op, &exchange->answer);
    reply_status(&reply, 204);
    if (!origin_allow(&router->options, &exchange->request, &exchange->answer))
        reply_write_error(exchange, ST_FORBIDDEN,
                          "This web page may not ask. Start the server with --cors-origin.");
    return ST_OK;
}

/* What collects metrics sends a token, which it cannot make by itself. People may sign as usual. */
static enum status check_metrics(struct op *op, struct router *router, const struct request *request,
                                 struct auth_who *who)
{
    struct slice header = request->header[HEADER_AUTHORIZATION];
    struct path path;
    enum status st;

    if (!router->options.guards_metrics)
        return ST_OK;
    if (!header.data || slice_starts_with(header, "Bearer ") || slice_starts_with(header, "bearer "))
        return auth_check_metrics_token(op, router->options.auth, request);
    TRY(path_parse(op, request->target, &path));
    TRY(check_signature(op, router, request, &path, false, who));
out:
    return st;
}

static enum status prepare_endpoint(struct router *router, struct exchange *exchange,
                                    const struct endpoint *endpoint, struct auth_who *who)
{
    const struct request *request = &exchange->request;
    struct op *op = &exchange->op;
    struct path path;
    enum status st;

    TRY(origin_check_host(op, &router->options, request));
    if (exchange->refused)
        TRY(op_fail(op, ST_UNAVAILABLE, "The server is overloaded."));
    if (endpoint->guard == FOR_METRICS)
        TRY(check_metrics(op, router, request, who));
    if (endpoint->guard == FOR_READERS || endpoint->guard == FOR_KEYS) {
        TRY(path_parse(op, request->target, &path));
        TRY(check_signature(op, router, request, &path, endpoint->guard == FOR_KEYS, who));
    }
    if (who->kind == AUTH_BY_TOKEN) /* it is for resources only */
        TRY(op_fail(op, ST_FORBIDDEN, "A resource token cannot serve this request."));
    if (who->kind == AUTH_BY_PRINCIPAL)
        TRY(role_refuse(op, request));
out:
    return st;
}

static void audit_endpoint(struct router *router, struct exchange *exchange, const struct endpoint *endpoint,
                           const struct auth_who *who, enum status st)
{
    audit_request(
        router->options.audit, &exchange->op,
        &(struct audit_event){ .request = &exchange->request,
                               .who = who,
                               .catalog = endpoint->outside ? NULL : router->options.service->catalog,
                               .operation = endpoint->path,
                               .is_definition = endpoint->guard == FOR_KEYS,
                               .status = exchange->answer.status,
                               .sub_status = st == ST_OK ? 0 : error_row(st)->sub });
}

static enum status answer_endpoint(struct router *router, struct exchange *exchange,
                                   const struct endpoint *endpoint)
{
    struct auth_who who = { .kind = AUTH_BY_NOBODY };
    struct reply reply;
    enum status st;

    set_activity_id(&exchange->op, &exchange->request);
    reply_begin(&reply, &exchange->op, &exchange->answer);
    st = prepare_endpoint(router, exchange, endpoint, &who);
    if (st == ST_OK && endpoint->waits && !exchange->op.may_block)
        return op_may_take_long(&exchange->op); /* strangers take no thread of the pool */
    if (st == ST_OK)
        st = endpoint->run(&router->options, router->metrics, exchange);
    if (st != ST_OK)
        reply_finish(&reply, st);
    audit_endpoint(router, exchange, endpoint, &who, st);
    return ST_OK;
}

/* Whether the operation has ended without writing anything. */
static bool wrote_nothing(const struct routed *routed, enum status st)
{
    if (st == ST_WOULD_BLOCK || st == ST_PENDING || st == ST_AMBIGUOUS)
        return false;
    return st != ST_OK || !route_writes(routed->route);
}

/* Another process has put another container in the place of the operation's. Nothing was written. */
static bool is_overtaken(const struct routed *routed, enum status st)
{
    struct catalog *catalog = routed->call.service->catalog;
    const struct container *was = routed->call.container;
    struct database *database;
    struct container *now = NULL;
    bool is_another, is_renamed;

    if (!routed->is_prepared || !catalog_is_shared(catalog))
        return false;
    if (!was || routed->path.count < 4 || !wrote_nothing(routed, st))
        return false;
    is_renamed = container_is_renamed(was);
    if (st != ST_OWNER_NOT_FOUND && !is_renamed)
        return false;
    database = catalog_find_database(catalog, routed->path.segment[1]);
    if (database)
        now = catalog_find_container(catalog, database, routed->path.segment[3]);
    is_another = now && (is_renamed || !rid_equal(&now->rid, &was->rid));
    container_release(now);
    database_release(database);
    return is_another;
}

static void begin_anew(struct exchange *exchange, struct routed *routed)
{
    routed_release_owners(&routed->call);
    routed->call.pays = (struct range_ids){ 0 }; /* which are the other container's */
    routed->is_prepared = false;
    routed->call.resume = NULL;
    begin_reply(exchange, routed);
}

/* Too many queries or scripts are waiting, or too much of everything. */
static enum status refuse(struct op *op, enum exchange_class class)
{
    if (class != CLASS_QUICK)
        return op_fail(op, ST_TOO_MANY_REQUESTS,
                       "Request rate is large: too many %s are under way. Please retry after sometime.",
                       class == CLASS_SCANS ? "queries" : "scripts");
    return op_fail(op, ST_UNAVAILABLE, "The server is overloaded.");
}

/* What was begun goes on while memory is short; nothing else is. */
static enum status prepare_to_run(struct router *router, struct exchange *exchange, struct routed *routed)
{
    if (exchange->refused)
        return refuse(&exchange->op, exchange->class);
    if (routed->is_prepared)
        return ST_OK;
    if (!reserve_is_whole())
        return op_fail_as(&exchange->op, ST_NO_MEMORY);
    return prepare(router, exchange, routed);
}

static enum status attempt(struct router *router, struct exchange *exchange, struct routed *routed)
{
    enum status st = prepare_to_run(router, exchange, routed);

    return st == ST_OK ? routed_run(exchange, routed) : st;
}

/* ---- the gate ---- */

/* Whose state is set has passed it: it is set while the request is inside. */
static enum status pass_gate(struct router *router, struct exchange *exchange)
{
    if (exchange->state || !router->options.gate)
        return ST_OK;
    return gate_enter(router->options.gate, &exchange->op);
}

static void leave_gate(struct router *router)
{
    if (router->options.gate)
        gate_leave(router->options.gate);
}

static enum status handle_endpoint(struct router *router, struct exchange *exchange,
                                   const struct endpoint *endpoint)
{
    enum status st;

    if (endpoint->outside)
        return answer_endpoint(router, exchange, endpoint);
    st = pass_gate(router, exchange);
    if (st != ST_OK)
        return st;
    exchange->state = exchange;
    st = answer_endpoint(router, exchange, endpoint);
    if (st == ST_OK)
        leave_gate(router);
    return st;
}

/* One that waited at the gate, or is called first, has no state. */
static struct routed *routed_of(struct router *router, struct exchange *exchange)
{
    return exchange->state ? exchange->state : begin(router, exchange);
}

enum status route_handle(void *context, struct exchange *exchange)
{
    struct router *router = context;
    const struct endpoint *endpoint = endpoint_find(&router->options, &exchange->request);
    bool again = exchange->op.may_block || exchange->resumed; /* a loop thread has begun the request */
    struct routed *routed;
    enum status st;

    if (exchange->request.method == METHOD_OPTIONS)
        return answer_preflight(router, exchange);
    if (!again)
        exchange->state = NULL;
    if (endpoint)
        return handle_endpoint(router, exchange, endpoint);
    st = pass_gate(router, exchange);
    if (st != ST_OK)
        return st;
    if (again)
        op_renew_time(&exchange->op);
    routed = routed_of(router, exchange);
    begin_reply(exchange, routed);
    st = attempt(router, exchange, routed);
    if (is_overtaken(routed, st)) {
        begin_anew(exchange, routed);
        st = attempt(router, exchange, routed);
    }
    if (st == ST_WOULD_BLOCK || st == ST_PENDING)
        return st;
    finish(router, exchange, routed, st);
    leave_gate(router);
    return ST_OK;
}

/* --- whether a request may send its body --- */

/*
 * A token's rights are looked at here only if the catalog may be asked and nothing of it is in doubt: otherwise it is done
 * when the request may wait.
 */
static enum status admit_operation(struct router *router, struct exchange *exchange, struct routed *routed)
{
    struct op *op = &exchange->op;
    enum status st;

    TRY(let_in(router, exchange, routed));
    if (routed->who.kind == AUTH_BY_KEY || routed->is_outside || routed_settle_catalog(op, routed) != ST_OK)
        goto out;
    if (routed_find_known_owners(op, routed) != ST_OK && catalog_is_shared(router->options.service->catalog))
        goto out; /* another process may have made it */
    st = check_rights(op, router, routed);
out:
    return st == ST_WOULD_BLOCK ? ST_OK : st; /* then it is told later */
}

/* Those that need no key need no body either. */
static bool admit_to_endpoint(struct router *router, struct exchange *exchange,
                              const struct endpoint *endpoint)
{
    struct auth_who who = { 0 };
    struct reply reply;
    enum status st;

    set_activity_id(&exchange->op, &exchange->request);
    reply_begin(&reply, &exchange->op, &exchange->answer);
    st = endpoint->guard == FOR_KEYS ? prepare_endpoint(router, exchange, endpoint, &who)
                                     : op_fail_as(&exchange->op, ST_TOO_LARGE);
    if (st == ST_OK)
        return true;
    reply_finish(&reply, st);
    audit_endpoint(router, exchange, endpoint, &who, st);
    return false;
}

bool route_admit(void *context, struct exchange *exchange)
{
    struct router *router = context;
    const struct endpoint *endpoint = endpoint_find(&router->options, &exchange->request);
    struct gate *gate = router->options.gate;
    struct routed *routed;
    enum status st;

    if (exchange->request.method == METHOD_OPTIONS) {
        st = answer_preflight(router, exchange);
        assert(st == ST_OK);
        return false;
    }
    if (endpoint)
        return admit_to_endpoint(router, exchange, endpoint);
    routed = begin(router, exchange);
    routed->is_outside = gate && !gate_try_enter(gate);
    begin_reply(exchange, routed);
    st = admit_operation(router, exchange, routed);
    if (st != ST_OK)
        finish(router, exchange, routed, st);
    else
        routed_release_owners(&routed->call);
    if (gate && !routed->is_outside)
        gate_leave(gate);
    exchange->state = NULL;
    return st == ST_OK;
}
