/* src/resource/usage.c - how much of a container is in use. */
#include <assert.h>

#include "base/limits.h"
#include "resource/usage.h"

/* Only the disk limits items: -1, as the service says it for the number of documents. Of a collection it says 10 GB. */
#define ITEMS_QUOTA "documentsSize=-1;documentsCount=-1;collectionSize=10485760;"

/* The text before the first number. */
#define ITEMS_USAGE "documentsSize="

/* Every answer about items has this header. Printing it with printf would cost more than the rest of the head. */
static void print_items(const struct bucket_usage *used, struct buf *usage)
{
    uint64_t kb = (used->bytes + 1023) / 1024;

    buf_u64(usage, kb);
    buf_text(usage, ";documentsCount=");
    buf_u64(usage, used->documents);
    buf_text(usage, ";collectionSize=");
    buf_u64(usage, kb);
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

void usage_of_container(struct reply *reply, const struct call *call)
{
    struct bucket_usage used;
    struct buf quota, usage;

    assert(call->container);
    buf_init(&quota, &reply->op->arena);
    buf_init(&usage, &reply->op->arena);
    if (container_usage(call->container, &used)) {
        buf_text(&quota, ITEMS_QUOTA);
        buf_text(&usage, ITEMS_USAGE);
        print_items(&used, &usage);
        buf_byte(&usage, ';');
    }
    print_scripts(call, &quota, &usage);
    reply_header(reply, "x-ms-resource-quota", buf_as_slice(&quota));
    reply_header(reply, "x-ms-resource-usage", buf_as_slice(&usage));
}

void usage_print_values(struct buf *out, const struct container *container)
{
    struct bucket_usage used;

    buf_text(out, "\"values\":{\"MaxResourceQuota\":\"" ITEMS_QUOTA "\",\"ResourceQuotaCurrentUsage\":\"");
    if (container_usage(container, &used)) {
        buf_text(out, ITEMS_USAGE);
        print_items(&used, out);
        buf_byte(out, ';');
    }
    buf_text(out, "\"}");
}

void usage_of_items(struct reply *reply, const struct call *call)
{
    struct buf *head = &reply->answer->head;
    struct bucket_usage used;

    if (!container_usage(call->container, &used))
        return;
    buf_text(head, "x-ms-resource-quota: " ITEMS_QUOTA "\r\nx-ms-resource-usage: " ITEMS_USAGE);
    print_items(&used, head);
    buf_text(head, ";\r\n");
}
