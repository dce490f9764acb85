/* src/route/record.c - from a request to what the record of the workload is told. */
#include "catalog/catalog.h"
#include "resource/resource.h"
#include "route/record.h"
#include "workload/workload.h"

void record_begin(struct op *op, const struct service *service)
{
    op->noted = NULL;
    if (!workload_records(service->workload))
        return;
    op->noted = arena_alloc(&op->arena, sizeof(*op->noted));
    noted_init(op->noted);
}

void record_again(struct op *op)
{
    if (op->noted)
        noted_begin(op->noted);
}

/* Operations of other routes are not recorded: they are about definitions, or about several containers. */
static bool kind_of(const struct route *route, const struct request *request, enum work_kind *kind)
{
    static const struct {
        operation *run;
        enum work_kind kind;
    } kinds[] = {
        { document_read, WORK_READ },       { document_create, WORK_CREATE },
        { document_query, WORK_QUERY },     { document_upsert, WORK_UPSERT },
        { document_replace, WORK_REPLACE }, { document_patch, WORK_PATCH },
        { document_delete, WORK_DELETE },   { document_batch, WORK_UPSERT },
        { document_list, WORK_LIST },       { procedure_execute, WORK_SCRIPT },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (route && route->run == kinds[i].run) {
            *kind = kinds[i].run == document_list && request->header[HEADER_A_IM].data ? WORK_FEED
                                                                                       : kinds[i].kind;
            return true;
        }
    return false;
}

void record_request(struct exchange *exchange, const struct call *call, const struct reply *reply,
                    const struct route *route, struct request_end end)
{
    struct op *op = &exchange->op;
    struct workload_told told = { .noted = op->noted,
                                  .failed = end.status != ST_OK && end.status != ST_NOT_MODIFIED,
                                  .charge = end.charge,
                                  .bytes = exchange->request.body.size + exchange->answer.body.size,
                                  .scanned = op->work.documents_scanned,
                                  .took_us = end.took_us,
                                  .at_ms = (end.began_us + end.took_us) / 1000 };

    if (route && end.status == ST_OK && (route->run == container_delete || route->run == database_delete))
        workload_drop(call->service->workload,
                      route->run == container_delete ? &call->container->rid : &call->database->rid);
    if (route && route->run == document_batch && op->noted->count == 0)
        route = NULL; /* nothing came of it */
    if (call->container && kind_of(route, &exchange->request, &told.kind)) {
        told.container = &call->container->rid;
        told.link = call->container->link;
        told.ranges = reply->about.ranges.count;
        told.ranges_there = call->container->ranges.count;
        told.id = told.kind == WORK_READ && !call->by_rid ? call->id : (struct slice){ 0 };
        workload_note(call->service->workload, &told);
    }
    noted_end(op->noted);
    op->noted = NULL;
}
