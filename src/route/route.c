/* src/route/route.c - the steps of a request, in order. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/reserve.h"
#include "resource/form.h"
#include "resource/heat.h"
#include "resource/reshape.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/throughput.h"
#include "route/endpoints.h"
#include "route/grant.h"
#include "route/metrics.h"
#include "route/origin.h"
#include "route/path.h"
#include "route/record.h"
#include "route/role.h"
#include "route/route.h"
#include "route/table.h"

struct router {
    struct route_options options;
    struct route_metrics *metrics;
};

/* What has been found out about a request; kept while it waits for a pool thread. */
struct routed {
    const struct router *router;
    struct call call;
    struct reply reply;
    struct path path;
    struct auth_who who;
    const struct route *route; /* NULL when there is none */
    bool known_path;           /* another method would have a route */
    bool is_prepared;
    bool is_outside; /* of the gate: the service is not to be looked at */
};

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

static bool is_about_items(const struct path *path)
{
    return path->count > 4 && slice_is(path->segment[4], "docs");
}

/*
 * The error differs: a resource itself is missing, or the database, container or user above it is; of an item's, Direct mode
 * tells more. `depth` is how many segments lead to what is missing.
 */
static enum status missing(struct op *op, const struct path *path, size_t depth, bool is_direct)
{
    if (path->count == depth)
        return op_fail_as(op, ST_NOT_FOUND);
    return op_fail_as(op, is_about_items(path) && !is_direct ? ST_ITEM_OWNER_NOT_FOUND : ST_OWNER_NOT_FOUND);
}

/* The user whose permissions the path is about. */
static enum status find_user(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;

    assert(call->database);  /* find_owners() comes here with it */
    assert(path->count > 4); /* which the shapes with a user have */
    call->user =
        catalog_find_child(call->service->catalog, RID_TYPE_USER, &call->database->rid, path->segment[3]);
    return call->user ? ST_OK : missing(op, path, 4, call->request->direct);
}

static enum status find_container(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;
    struct rid rid;

    assert(call->database);
    assert(path->count > 3); /* which the shapes with a container have */
    call->container = catalog_find_container(call->service->catalog, call->database, path->segment[3]);
    if (!call->container)
        return missing(op, path, 4, call->request->direct);
    call->by_rid = rid_parse(path->segment[3], &rid) && rid_equal(&rid, &call->container->rid);
    if (path->count > 6)
        call->item = path->segment[5];
    return ST_OK;
}

/* The rid of media contains the rids of its database and its container. If they are not there, nothing is found. */
static void find_media_owners(struct op *op, struct call *call)
{
    struct buf database, container;
    struct rid rid;

    if (!rid_parse(call->id, &rid) || rid_type(&rid) != RID_TYPE_ATTACHMENT)
        return;
    buf_init(&database, &op->arena);
    rid.size = RID_DATABASE_BYTES;
    rid_print(&database, &rid);
    buf_init(&container, &op->arena);
    rid.size = RID_CONTAINER_BYTES;
    rid_print(&container, &rid);
    call->database = catalog_find_database(call->service->catalog, buf_as_slice(&database));
    if (call->database)
        call->container =
            catalog_find_container(call->service->catalog, call->database, buf_as_slice(&container));
    if (call->container && !rid_equal(&call->container->rid, &rid)) { /* an id that looks like it */
        container_release(call->container);
        call->container = NULL;
    }
}

/* The container whose addresses are asked for, by its rid. It may be gone. */
static enum status find_addressed(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;
    struct path owner;
    enum status st;

    call->id = path->range_ids;
    if (!slice_is(path->type, "docs"))
        return ST_OK;
    TRY(path_parse(op, path->resolve_for, &owner));
    call->database = catalog_find_database(call->service->catalog, owner.segment[1]);
    if (call->database)
        call->container = catalog_find_container(call->service->catalog, call->database, owner.segment[3]);
    if (!call->container)
        st = op_fail_as(op, ST_OWNER_NOT_FOUND);
out:
    return st;
}

