/* cli/reshape_feed.c - pages of a container's change feed, of all ranges together, in the order of commits. */
#include <stdlib.h>

#include "reshape_private.h"

uint64_t feed_lsn(const struct text *where)
{
    const char *etag = text_of(where);

    return strtoull(etag + (*etag == '"'), NULL, 10);
}

/*
 * Of the whole container at once, which an Orrery server gives: its LSNs are the container's, so a page ends at one LSN. With
 * every change comes what the item was before.
 */
orrery_status feed_read(struct reshape *reshape, const struct source *source, enum feed feed,
                        const struct text *where, orrery_response **response)
{
    static const char *const headers[][4] = {
        [FEED_LATEST] = { "A-IM: Incremental Feed", "x-ms-max-item-count: 500" },
        [FEED_ALL] = { "A-IM: Full-Fidelity Feed", "x-orrery-previous: true", "x-ms-max-item-count: 500" },
    };
    orrery_options options = { .size = sizeof(options),
                               .if_none_match = where->size ? text_of(where) : NULL,
                               .headers = headers[feed] };
    struct text link = { 0 };
    orrery_status status;

    text_printf(&link, "%s/docs", text_of(&source->link));
    status = orrery_read(reshape->cli->client, text_of(&link), &options, response);
    text_free(&link);
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    return status;
}
