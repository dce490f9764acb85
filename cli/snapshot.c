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

struct snapshot {
    const struct cli *cli;
    const char *link;
    snapshot_item *take;
    void *context;
    bool live;
    uint64_t lsn;
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

/* The ids of the container's ranges, with blanks between them. */
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

/* ---- the steps */

static orrery_status open_at_now(struct snapshot *snapshot, orrery_query **all)
{
    static const char *const headers[] = { "x-orrery-previous: true", NULL };
    orrery_options options = { .size = sizeof(options), .all_versions = 1, .no_wait = 1, .headers = headers };
    orrery_status status =
        orrery_changes_open(snapshot->cli->client, snapshot->link, NULL, ORRERY_FROM_NOW, 0, &options, all);

    while (status == ORRERY_OK ||
           status == ORRERY_ROW) /* rows: a range was changed while another was asked */
        status = cursor_step(snapshot->cli->client, *all);
    if (status == ORRERY_DONE)
        snapshot->lsn = lsn_of(orrery_query_response(*all));
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
        if (!snapshot->live && lsn > snapshot->lsn)
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
    char *text = NULL;
    size_t size;
    bool good;

    if (lsn <= snapshot->lsn || before > snapshot->lsn ||
        orrery_value_equals(orrery_value_member(metadata, "operationType"), "create") ||
        was_given(snapshot, range_of(orrery_query_response(all)), before, lsn))
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
        status = open_at_now(&snapshot, &all);
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
    text_free(&snapshot.etag);
    text_free(&ranges);
    text_free(&ranges_after);
    return !orrery_failed(status);
}
