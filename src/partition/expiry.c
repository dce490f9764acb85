/* src/partition/expiry.c - when an item's time to live is over. */
#include "partition/expiry.h"

/* A record that a transaction has written and not committed has LSN 0 and no time: it has not begun to age. */
int64_t item_expires_ms(const struct container *container, const struct record *item)
{
    int32_t seconds = item->ttl_seconds == RECORD_TTL_NONE ? container->default_ttl : item->ttl_seconds;

    if (container->default_ttl == TTL_OFF || seconds == TTL_NEVER || item->lsn == 0)
        return INT64_MAX;
    return item->ts_ms + 1000 * (int64_t)seconds;
}
