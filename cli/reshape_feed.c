/* cli/reshape_feed.c - pages of a container's change feed, of all ranges together, and moments of it. */
#include <string.h>

#include "reshape_private.h"

/*
 * Of the whole container at once, which an Orrery server gives. With every change comes what the item was before.
 */
orrery_status feed_read(struct reshape *reshape, const struct text *link, enum feed feed, const char *where,
                        const char *until, orrery_response **response)
{
    static const char *const names[] = {
        [FEED_LATEST] = "A-IM: Incremental Feed", [FEED_ALL] = "A-IM: Full-Fidelity Feed"
    };
    struct text docs = { 0 }, end = { 0 };
    const char *headers[] = { names[feed], "x-orrery-previous: true", "x-ms-max-item-count: 500", NULL,
                              NULL };
    orrery_options options = { .size = sizeof(options),
                               .if_none_match = *where ? where : NULL,
                               .headers = headers };
    orrery_status status;

    text_printf(&docs, "%s/docs", text_of(link));
    text_printf(&end, "x-orrery-until: %s", until ? until : "");
    headers[3] = until ? text_of(&end) : NULL;
    status = orrery_read(reshape->cli->client, text_of(&docs), &options, response);
    text_free(&docs);
    text_free(&end);
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    return status;
}

void feed_place(struct text *place, const char *etag)
{
    etag += *etag == '"';
    text_empty(place);
    text_add(place, etag, strcspn(etag, "\""));
}

bool feed_now(struct reshape *reshape, const struct text *link, enum feed feed, struct text *moment)
{
    orrery_response *response = NULL;
    bool good = !orrery_failed(feed_read(reshape, link, feed, "*", NULL, &response));

    if (good)
        feed_place(moment, orrery_response_etag(response));
    orrery_response_free(response);
    return good;
}

bool feed_is_several(const struct text *moment)
{
    return strchr(text_of(moment), ',') != NULL;
}
