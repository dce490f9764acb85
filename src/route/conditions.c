/* src/route/conditions.c - what a request's headers say of how it is meant: it is obeyed, or refused. */
#include "resource/form.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "route/routed.h"
#include "route/table.h"

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
static enum status check_version(struct op *op, const struct call *call)
{
    enum { OLDEST = 20140821, FIRST_GENERAL = 20150408, LAST = 99991231 };
    struct slice header = slice_trim(call->request->header[HEADER_VERSION]);
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
static enum status check_as_of(struct op *op, const struct routed *routed)
{
    const struct request *request = routed->call.request;
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

enum status routed_check_headers(struct op *op, const struct routed *routed)
{
    const struct request *request = routed->call.request;
    enum status st;

    TRY(check_version(op, &routed->call));
    TRY(check_consistency(op, routed->call.service, request));
    TRY(check_indexing_directive(op, request));
    TRY(form_check(op, request));
    TRY(check_content_encoding(op, request));
    TRY(check_as_of(op, routed));
out:
    return st;
}

enum status routed_check_claims(struct op *op, const struct routed *routed)
{
    enum status st;

    TRY(check_known_container(op, &routed->call));
    TRY(check_intended_container(op, &routed->call));
    TRY(check_session_token(op, routed));
out:
    return st;
}
