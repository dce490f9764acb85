/*
 * client/transport.c - requests over HTTP, by libcurl: connections, attempts.
 * libcurl tells which sockets it waits for and until when; turn_http() polls them, and so does a program with a loop of its own
 * (orrery_poll_set).
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "client.h"

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static char *copy_text(const char *text)
{
    return memory_text(slice_of(text));
}

/* Its memory is the library's, unless the program has prepared libcurl before. */
static void prepare_curl(void)
{
    curl_ready = curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocator_get, allocator_free, allocator_resize,
                                      copy_text, allocator_zeroed);
}

static size_t find_fd(const orrery_client *client, curl_socket_t fd)
{
    size_t i = 0;

    while (i < client->fd_count && client->fds[i].fd != fd)
        i++;
    return i;
}

/* libcurl asks for a socket to be watched, or no longer. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
    orrery_client *client = user;
    size_t i = find_fd(client, fd);

    (void)easy, (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        if (i < client->fd_count)
            client->fds[i] = client->fds[--client->fd_count];
        return 0;
    }
    if (i == client->fd_count) {
        if (!memory_grow(&client->fds, &client->fd_capacity, i + 1, sizeof(*client->fds)))
            return -1;
        client->fd_count++;
    }
    client->fds[i] = (struct pollfd){ .fd = fd };
    client->fds[i].events =
        (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    return 0;
}

static int set_timer(CURLM *multi, long timeout_ms, void *user)
{
    orrery_client *client = user;

    (void)multi;
    client->timer_ms = timeout_ms < 0 ? -1 : env_monotonic_ms(client->env) + timeout_ms;
    return 0;
}

static orrery_status open_multi(orrery_client *client)
{
    pthread_once(&curl_once, prepare_curl);
    client->multi = curl_ready == CURLE_OK ? curl_multi_init() : NULL;
    if (!client->multi)
        return ORRERY_ENOMEM;
    client->timer_ms = -1;
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)client->connections_max);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)client->connections_max);
    return ORRERY_OK;
}

static orrery_status open_http(orrery_client *client, const orrery_settings *settings)
{
    static _Atomic uint64_t clients;
    orrery_status status = open_multi(client);

    client->number = ++clients;
    (void)settings;                       /* each handle takes them from the client */
    if (curl_ready == CURLE_NOT_BUILT_IN) /* embedded/curl.c found none */
        return client_fail(client, ORRERY_EUNSUPPORTED,
                           "over HTTP there must be libcurl, which cannot be loaded");
    return status;
}

static void close_http(orrery_client *client)
{
    while (client->idle_count > 0)
        curl_easy_cleanup(client->idle[--client->idle_count]);
    if (client->multi)
        curl_multi_cleanup(client->multi);
}

/* The calls that were under way have failed for want of memory, and a new handle takes the place of the old one. */
static orrery_status rebuild(orrery_client *client)
{
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (!call->easy)
            continue;
        curl_multi_remove_handle(client->multi, call->easy);
        curl_easy_cleanup(call->easy);
        call->easy = NULL;
        call_attempt_ended(call, CURLE_OUT_OF_MEMORY);
    }
    while (client->idle_count > 0)
        curl_easy_cleanup(client->idle[--client->idle_count]);
    if (client->multi)
        curl_multi_cleanup(client->multi);
    client->fd_count = 0;
    client->multi_is_broken = open_multi(client) != ORRERY_OK;
    return client->multi_is_broken ? ORRERY_ENOMEM : ORRERY_OK;
}

static size_t body_came(char *bytes, size_t one, size_t size, void *user)
{
    struct call *call = user;

    return response_take_body(call->response, bytes, one * size);
}

static size_t head_came(char *bytes, size_t one, size_t size, void *user)
{
    struct call *call = user;

    return response_take_head(call->response, bytes, one * size);
}

