/* src/resource/usage.c - how much of a container is in use. */
#include "base/limits.h"
#include "resource/usage.h"

/* Nothing but the disk limits them: -1, as the service says for a number of documents. */
static void print_items(const struct container *container, struct buf *quota, struct buf *usage)
{
    struct bucket_usage used;
    unsigned long long kb;

    if (!bucket_usage(container->bucket, &used))
        return;
    kb = (used.bytes + 1023) / 1024;
    buf_text(quota, "documentsSize=-1;documentsCount=-1;collectionSize=-1;");
    buf_printf(usage, "documentsSize=%llu;documentsCount=%llu;collectionSize=%llu;", kb,
               (unsigned long long)used.documents, kb);
}

static void print_scripts(const struct call *call, struct buf *quota, struct buf *usage)
{
    static const struct {
        const char *name;
        enum rid_type type;
    } counted[] = { { "functions", RID_TYPE_UDF },
                    { "storedProcedures", RID_TYPE_PROCEDURE },
                    { "triggers", RID_TYPE_TRIGGER } };

    for (size_t i = 0; i < 3; i++) {
        size_t count = catalog_count_children(call->service->catalog, counted[i].type, &call->container->rid);

        buf_printf(quota, "%s=%d;", counted[i].name, CATALOG_CHILDREN_MAX);
        buf_printf(usage, "%s=%zu;", counted[i].name, count);
    }
}

static void reply_both(struct reply *reply, const struct call *call, bool scripts)
{
    struct buf quota, usage;

    buf_init(&quota, &reply->op->arena);
    buf_init(&usage, &reply->op->arena);
    print_items(call->container, &quota, &usage);
    if (scripts)
        print_scripts(call, &quota, &usage);
    if (quota.size == 0)
        return;
    reply_header(reply, "x-ms-resource-quota", buf_as_slice(&quota));
    reply_header(reply, "x-ms-resource-usage", buf_as_slice(&usage));
}

void usage_of_container(struct reply *reply, const struct call *call)
{
    reply_both(reply, call, true);
}

void usage_of_items(struct reply *reply, const struct call *call)
{
    reply_both(reply, call, false);
}