/*
 * Settles a change of the catalog that is in doubt. A write must wait for it. A read goes on with what is known
 * while the store cannot write; that it cannot may turn out only here.
 */
static enum status settle_catalog(struct op *op, const struct routed *routed)
{
    struct catalog *catalog = routed->call.service->catalog;
    bool writes = route_writes(routed->route);
    enum status st;

    if (!writes && !catalog_is_writable(catalog))
        return ST_OK;
    st = catalog_settle(op, catalog);
    return writes || st == ST_WOULD_BLOCK ? st : ST_OK;
}

/* What a request about definitions finds is as new as its answer. Of items the store says when a definition is old. */
static enum status catch_up(struct op *op, const struct routed *routed)
{
    if (routed->route->flags & OF_ITEMS)
        return ST_OK;
    return catalog_catch_up(op, routed->call.service->catalog);
}

/* What the route's shape names, as far as it is known here. */
static enum status find_known_owners(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    unsigned owners = route_owners(routed->route);
    struct call *call = &routed->call;
    enum status st = ST_OK;

    call->type = path->type;
    if (path->count && path->count % 2 == 0) {
        call->id = path->segment[path->count - 1];
        assert(call->id.size >
               0); /* path_parse() leaves no slash at the end, and decodes nothing to nothing */
    }
    if (slice_is(path->shape, "media/x"))
        find_media_owners(op, call);
    if (routed->route->run == address_list)
        return find_addressed(op, routed);
    if (!(owners & OWNER_DATABASE))
        return ST_OK;
    assert(path->count > 1);
    call->database = catalog_find_database(call->service->catalog, path->segment[1]);
    if (!call->database)
        return missing(op, path, 2, call->request->direct);
    if (owners & OWNER_CONTAINER)
        TRY(find_container(op, routed));
    if (owners & OWNER_USER)
        TRY(find_user(op, routed));
    route_assert_owners(routed->route, call);
out:
    return st;
}

static void release_owners(struct call *call)
{
    child_release(call->user);
    container_release(call->container);
    database_release(call->database);
    call->user = NULL;
    call->container = NULL;
    call->database = NULL;
}

/* Another process may have ended the hold meanwhile, and have put another container in its place. */
static bool may_have_another_name(struct op *op, const struct call *call)
{
    return call->container && catalog_is_shared(call->service->catalog) && hold_is_on(op, call->container);
}

/*
 * Looks up what the route's shape names. ST_OK means that all of it is there, which route_assert_owners() repeats. What is
 * not there may have been made by another process: then it is looked for again.
 */
static enum status find_owners(struct op *op, struct routed *routed)
{
    enum status st;

    release_owners(&routed->call); /* it may have come so far before, and had to wait then */
    st = find_known_owners(op, routed);
    if (st == ST_OK && !may_have_another_name(op, &routed->call))
        goto out;
    TRY(catalog_catch_up(op, routed->call.service->catalog));
    release_owners(&routed->call);
    TRY(find_known_owners(op, routed));
out:
    return st;
}

static enum status check_consistency(struct op *op, const struct service *service,
                                     const struct request *request)
{
    struct slice header = slice_trim(request->header[HEADER_CONSISTENCY_LEVEL]);
    enum consistency level;

    if (!header.data || header.size == 0)
        return ST_OK;
    if (!consistency_parse(header, &level))
        return op_fail(op, ST_BAD_HEADER,
                       "Value '%.*s' specified for the header 'x-ms-consistency-level' is invalid. ",
                       header.size > 100 ? 100 : (int)header.size, header.data);
    if (level >= service->consistency)
        return ST_OK;
    return op_fail(op, ST_BAD_HEADER,
                   "ConsistencyLevel %s specified in the request is invalid when service is configured with "
                   "consistency level %s. Ensure the request consistency level is not stronger than the "
                   "service consistency level.",
                   consistency_names[level], consistency_names[service->consistency]);
}

