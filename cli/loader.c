/* cli/loader.c - items on their way into one container, by bulks. */
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "text.h"

enum {
    BULK_BYTES_MAX = 2 << 20,
    LOST_MAX = 5, /* how often a bulk may get no answer before we give up */
    LOOK_MS = 100,
};

/* Where an item lies in its bulk. */
struct place {
    size_t at, size;
    uint64_t number, line;
    int file;
    bool may_be_there, settled;
};

struct bulk {
    struct loader *loader;
    struct text text;
    struct place *place;
    size_t count;
    size_t *sent; /* which places the request that is under way is about */
    size_t sent_count;
    bool under_way;
    int lost;
};

struct loader {
    struct load_settings settings;
    struct bulk *bulk;
    size_t filling; /* the bulk that items are added to */
    bool failed;
};

struct loader *loader_open(const struct load_settings *settings)
{
    struct loader *loader = must_alloc(sizeof(*loader));

    loader->settings = *settings;
    loader->bulk = must_alloc(settings->in_flight * sizeof(*loader->bulk));
    for (size_t i = 0; i < settings->in_flight; i++) {
        loader->bulk[i].loader = loader;
        loader->bulk[i].place = must_alloc(settings->batch * sizeof(struct place));
        loader->bulk[i].sent = must_alloc(settings->batch * sizeof(size_t));
    }
    return loader;
}

/* ---- results */

static void settle(struct bulk *bulk, struct place *place, const orrery_result *result)
{
    struct loader *loader = bulk->loader;
    struct progress *progress = loader->settings.progress;

    place->settled = true;
    progress->charge += result->charge;
    if (!orrery_failed(result->status)) {
        progress->items++;
        progress->bytes += place->size;
    } else if (result->http == 409 && (loader->settings.mode == LOAD_SKIP || place->may_be_there)) {
        progress->skipped++;
    } else {
        struct load_item item = { .text = text_of(&bulk->text) + place->at,
                                  .size = place->size,
                                  .number = place->number,
                                  .line = place->line,
                                  .file = place->file };
        const char *said = orrery_value_text(orrery_value_member(result->body, "message"), NULL);

        progress->failed++;
        loader->settings.reject(loader->settings.context, &item, result->http,
                                *said ? said : orrery_status_text(result->status));
    }
}

static bool comes_again(orrery_status status)
{
    return status == ORRERY_ETHROTTLED || status == ORRERY_ERETRY || status == ORRERY_EIO ||
           status == ORRERY_ETIMEOUT || status == ORRERY_ECONNECT || status == ORRERY_ESERVER ||
           status == ORRERY_EGONE;
}

static void send(struct bulk *bulk);

static void give_up(struct loader *loader, orrery_status status)
{
    if (!loader->failed)
        cli_tell(loader->settings.cli, status, NULL);
    loader->failed = true;
}

static void finish(struct bulk *bulk)
{
    struct loader *loader = bulk->loader;

    bulk->count = 0;
    bulk->lost = 0;
    text_empty(&bulk->text);
    if (loader->settings.settled)
        loader->settings.settled(loader->settings.context);
}

/* What was neither written nor refused is sent once more. */
static void send_rest(struct bulk *bulk, orrery_status lost)
{
    size_t left = 0;

    for (size_t i = 0; i < bulk->count; i++)
        left += !bulk->place[i].settled;
    if (lost != ORRERY_OK && ++bulk->lost > LOST_MAX)
        give_up(bulk->loader, lost);
    else if (left && !bulk->loader->failed)
        send(bulk);
    else if (!left)
        finish(bulk);
}

static void take_results(orrery_client *client, void *context, orrery_status status,
                         orrery_response *response)
{
    struct bulk *bulk = context;
    orrery_status lost = ORRERY_OK;

    (void)client;
    bulk->under_way = false;
    if (!response) { /* nothing was sent, or there is no memory */
        give_up(bulk->loader, status);
        return;
    }
    for (size_t i = 0; i < bulk->sent_count; i++) {
        struct place *place = &bulk->place[bulk->sent[i]];
        orrery_result result = { .size = sizeof(result) };

        if (orrery_batch_result(response, i, &result) != ORRERY_OK)
            result.status = ORRERY_EIO;
        if (!comes_again(result.status)) {
            settle(bulk, place, &result);
            continue;
        }
        if (result.status != ORRERY_ETHROTTLED && result.status != ORRERY_ERETRY) {
            lost = result.status;
            place->may_be_there = true;
        }
    }
    orrery_response_free(response);
    send_rest(bulk, lost);
}

