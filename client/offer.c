/* client/offer.c - throughput: the offer of a database or a container, found by the thing's _self link. */
#include <stdlib.h>

#include "client.h"

/* {"query": ..., with the link as a parameter. */
static orrery_status find_offer(orrery_client *client, const char *self, orrery_query **query)
{
    orrery_parameter link = { "@link", NULL };
    struct arena arena;
    struct buf text;
    orrery_status status = ORRERY_ENOMEM;

    arena_init(&arena, SIZE_MAX);
    buf_init(&text, &arena);
    json_print_string(&text, slice_of(self));
    buf_byte(&text, '\0');
    link.value = text.data;
    if (!text.failed)
        status = orrery_query_open(client, "offers", "SELECT * FROM root WHERE root.resource = @link", &link,
                                   1, NULL, NULL, query);
    arena_free(&arena);
    return status;
}

/* The offer as the first row of the query. */
static orrery_status open_offer(orrery_client *client, const char *link, orrery_query **query)
{
    orrery_response *response = NULL;
    orrery_status status = orrery_read(client, link, NULL, &response);

    *query = NULL;
    if (status == ORRERY_OK)
        status = find_offer(
            client, orrery_value_text(orrery_value_member(orrery_response_json(response), "_self"), NULL),
            query);
    if (status == ORRERY_OK)
        status = orrery_query_step(*query);
    if (status == ORRERY_DONE)
        status = client_fail(client, ORRERY_ENOTFOUND, "\"%s\" has no throughput of its own", link);
    orrery_response_free(response);
    return status == ORRERY_ROW ? ORRERY_OK : status;
}

orrery_status orrery_throughput_read(orrery_client *client, const char *link, int *throughput, int *autoscale)
{
    orrery_query *query = NULL;
    orrery_value content, maximum;
    orrery_status status;

    if (!client || !throughput)
        return ORRERY_EINVAL;
    status = open_offer(client, link, &query);
    if (status == ORRERY_OK) {
        content = orrery_value_member(orrery_query_value(query), "content");
        maximum =
            orrery_value_member(orrery_value_member(content, "offerAutopilotSettings"), "maxThroughput");
        if (autoscale)
            *autoscale = maximum.at != NULL;
        *throughput =
            (int)orrery_value_int(maximum.at ? maximum : orrery_value_member(content, "offerThroughput"));
    }
    orrery_query_close(query);
    return status;
}

/* The offer with its content exchanged, as it is sent back. */
static void write_offer(orrery_writer *writer, orrery_value offer, int throughput, int autoscale)
{
    const char *name;
    orrery_value value;

    orrery_write_object(writer);
    for (size_t at = 0; orrery_value_next(offer, &at, &name, &value);) {
        orrery_write_name(writer, name);
        if (strcmp(name, "content") != 0) {
            orrery_write_value(writer, value);
            continue;
        }
        orrery_write_object(writer);
        orrery_write_name(writer, autoscale ? "offerAutopilotSettings" : "offerThroughput");
        if (autoscale) {
            orrery_write_object(writer);
            orrery_write_name(writer, "maxThroughput");
        }
        orrery_write_int(writer, throughput);
        if (autoscale)
            orrery_write_end(writer);
        orrery_write_end(writer);
    }
    orrery_write_end(writer);
}

static bool is_autoscale(orrery_value offer)
{
    return orrery_value_member(orrery_value_member(offer, "content"), "offerAutopilotSettings").at != NULL;
}

static orrery_status send_offer(orrery_client *client, orrery_value offer, orrery_writer *written,
                                const char *header)
{
    const char *headers[] = { header, NULL };
    orrery_options options = { .size = sizeof(options), .headers = headers };
    char link[64];

    if (!orrery_writer_text(written, NULL))
        return client_no_memory(client);
    snprintf(link, sizeof(link), "offers/%s", orrery_value_text(orrery_value_member(offer, "id"), NULL));
    return orrery_replace(client, link, orrery_writer_text(written, NULL), ORRERY_TEXT, &options, NULL);
}

/* The other way to pay. The service chooses the figure then, and wants to see the content of the old way. */
static orrery_status change_way(orrery_client *client, orrery_value offer)
{
    orrery_writer *writer = NULL;
    orrery_status status;

    orrery_writer_new(&writer);
    orrery_write_value(writer, offer);
    status = send_offer(client, offer, writer,
                        is_autoscale(offer) ? "x-ms-cosmos-migrate-offer-to-manual-throughput: true"
                                            : "x-ms-cosmos-migrate-offer-to-autopilot: true");
    orrery_writer_free(writer);
    return status;
}

static orrery_status set_figure(orrery_client *client, orrery_value offer, int throughput, int autoscale)
{
    orrery_writer *writer = NULL;
    orrery_status status;

    orrery_writer_new(&writer);
    write_offer(writer, offer, throughput, autoscale);
    status = send_offer(client, offer, writer, NULL);
    orrery_writer_free(writer);
    return status;
}

orrery_status orrery_throughput_replace(orrery_client *client, const char *link, int throughput,
                                        int autoscale)
{
    orrery_query *query = NULL;
    orrery_status status;

    if (!client)
        return ORRERY_EINVAL;
    status = open_offer(client, link, &query);
    if (status == ORRERY_OK && is_autoscale(orrery_query_value(query)) != (autoscale != 0)) {
        status = change_way(client, orrery_query_value(query));
        orrery_query_close(query);
        query = NULL;
        if (status == ORRERY_OK)
            status = open_offer(client, link, &query);
    }
    if (status == ORRERY_OK)
        status = set_figure(client, orrery_query_value(query), throughput, autoscale);
    orrery_query_close(query);
    return status;
}
