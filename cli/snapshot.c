/* cli/snapshot.c - the items of a container as of one LSN, of two feeds. export.h says why it is right. */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "text.h"

/* A page of the feed of latest versions. */
struct page {
    char range[16];
    uint64_t last_lsn; /* of its rows */
    uint64_t as_of;    /* the LSN at which it was read */
};

/* Where ranges have LSNs of their own: that of one of them. */
struct moment {
    char range[16];
    uint64_t lsn;
};

struct snapshot {
    const struct cli *cli;
    const char *link;
    snapshot_item *take;
    void *context;
    bool live;
    uint64_t lsn; /* of all ranges, if there are no moments */
    struct moment *moment;
    size_t moment_count;
    struct page *page;
    size_t page_count, page_room;
    struct text etag; /* of the page that rows come from now */
    double charge;
};

/* ---- what a page says of itself */

/* "0:-1#17", "0:17": the number at the end of a session token. */
static uint64_t lsn_of(const orrery_response *response)
{
    const char *token = response ? orrery_response_session(response) : NULL;
    const char *at = token ? strrchr(token, ':') : NULL;
    const char *number = at ? strchr(at, '#') : NULL;

    return at ? strtoull((number ? number : at) + 1, NULL, 10) : 0;
}

static const char *range_of(const orrery_response *response)
{
    const char *range =
        response ? orrery_response_header(response, "x-ms-documentdb-partitionkeyrangeid") : NULL;

    return range ? range : "";
}

static void note_row(struct snapshot *snapshot, const orrery_query *query, uint64_t lsn)
{
    const orrery_response *response = orrery_query_response(query);
    const char *etag = response && orrery_response_etag(response) ? orrery_response_etag(response) : "";
    struct page *page;

    if (snapshot->page_count == 0 || strcmp(text_of(&snapshot->etag), etag) != 0 ||
        strcmp(snapshot->page[snapshot->page_count - 1].range, range_of(response)) != 0) {
        text_empty(&snapshot->etag);
        text_puts(&snapshot->etag, etag);
        if (snapshot->page_count == snapshot->page_room) {
            snapshot->page_room = snapshot->page_room ? snapshot->page_room * 2 : 64;
            snapshot->page = must_resize(snapshot->page, snapshot->page_room * sizeof(*page));
        }
        page = &snapshot->page[snapshot->page_count++];
        *page = (struct page){ .as_of = lsn_of(response) };
        snprintf(page->range, sizeof(page->range), "%s", range_of(response));
    }
    page = &snapshot->page[snapshot->page_count - 1];
    if (lsn > page->last_lsn)
        page->last_lsn = lsn;
}

/* Whether step 2 gave the version `before`, which was replaced or deleted at `lsn`. */
static bool was_given(const struct snapshot *snapshot, const char *range, uint64_t before, uint64_t lsn)
{
    for (size_t i = 0; i < snapshot->page_count; i++)
        if (strcmp(snapshot->page[i].range, range) == 0 && snapshot->page[i].last_lsn >= before)
            return snapshot->page[i].as_of < lsn;
    return false;
}

/* A page of one item tells it, or one without any. */
bool snapshot_lsn(const struct cli *cli, const char *link, uint64_t *lsn)
{
    orrery_options options = { .size = sizeof(options), .page_items = 1 };
    orrery_query *list = NULL;
    struct text feed = { 0 };
    orrery_status status;

    text_printf(&feed, "%s/docs", link);
    status = orrery_list_open(cli->client, text_of(&feed), NULL, &options, &list);
    if (!orrery_failed(status))
        status = orrery_query_step(list);
    if (orrery_failed(status))
        cli_tell(cli, status, NULL);
    else
        *lsn = lsn_of(orrery_query_response(list));
    orrery_query_close(list);
    text_free(&feed);
    return !orrery_failed(status);
}

/* ---- ranges */

/* The ids of the container's ranges, a blank behind each. */
static orrery_status read_ranges(const struct snapshot *snapshot, struct text *ids)
{
    orrery_query *list = NULL;
    struct text feed = { 0 };
    orrery_status status;

    text_printf(&feed, "%s/pkranges", snapshot->link);
    status = orrery_list_open(snapshot->cli->client, text_of(&feed), NULL, NULL, &list);
    while (!orrery_failed(status) && (status = orrery_query_step(list)) == ORRERY_ROW)
        text_printf(ids, "%s ", orrery_value_text(orrery_value_member(orrery_query_value(list), "id"), NULL));
    orrery_query_close(list);
    text_free(&feed);
    return status;
}