/* A client may send the rid of the container that it means. It is told when another one has that name by now. */
static enum status check_intended_container(struct op *op, const struct call *call)
{
    struct slice header = slice_trim(call->request->header[HEADER_INTENDED_CONTAINER]);
    struct rid intended;

    if (!header.data || header.size == 0 || !call->container)
        return ST_OK;
    if (rid_parse(header, &intended) && rid_equal(&intended, &call->container->rid))
        return ST_OK;
    return op_fail_as(op, ST_CONTAINER_MISMATCH);
}

/* A client in Direct mode sends requests by what it knows of the container of that name. It looks again when that is old. */
static enum status check_known_container(struct op *op, const struct call *call)
{
    struct slice header = call->request->header[HEADER_CONTAINER_RID];
    struct rid known;

    if (!call->request->direct || !call->container || !header.data)
        return ST_OK;
    if (rid_parse(header, &known) && rid_equal(&known, &call->container->rid))
        return ST_OK;
    return op_fail_as(op, ST_NAME_STALE);
}

/* Reads look into the token and refuse it by themselves; writes need only that it is one. */
static enum status check_session_token(struct op *op, const struct routed *routed)
{
    struct slice header = routed->call.request->header[HEADER_SESSION_TOKEN];

    if (!header.data || !(routed->route->flags & OF_ITEMS) || !route_writes(routed->route))
        return ST_OK;
    return session_token_check(op, header);
}

static enum status check_indexing_directive(struct op *op, const struct request *request)
{
    static const char *const known[] = { "Default", "Include", "Exclude", "0", "1", "2" };
    struct slice directive = slice_trim(request->header[HEADER_INDEXING_DIRECTIVE]);

    if (!directive.data || directive.size == 0)
        return ST_OK;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_is_nocase(directive, known[i]))
            return ST_OK;
    return op_fail(op, ST_BAD_HEADER,
                   "Value '%.*s' specified for the header 'x-ms-indexing-directive' is invalid. ",
                   directive.size > 100 ? 100 : (int)directive.size, directive.data);
}

/*
 * Versions of the protocol are dates. The service knows a list of them; a date since its first general one is let in, so
 * that a client of tomorrow is not refused for its date alone.
 */
static enum status check_version(struct op *op, const struct call *call, const struct request *request)
{
    enum { OLDEST = 20140821, FIRST_GENERAL = 20150408, LAST = 99991231 };
    struct slice header = slice_trim(request->header[HEADER_VERSION]);
    uint64_t version = call_version(call);

    if (!header.data || header.size == 0 ||
        (header.size == 10 && (version == OLDEST || (version >= FIRST_GENERAL && version <= LAST))))
        return ST_OK;
    return op_fail(op, ST_BAD_HEADER,
                   "Invalid API version. Ensure a valid x-ms-version header value is passed.");
}

/*
 * What was is read. An operation that would not know of the header is refused, because its client means another moment. The plan
 * of a query is the same at every moment.
 */
static enum status check_as_of(struct op *op, const struct routed *routed, const struct request *request)
{
    const struct route *route = routed->route;

    if (!request->header[HEADER_AS_OF].data ||
        ((route->run == document_read || route->run == document_query || route->run == document_plan ||
          route->run == document_list) &&
         !request->header[HEADER_A_IM].data))
        return ST_OK;
    return op_fail(op, ST_BAD_HEADER,
                   "The header 'x-orrery-as-of' goes with reads, lists and queries of items only.");
}

/* The server unpacks nothing. A packed body would be stored as something else than the client meant. */
static enum status check_content_encoding(struct op *op, const struct request *request)
{
    struct slice encoding = slice_trim(request->header[HEADER_CONTENT_ENCODING]);

    if (!encoding.data || encoding.size == 0 || slice_is_nocase(encoding, "identity"))
        return ST_OK;
    return op_fail(op, ST_BAD_HEADER, "Value '%.*s' specified for the header 'content-encoding' is invalid. ",
                   encoding.size > 100 ? 100 : (int)encoding.size, encoding.data);
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
    const struct request *request = &exchange->request;
    struct op *op = &exchange->op;
    enum status st, owners;

