/* src/resource/figures.c - how many items each range of a container has, and how large they are. */
#include "catalog/ranges.h"
#include "partition/scan.h"
#include "resource/figures.h"

/* So much is read to count exactly: some tens of milliseconds. */
enum { COUNTED_BYTES_MAX = 32 << 20 };

struct range_figures {
    uint64_t documents, bytes;
};

/* `ended` is false when there is more than is counted. */
static enum status count_items(struct op *op, const struct container *container,
                               struct range_figures *figures, bool *ended)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true;
    enum status st;

    TRY(partition_scan_open(op, container, &everything, &scan));
    scan.scanned_bytes_max = COUNTED_BYTES_MAX;
    while (found) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        if (!found)
            break;
        figures[range_of_key(container, item.epk)].documents++;
        figures[range_of_key(container, item.epk)].bytes += item.stored.size;
    }
    *ended = !scan.paused;
out:
    partition_scan_close(&scan);
    return st;
}

static void estimate(const struct container *container, struct range_figures *figures)
{
    struct bucket_usage used = { 0 };

    (void)container_usage(container, &used); /* a container that was never counted tells nothing */
    for (uint32_t i = 0; i < container->ranges.count; i++) {
        struct epk min, max;
        double share;

        range_bounds(container, i, &min, &max);
        share = epk_share(container->epk_version, &min, &max);
        figures[i].documents = (uint64_t)(share * (double)used.documents);
        figures[i].bytes = (uint64_t)(share * (double)used.bytes);
    }
}

/* The service names single keys from 1 GB on, which take a range of their own long before here. */
static void print_range(struct buf *out, uint32_t id, const struct range_figures *figures)
{
    buf_printf(out, "{\"id\":\"%u\",\"sizeInKB\":%llu,\"documentCount\":%llu,\"partitionKeys\":[]}", id,
               (unsigned long long)((figures->bytes + 1023) / 1024), (unsigned long long)figures->documents);
}

enum status figures_print(struct op *op, const struct container *container, struct buf *out)
{
    uint32_t count = container->ranges.count;
    struct range_figures *figures = arena_alloc(&op->arena, count * sizeof(*figures));
    bool ended;
    enum status st;

    memset(figures, 0, count * sizeof(*figures));
    TRY(count_items(op, container, figures, &ended));
    if (!ended)
        estimate(container, figures);
    buf_byte(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_byte(out, ',');
        print_range(out, container->ranges.id[i], &figures[i]);
    }
    buf_byte(out, ']');
out:
    return st;
}