/* Whether all ranges count by one LSN, as those of one bucket do. Such a feed of all of them has one number. */
static bool has_one_lsn(const struct snapshot *snapshot)
{
    static const char *const headers[] = { "A-IM: Incremental Feed", NULL };
    orrery_options options = { .size = sizeof(options), .if_none_match = "*", .headers = headers };
    orrery_response *response = NULL;
    struct text feed = { 0 };
    const char *etag;
    bool has_one;

    text_printf(&feed, "%s/docs", snapshot->link);
    has_one = !orrery_failed(orrery_read(snapshot->cli->client, text_of(&feed), &options, &response));
    etag = has_one ? orrery_response_etag(response) : "";
    etag += *etag == '"';
    has_one = has_one && *etag && strspn(etag, "0123456789") == strcspn(etag, "\"");
    orrery_response_free(response);
    text_free(&feed);
    return has_one;
}

/* The LSN of a range as of now. */
static orrery_status read_moment(const struct snapshot *snapshot, struct moment *moment)
{
    struct text feed = { 0 }, range = { 0 };
    const char *headers[] = { NULL, "x-ms-max-item-count: 1", NULL };
    orrery_options options = { .size = sizeof(options), .headers = headers };
    orrery_response *response = NULL;
    orrery_status status;

    text_printf(&feed, "%s/docs", snapshot->link);
    text_printf(&range, "x-ms-documentdb-partitionkeyrangeid: %s", moment->range);
    headers[0] = text_of(&range);
    status = orrery_read(snapshot->cli->client, text_of(&feed), &options, &response);
    if (!orrery_failed(status))
        moment->lsn = lsn_of(response);
    orrery_response_free(response);
    text_free(&feed);
    text_free(&range);
    return status;
}

/* Of ranges that do not count together, each is as of an LSN of its own. The feed of all versions is open: it has what is later. */
static orrery_status read_moments(struct snapshot *snapshot, const char *ranges)
{
    orrery_status status = ORRERY_OK;

    while (!orrery_failed(status) && *ranges) {
        size_t size = strcspn(ranges, " ");
        struct moment *moment;

        snapshot->moment =
            must_resize(snapshot->moment, (snapshot->moment_count + 1) * sizeof(*snapshot->moment));
        moment = &snapshot->moment[snapshot->moment_count++];
        snprintf(moment->range, sizeof(moment->range), "%.*s", (int)size, ranges);
        status = read_moment(snapshot, moment);
        ranges += size + strspn(ranges + size, " ");
    }
    return status;
}

static uint64_t moment_of(const struct snapshot *snapshot, const char *range)
{
    for (size_t i = 0; i < snapshot->moment_count; i++)
        if (strcmp(snapshot->moment[i].range, range) == 0)
            return snapshot->moment[i].lsn;
    return snapshot->lsn;
}

/* ---- the steps */

static orrery_status open_at_now(struct snapshot *snapshot, const char *ranges, orrery_query **all)
{
    static const char *const headers[] = { "x-orrery-previous: true", NULL };
    orrery_options options = { .size = sizeof(options), .all_versions = 1, .no_wait = 1, .headers = headers };
    orrery_status status =
        orrery_changes_open(snapshot->cli->client, snapshot->link, NULL, ORRERY_FROM_NOW, 0, &options, all);

    while (status == ORRERY_OK ||
           status == ORRERY_ROW) /* rows: a range was changed while another was asked */
        status = cursor_step(snapshot->cli->client, *all);
    if (status == ORRERY_DONE && (!ranges[strcspn(ranges, " ") + 1] || has_one_lsn(snapshot)))
        snapshot->lsn = lsn_of(orrery_query_response(*all));
    else if (status == ORRERY_DONE)
        status = read_moments(snapshot, ranges);
    if (status == ORRERY_EBADREQUEST) {
        tell("this container does not keep what is needed to hold still; --live exports items as they are "
             "when they are read");
        return status;
    }
    return status;
}

