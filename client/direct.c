/*
 * client/direct.c - the transport of Direct mode: which way a call goes, and whose connection it gets.
 * All replicas of an Orrery server are one process, on the port of its HTTP. So there is one place, which is the endpoint, and
 * no address to ask for.
 */
#include <stdlib.h>

#include "direct.h"

/* ---- open and close */

/* "https://host:port/..." */
static bool read_place(const orrery_client *client, struct wire_place *place)
{
    bool is_secure = strncmp(client->endpoint, "https://", 8) == 0;
    const char *host = client->endpoint + (is_secure ? 8 : 7), *port;
    bool in_brackets = *host == '[';
    size_t size = in_brackets ? strcspn(++host, "]") : strcspn(host, ":/");

    port = host + size + (in_brackets && host[size] == ']');
    port += *port == ':';
    place->is_secure = is_secure;
    place->trust_any = client->trust_any_certificate;
    place->ca_file = client->ca_file;
    place->host = memory_text(slice_make(host, size));
    place->port = strcspn(port, "/") ? memory_text(slice_make(port, strcspn(port, "/")))
                                     : memory_text(slice_of(is_secure ? "443" : "80"));
    return place->host && place->port;
}

static orrery_status open_direct(orrery_client *client, const orrery_settings *settings)
{
    orrery_status status = transport_http.open(client, settings);

    if (status != ORRERY_OK)
        return status;
    client->direct = calloc(1, sizeof(*client->direct));
    return client->direct && read_place(client, &client->direct->place) ? ORRERY_OK
                                                                        : client_no_memory(client);
}

static void close_direct(orrery_client *client)
{
    struct direct *direct = client->direct;

    while (direct && direct->links) {
        struct link *link = direct->links;

        direct->links = link->next;
        link_close(link);
    }
    if (direct) {
        wire_trust_free(direct->place.trust);
        free(direct->place.host);
        free(direct->place.port);
        free(direct);
    }
    transport_http.close(client);
}

/* ---- what is polled */

static size_t find_fd(const orrery_client *client, int fd)
{
    size_t i = 0;

    while (i < client->fd_count && client->fds[i].fd != fd)
        i++;
    return i;
}

static void stop_polling(struct link *link)
{
    orrery_client *client = link->client;
    size_t i = link->polled_fd < 0 ? client->fd_count : find_fd(client, link->polled_fd);

    link->polled_fd = -1;
    if (i < client->fd_count)
        client->fds[i] = client->fds[--client->fd_count];
}

static bool start_polling(struct link *link)
{
    orrery_client *client = link->client;
    size_t i = find_fd(client, wire_fd(link->wire));

    if (i == client->fd_count) {
        if (!memory_grow(&client->fds, &client->fd_capacity, i + 1, sizeof(*client->fds)))
            return false;
        client->fd_count++;
    }
    client->fds[i] = (struct pollfd){ .fd = wire_fd(link->wire), .events = link_events(link) };
    link->polled_fd = client->fds[i].fd;
    return true;
}

/* A connection of which nothing is awaited is nobody's to wait for. False: no memory. */
static bool poll_links(const orrery_client *client)
{
    for (struct link *link = client->direct->links; link; link = link->next) {
        bool is_awaited = link->wire && link->request_count > 0;

        if (!is_awaited || link->polled_fd != wire_fd(link->wire))
            stop_polling(link);
        if (is_awaited && !start_polling(link))
            return false;
    }
    return true;
}

/* ---- connections */

static void remove_link(struct link *link)
{
    struct direct *direct = link->client->direct;
    struct link **at = &direct->links;

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    direct->link_count--;
    stop_polling(link);
    link_close(link);
}

static struct link *add_link(orrery_client *client)
{
    struct link *link = link_open(client);

    if (!link)
        return NULL;
    link->next = client->direct->links;
    client->direct->links = link;
    client->direct->link_count++;
    return link;
}

/* That has the least to do. Those that the server has closed meanwhile are gone. */
static struct link *find_link(const orrery_client *client)
{
    struct link *best = NULL;

    for (struct link *link = client->direct->links, *next; link; link = next) {
        next = link->next;
        if (!link_is_alive(link))
            remove_link(link);
        else if (!best || link->request_count < best->request_count)
            best = link;
    }
    return best;
}

static struct link *link_for_call(orrery_client *client)
{
    struct link *link = find_link(client);
    bool is_full = !link || link->request_count >= LINK_REQUESTS_MAX;

    if (is_full && (!link || client->direct->link_count < (size_t)client->connections_max))
        return add_link(client);
    return link;
}

/* ---- calls */

/* One attempt, into its connection's queue. NOT_SAID: it is HTTP's. */
static enum direct_said begin(struct call *call)
{
    orrery_client *client = call->client;
    enum direct_said said;
    struct link *link;
    struct buf frame;