/*
 * libcurl by itself sends a request a second time when a connection that it had kept breaks before the answer. By
 * then a write may have happened: call.c decides whether to try again. Nothing is sent either when the call's time
 * is over: libcurl counts from where it begins, which for a call that does not wait is the next orrery_run().
 */
static int about_to_send(void *user, char *server_ip, char *own_ip, int server_port, int own_port)
{
    struct call *call = user;

    (void)server_ip, (void)own_ip, (void)server_port, (void)own_port;
    call->is_late = env_monotonic_ms(call->client->env) >= call->deadline_ms;
    if (call->is_late || (call->sent > 0 && !call->repeatable))
        return CURL_PREREQFUNC_ABORT;
    call->sent++;
    return CURL_PREREQFUNC_OK;
}

/* What is the same for all requests of a client. */
static void set_handle(const orrery_client *client, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* "." and ".." are ids like others */
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head_came);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)client->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    if (client->no_proxy)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    if (client->trust_any_certificate) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static CURL *new_handle(const orrery_client *client)
{
    CURL *easy = curl_easy_init();

    if (easy)
        set_handle(client, easy);
    return easy;
}

static void release_handle(struct call *call)
{
    orrery_client *client = call->client;

    if (!call->easy)
        return;
    curl_multi_remove_handle(client->multi, call->easy);
    if (client->idle_count < IDLE_HANDLES_MAX)
        client->idle[client->idle_count++] = call->easy;
    else
        curl_easy_cleanup(call->easy);
    call->easy = NULL;
}

/* Room for the header's lines, and for the two that each attempt has of its own. */
static bool make_lines(struct call *call)
{
    size_t count = 2;

    for (size_t i = 0; i < call->head.size; i++)
        count += call->head.data[i] == '\0';
    call->lines = memory_list(&call->arena, count, sizeof(*call->lines));
    return call->lines;
}

/* The header's lines as libcurl's list, which is made here in place: no line is copied. */
static bool list_lines(struct call *call)
{
    char *at = call->head.data, *end = at + call->head.size;
    size_t count = 0;

    if (!call->lines && !make_lines(call))
        return false;
    for (; at < end; at += strlen(at) + 1)
        call->lines[count++].data = at;
    if (!call->client->token)
        call->lines[count++].data = call->date_line;
    call->lines[count++].data = (char *)call->authorization;
    for (size_t i = 0; i < count; i++)
        call->lines[i].next = i + 1 < count ? &call->lines[i + 1] : NULL;
    return true;
}

static void set_method(CURL *easy, const struct call *call)
{
    static const char *const names[] = { NULL, NULL, "PUT", "PATCH", "DELETE" };

    if (call->has_body || call->method == METHOD_POST) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.size);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.size ? call->body.data : "");
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, names[call->method]);
}

static bool prepare(struct call *call)
{
    CURL *easy = call->easy;

    set_method(easy, call);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->lines);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
    call->sent = 0;
    call->is_late = false;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->curl_error);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)call_attempt_ms(call));
    return curl_easy_setopt(easy, CURLOPT_URL, call->url.data) == CURLE_OK;
}

static orrery_status send_http(struct call *call)
{
    orrery_client *client = call->client;

    assert(!call->easy); /* libcurl would go on with the other one, for a call that may be gone */
    if (!sign_request(client, call) || !list_lines(call) ||
        (client->multi_is_broken && rebuild(client) != ORRERY_OK))
        return ORRERY_ENOMEM;
    call->curl_error[0] = '\0';
    call->easy = client->idle_count > 0 ? client->idle[--client->idle_count] : new_handle(client);
    if (call->easy && prepare(call)) {
        if (curl_multi_add_handle(client->multi, call->easy) == CURLM_OK)
            return ORRERY_OK;
        client->multi_is_broken = true;
    }
    release_handle(call);
    return ORRERY_ENOMEM;
}

/*
 * A handle that another client had has that one's settings, which may trust another certificate or none. It keeps its
 * connections: libcurl uses one again only where it was made with the settings of now.
 */