static orrery_status read_latest(struct snapshot *snapshot)
{
    orrery_options options = { .size = sizeof(options), .no_wait = 1, .page_items = 1000 };
    orrery_query *query = NULL;
    orrery_status status = orrery_changes_open(snapshot->cli->client, snapshot->link, NULL,
                                               ORRERY_FROM_BEGINNING, 0, &options, &query);

    while (!orrery_failed(status) && (status = cursor_step(snapshot->cli->client, query)) == ORRERY_ROW) {
        uint64_t lsn = (uint64_t)orrery_value_int(orrery_value_member(orrery_query_value(query), "_lsn"));
        size_t size;
        const char *row = orrery_query_row(query, &size);

        note_row(snapshot, query, lsn);
        if (!snapshot->live && lsn > moment_of(snapshot, range_of(orrery_query_response(query))))
            continue;
        if (!snapshot->take(snapshot->context, row, size)) {
            status = ORRERY_ECALLBACK;
            break;
        }
    }
    snapshot->charge += query ? orrery_query_charge(query) : 0;
    orrery_query_close(query);
    return status;
}

/* One change since the LSN. */
static orrery_status take_change(struct snapshot *snapshot, orrery_query *all)
{
    orrery_value change = orrery_query_value(all), metadata = orrery_value_member(change, "metadata");
    orrery_value previous = orrery_value_member(change, "previous");
    uint64_t lsn = (uint64_t)orrery_value_int(orrery_value_member(metadata, "lsn"));
    uint64_t before = (uint64_t)orrery_value_int(orrery_value_member(metadata, "previousImageLSN"));
    const char *range = range_of(orrery_query_response(all));
    uint64_t moment = moment_of(snapshot, range);
    char *text = NULL;
    size_t size;
    bool good;

    if (lsn <= moment || before > moment ||
        orrery_value_equals(orrery_value_member(metadata, "operationType"), "create") ||
        was_given(snapshot, range, before, lsn))
        return ORRERY_OK;
    if (orrery_value_type(previous) != ORRERY_OBJECT ||
        orrery_value_print(previous, &text, &size) != ORRERY_OK) {
        tell("an item was changed meanwhile, and this server does not say what it was; --live exports items "
             "as they are");
        return ORRERY_ECALLBACK;
    }
    good = snapshot->take(snapshot->context, text, size);
    orrery_free(text);
    return good ? ORRERY_OK : ORRERY_ECALLBACK;
}

static orrery_status read_changes(struct snapshot *snapshot, orrery_query *all)
{
    orrery_status status = ORRERY_OK;

    while (status == ORRERY_OK) {
        status = cursor_step(snapshot->cli->client, all);
        if (status == ORRERY_ROW)
            status = take_change(snapshot, all);
    }
    return status;
}

bool snapshot_read(const struct cli *cli, const char *link, bool live, snapshot_item *take, void *context,
                   uint64_t *lsn, double *charge)
{
    struct snapshot snapshot = { .cli = cli, .link = link, .take = take, .context = context, .live = live };
    struct text ranges = { 0 }, ranges_after = { 0 };
    orrery_query *all = NULL;
    orrery_status status = live ? ORRERY_OK : read_ranges(&snapshot, &ranges);
    bool told;

    if (!live && !orrery_failed(status))
        status = open_at_now(&snapshot, text_of(&ranges), &all);
    told = status == ORRERY_EBADREQUEST;

    if (!orrery_failed(status))
        status = read_latest(&snapshot);
    if (!orrery_failed(status) && !live)
        status = read_changes(&snapshot, all);
    if (!orrery_failed(status) && !live)
        status = read_ranges(&snapshot, &ranges_after);
    if (!orrery_failed(status) && !live && strcmp(text_of(&ranges), text_of(&ranges_after)) != 0) {
        tell("the container's ranges were divided or merged meanwhile, and items may stand twice: export it "
             "again");
        status = ORRERY_ECALLBACK;
    }
    if (orrery_failed(status) && status != ORRERY_ECALLBACK && status != ORRERY_ECANCELED && !told)
        cli_tell(cli, status, NULL);
    snapshot.charge += all ? orrery_query_charge(all) : 0;
    orrery_query_close(all);
    *lsn = snapshot.lsn;
    *charge += snapshot.charge;
    free(snapshot.page);
    free(snapshot.moment);
    text_free(&snapshot.etag);
    text_free(&ranges);
    text_free(&ranges_after);
    return !orrery_failed(status);
}