/* ---- sending */

static void send(struct bulk *bulk)
{
    struct loader *loader = bulk->loader;
    orrery_options options = { .size = sizeof(options), .minimal = 1, .done = take_results, .context = bulk };
    orrery_batch *batch = NULL;
    orrery_status status = orrery_batch_new(&batch);

    bulk->sent_count = 0;
    for (size_t i = 0; i < bulk->count; i++) {
        const struct place *place = &bulk->place[i];

        if (place->settled)
            continue;
        bulk->sent[bulk->sent_count++] = i;
        if (loader->settings.mode == LOAD_UPSERT)
            orrery_batch_upsert(batch, bulk->text.data + place->at, place->size, NULL);
        else
            orrery_batch_create(batch, bulk->text.data + place->at, place->size, NULL);
    }
    if (status == ORRERY_OK)
        status = orrery_bulk_run(loader->settings.cli->client, loader->settings.link, batch, &options, NULL);
    bulk->under_way = status == ORRERY_OK;
    if (status != ORRERY_OK)
        give_up(loader, status);
    orrery_batch_free(batch);
}

static bool wait_for(struct loader *loader, const struct bulk *bulk)
{
    while (bulk->under_way && !loader->failed && !interrupted()) {
        progress_look(loader->settings.progress);
        orrery_run(loader->settings.cli->client, LOOK_MS, NULL);
    }
    return !loader->failed && !interrupted();
}

static bool next_bulk(struct loader *loader)
{
    struct bulk *bulk = &loader->bulk[loader->filling];

    if (bulk->count && !bulk->under_way)
        send(bulk);
    orrery_run(loader->settings.cli->client, 0, NULL);
    for (size_t i = 0; i < loader->settings.in_flight; i++)
        if (loader->bulk[i].count == 0) {
            loader->filling = i;
            return !loader->failed;
        }
    loader->filling = loader->filling + 1 < loader->settings.in_flight ? loader->filling + 1 : 0;
    return wait_for(loader, &loader->bulk[loader->filling]);
}

bool loader_add(struct loader *loader, const struct load_item *item)
{
    struct bulk *bulk = &loader->bulk[loader->filling];

    if (bulk->under_way || bulk->count == loader->settings.batch ||
        (bulk->count && bulk->text.size + item->size > BULK_BYTES_MAX)) {
        if (!next_bulk(loader))
            return false;
        bulk = &loader->bulk[loader->filling];
    }
    bulk->place[bulk->count++] = (struct place){ .at = bulk->text.size,
                                                 .size = item->size,
                                                 .number = item->number,
                                                 .line = item->line,
                                                 .file = item->file,
                                                 .may_be_there = item->may_be_there };
    text_add(&bulk->text, item->text, item->size);
    return true;
}

bool loader_finish(struct loader *loader)
{
    struct bulk *bulk = &loader->bulk[loader->filling];
    bool good = !loader->failed;

    if (good && bulk->count && !bulk->under_way)
        send(bulk);
    for (size_t i = 0; i < loader->settings.in_flight && good; i++)
        good = wait_for(loader, &loader->bulk[i]);
    return good && !loader->failed;
}

uint64_t loader_done(const struct loader *loader, uint64_t next)
{
    for (size_t i = 0; i < loader->settings.in_flight; i++)
        for (size_t j = 0; j < loader->bulk[i].count; j++)
            if (!loader->bulk[i].place[j].settled && loader->bulk[i].place[j].number < next)
                next = loader->bulk[i].place[j].number;
    return next;
}

void loader_close(struct loader *loader)
{
    if (!loader)
        return;
    for (size_t i = 0; i < loader->settings.in_flight; i++) {
        text_free(&loader->bulk[i].text);
        free(loader->bulk[i].place);
        free(loader->bulk[i].sent);
    }
    free(loader->bulk);
    free(loader);
}