static CURL *take_kept(const orrery_client *client)
{
    orrery_share *share = client->share;
    struct kept_handle kept = { 0 };

    share_lock(client);
    if (share->kept_count > 0)
        kept = share->kept[--share->kept_count];
    share_unlock(client);
    if (!kept.easy)
        return new_handle(client);
    if (kept.owner != client->number) {
        curl_easy_reset(kept.easy);
        set_handle(client, kept.easy);
    }
    return kept.easy;
}

static void keep(const orrery_client *client, CURL *easy)
{
    orrery_share *share = client->share;
    bool has_room;

    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL); /* which ends with the call */
    share_lock(client);
    has_room = share->kept_count < KEPT_HANDLES_MAX;
    if (has_room)
        share->kept[share->kept_count++] = (struct kept_handle){ easy, client->number };
    share_unlock(client);
    if (!has_room)
        curl_easy_cleanup(easy);
}

void transport_free_kept(orrery_share *share)
{
    while (share->kept_count > 0)
        curl_easy_cleanup(share->kept[--share->kept_count].easy);
}

/*
 * Calls that wait have a handle, and so a connection, to themselves: without the loop, a request costs a tenth less. Clients
 * with one share take turns with them.
 */
static orrery_status perform_http(struct call *call)
{
    orrery_client *client = call->client;
    CURLcode code;
    long http = 0;

    if (!sign_request(client, call) || !list_lines(call))
        return ORRERY_ENOMEM;
    call->curl_error[0] = '\0';
    call->easy = take_kept(client);
    if (!call->easy)
        return ORRERY_ENOMEM;
    code = prepare(call) ? curl_easy_perform(call->easy) : CURLE_OUT_OF_MEMORY;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &http);
    keep(client, call->easy);
    call->easy = NULL;
    call->response->http = (int)http;
    call_attempt_ended(call, code);
    return ORRERY_OK;
}

static void take_ended(orrery_client *client)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(client->multi, &left))) {
        CURLcode code = message->data.result;
        struct call *call = NULL;
        long http = 0;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &http);
        call->response->http = (int)http;
        release_handle(call);
        call_attempt_ended(call, code);
    }
}

/* Tells libcurl which sockets are ready. It changes the set meanwhile: each is looked for again. */
static CURLMcode tell_ready(orrery_client *client)
{
    CURLMcode code = CURLM_OK;
    int running;

    for (size_t i = 0; i < client->fd_count && code == CURLM_OK;) {
        struct pollfd ready = client->fds[i];
        int what = (ready.revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) |
                   (ready.revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
                   (ready.revents & (POLLERR | POLLNVAL) ? CURL_CSELECT_ERR : 0);

        client->fds[i].revents = 0;
        if (what)
            code = curl_multi_socket_action(client->multi, ready.fd, what, &running);
        if (i < client->fd_count && client->fds[i].fd == ready.fd)
            i++;
    }
    return code;
}

static orrery_status turn_http(orrery_client *client, int wait_ms)
{
    int64_t now_ms = env_monotonic_ms(client->env);
    CURLMcode code = CURLM_OK;
    int running;

    if (client->multi_is_broken)
        return rebuild(client);
    if ((wait_ms != 0 || client->timer_ms < 0 || client->timer_ms > now_ms) && /* a due timer goes first */
        poll(client->fds, client->fd_count, wait_ms) > 0)
        code = tell_ready(client);
    now_ms = env_monotonic_ms(client->env);
    if (client->timer_ms >= 0 && client->timer_ms <= now_ms) {
        client->timer_ms = -1;
        code = curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    take_ended(client);
    client->multi_is_broken = client->multi_is_broken || code != CURLM_OK;
    return code == CURLM_OK ? ORRERY_OK : ORRERY_ENOMEM;
}

const struct transport transport_http = {
    .open = open_http,
    .close = close_http,
    .send = send_http,
    .perform = perform_http,
    .cancel = release_handle,
    .turn = turn_http,
};