    if (!direct_is_for(call))
        return NOT_SAID;
    buf_init(&frame, &call->arena);
    if (!sign_request(client, call) || !(link = link_for_call(client)))
        return NO_MEMORY;
    said = direct_say(call, ++link->last_id, &frame);
    if (said != SAID)
        return said;
    call->curl_error[0] = '\0';
    call->sent = 0;
    call->is_late = false;
    if (!link_ask(link, call, buf_as_slice(&frame)))
        return NO_MEMORY;
    if (poll_links(client))
        return SAID;
    link_forget(call->request);
    return NO_MEMORY;
}

static orrery_status send_direct(struct call *call)
{
    enum direct_said said = begin(call);

    if (said == NOT_SAID)
        return transport_http.send(call);
    return said == SAID ? ORRERY_OK : ORRERY_ENOMEM;
}

static void cancel_direct(struct call *call)
{
    if (call->request)
        link_forget(call->request);
    transport_http.cancel(call);
}

/* Until when there is nothing to do for a call that is waited for. */
static int wait_ms(const struct call *call, int64_t now_ms)
{
    int64_t due_ms = link_due_ms(call->request->link), until = call->deadline_ms;

    if (due_ms >= 0 && due_ms < until)
        until = due_ms;
    return until <= now_ms ? 0 : until - now_ms > INT32_MAX ? INT32_MAX : (int)(until - now_ms);
}

/* Only its own connection is looked after, as of calls over HTTP that are waited for. */
static void wait_for_answer(struct call *call)
{
    orrery_client *client = call->client;

    while (call->request) {
        struct link *link = call->request->link;
        int64_t now_ms = env_monotonic_ms(client->env);
        struct pollfd ready = { .fd = -1 };

        if (now_ms >= call->deadline_ms) {
            link_forget(call->request);
            call_attempt_ended(call, CURLE_OPERATION_TIMEDOUT);
            return;
        }
        link_flush(link);
        if (!call->request)
            return;
        if (link->wire)
            ready = (struct pollfd){ .fd = wire_fd(link->wire), .events = link_events(link) };
        poll(&ready, 1, wait_ms(call, now_ms));
        if (!link_step(link))
            remove_link(link);
    }
}

static orrery_status perform_direct(struct call *call)
{
    enum direct_said said = begin(call);

    if (said == NOT_SAID)
        return transport_http.perform(call);
    if (said == SAID)
        wait_for_answer(call);
    return said == SAID ? ORRERY_OK : ORRERY_ENOMEM;
}

/* ---- turns */

int64_t direct_due_ms(const orrery_client *client)
{
    int64_t first_ms = -1;

    for (const struct link *link = client->direct ? client->direct->links : NULL; link; link = link->next) {
        int64_t due_ms = link->request_count ? link_due_ms(link) : -1;

        if (due_ms >= 0 && (first_ms < 0 || due_ms < first_ms))
            first_ms = due_ms;
    }
    return first_ms;
}

static bool is_ready(const orrery_client *client, const struct link *link, int64_t now_ms)
{
    size_t i = link->polled_fd < 0 ? client->fd_count : find_fd(client, link->polled_fd);
    int64_t due_ms = link_due_ms(link);

    return (i < client->fd_count && client->fds[i].revents) || (due_ms >= 0 && due_ms <= now_ms);
}

static void step_links(const orrery_client *client)
{
    int64_t now_ms = env_monotonic_ms(client->env);

    for (struct link *link = client->direct->links, *next; link; link = next) {
        next = link->next;
        if (is_ready(client, link, now_ms) && !link_step(link))
            remove_link(link);
    }
}

/* Whether libcurl has anything to do: a socket that is not ours, or a time. */
static bool http_is_busy(const orrery_client *client)
{
    size_t ours = 0;

    for (const struct link *link = client->direct->links; link; link = link->next)
        ours += link->polled_fd >= 0;
    return client->multi_is_broken || client->fd_count > ours ||
           (client->timer_ms >= 0 && client->timer_ms <= env_monotonic_ms(client->env));
}

static orrery_status turn_direct(orrery_client *client, int wait)
{
    size_t ended_count = client->direct->ended_count;

    if (!client->direct->links)
        return transport_http.turn(client, wait);
    for (struct link *link = client->direct->links; link; link = link->next)
        link_flush(link);
    if (!poll_links(client))
        return ORRERY_ENOMEM;
    if (client->direct->ended_count > ended_count)
        wait = 0;
    if (poll(client->fds, client->fd_count, wait) < 0) /* a signal: what was ready stays so */
        return ORRERY_OK;
    step_links(client);
    if (!poll_links(client))
        return ORRERY_ENOMEM;
    return http_is_busy(client) ? transport_http.turn(client, 0) : ORRERY_OK;
}

const struct transport transport_direct = {
    .open = open_direct,
    .close = close_direct,
    .send = send_direct,
    .perform = perform_direct,
    .cancel = cancel_direct,
    .turn = turn_direct,
};