    assert(!routed->is_prepared);
    TRY(let_in(router, exchange, routed));
    TRY(check_version(op, &routed->call, request));
    TRY(check_consistency(op, router->options.service, request));
    TRY(check_indexing_directive(op, request));
    TRY(form_check(op, request));
    TRY(check_content_encoding(op, request));
    TRY(check_as_of(op, routed, request));
    exchange->class = route_class(routed->route, request);
    TRY(settle_catalog(op, routed));
    TRY(catch_up(op, routed));
    owners = find_owners(op, routed);
    if (owners == ST_WOULD_BLOCK)
        TRY(owners);
    TRY(check_rights(op, router, routed)); /* before the owners: nobody is told what there is elsewhere */
    TRY(owners);
    TRY(check_known_container(op, &routed->call));
    TRY(check_intended_container(op, &routed->call));
    TRY(check_session_token(op, routed));
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
    release_owners(&routed->call);
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

    st = endpoint->waits ? op_may_take_long(&exchange->op) : ST_OK;
    if (st != ST_OK)
        return st;
    set_activity_id(&exchange->op, &exchange->request);
    reply_begin(&reply, &exchange->op, &exchange->answer);
    st = prepare_endpoint(router, exchange, endpoint, &who);
    if (st == ST_OK)
        st = endpoint->run(&router->options, router->metrics, exchange);
    if (st != ST_OK)
        reply_finish(&reply, st);
    audit_endpoint(router, exchange, endpoint, &who, st);
    return ST_OK;
}

/* Whether a loop thread may try: what takes long, or waits for a script, would delay other connections. */
static bool may_run_inline(const struct exchange *exchange, const struct route *route)
{
    size_t bytes_max = route->flags & READS ? INLINE_QUERY_BYTES_MAX : INLINE_ITEM_BYTES_MAX;

    return route->flags & RUN_INLINE && exchange->class != CLASS_SCRIPTS &&
           exchange->request.body.size <= bytes_max;
}

/* Nothing is left of what a thread may have begun in vain: it is not charged, not told of, and takes no memory. */
static void begin_operation(struct op *op)
{
    op->work = (struct work){ 0 };
    op->spent = (struct spent){ 0 };
    op->error = NULL;
    op->error_info = (struct slice){ 0 };
    record_again(op);
}

static enum status run_operation(struct op *op, struct routed *routed)
{
    struct op_mark mark = op_mark(op);
    bool was_refused = op->claim.refused;
    enum status st;

    begin_operation(op);
    st = routed->route->run(op, &routed->call, &routed->reply);
    if (st == ST_WOULD_BLOCK) {
        op_rewind(op, mark);
        op->claim.refused = was_refused;
        begin_operation(op);
    }
    return st;
}

/* Runs the operation: at once if a loop thread may, else on a pool thread. After its commit, only its end is run. */
static enum status run(struct exchange *exchange, struct routed *routed)
{
    assert(routed->is_prepared);
    assert(routed->route);
    assert(routed->route->run);
    if (routed->call.resume)
        return routed->call.resume(&exchange->op, &routed->call, &routed->reply);
    if (!exchange->op.may_block && !may_run_inline(exchange, routed->route))
        return ST_WOULD_BLOCK;
    route_assert_owners(routed->route, &routed->call);
    return run_operation(&exchange->op, routed);
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
    release_owners(&routed->call);
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

    return st == ST_OK ? run(exchange, routed) : st;
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
    if (routed->who.kind == AUTH_BY_KEY || routed->is_outside || settle_catalog(op, routed) != ST_OK)
        goto out;
    if (find_known_owners(op, routed) != ST_OK && catalog_is_shared(router->options.service->catalog))
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
        release_owners(&routed->call);
    if (gate && !routed->is_outside)
        gate_leave(gate);
    exchange->state = NULL;
    return st == ST_OK;
}
