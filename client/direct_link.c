/*
 * client/direct_link.c - a connection of Direct mode: the greeting, then requests out and answers in, in whatever order.
 * Bytes that are no answer, or a peer that is silent for too long, break it: nobody can tell where the next answer begins. Then
 * each of its calls is told whether a byte of it may have left, and call.c decides what that means.
 */
#include <assert.h>
#include <stdlib.h>

#include "direct.h"

static const char api_version[] = "2020-07-15";

/* ---- begin and end */

static void queue(struct link *link, struct direct_request *request)
{
    request->next = NULL;
    *link->last_unsent = request;
    link->last_unsent = &request->next;
}

/* The greeting goes before everything else, and everything else waits for its answer. */
static bool greet(struct link *link)
{
    char room[512];
    uint8_t activity[GUID_BYTES];
    struct buf out = { .data = room, .capacity = sizeof(room) };
    struct slice agent = slice_of(link->client->user_agent);

    agent.size = agent.size < UINT8_MAX ? agent.size : UINT8_MAX;
    env_random(link->client->env, activity, sizeof(activity));
    frame_begin(&out, frame_asks(0, 0), activity);
    frame_number(&out, GREETING_VERSION, 1);
    frame_small_text(&out, GREETING_CLIENT_VERSION, slice_of(api_version));
    frame_small_text(&out, GREETING_USER_AGENT, agent);
    frame_end(&out, 0);
    assert(!out.failed);
    memcpy(link->out, out.data, out.size);
    link->out_start = 0;
    link->out_end = out.size;
    link->state = LINK_GREETS;
    return true;
}

struct link *link_open(orrery_client *client)
{
    struct link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->client = client;
    link->polled_fd = -1;
    link->last_unsent = &link->unsent;
    link->quiet_since_ms = env_monotonic_ms(client->env);
    link->out = malloc(LINK_OUT_BYTES);
    if (!link->out || !memory_grow(&link->in, &link->in_capacity, LINK_IN_BYTES, 1)) {
        link_close(link);
        return NULL;
    }
    link->wire = wire_open(&client->direct->place, &link->error);
    return link;
}

static void free_requests(struct direct_request *request)
{
    while (request) {
        struct direct_request *next = request->next;

        free(request);
        request = next;
    }
}

void link_close(struct link *link)
{
    free_requests(link->unsent);
    free_requests(link->asked);
    wire_close(link->wire);
    free(link->out);
    free(link->in);
    free(link);
}

static void end_attempt(struct direct_request *request, CURLcode code)
{
    struct call *call = request->call;

    request->call = NULL;
    if (!call)
        return;
    call->request = NULL;
    call->client->direct->ended_count++;
    call_attempt_ended(call, code);
}

/* What was never sent was never sent, however the connection ended. */
static CURLcode code_for(const struct direct_request *request, const struct wire_error *error)
{
    bool was_open = request->link->state == LINK_OPEN;

    return was_open && request->sent == 0 ? CURLE_COULDNT_CONNECT : error->code;
}

static void end_all(struct direct_request *request, const struct wire_error *error)
{
    for (; request; request = request->next) {
        if (request->call)
            snprintf(request->call->curl_error, sizeof(request->call->curl_error), "%s", error->words);
        end_attempt(request, code_for(request, error));
    }
}

static bool break_for(struct link *link, const struct wire_error *why)
{
    end_all(link->asked, why);
    end_all(link->unsent, why);
    return false;
}

/* ---- requests */

bool link_ask(struct link *link, struct call *call, struct slice bytes)
{
    struct direct_request *request = malloc(sizeof(*request) + bytes.size);

    if (!request)
        return false;
    *request = (struct direct_request){ .link = link, .call = call, .id = link->last_id, .size = bytes.size };
    memcpy(request->bytes, bytes.data, bytes.size);
    if (link->request_count++ == 0 && link->state == LINK_OPEN)
        link->quiet_since_ms = env_monotonic_ms(link->client->env);
    queue(link, request);
    call->request = request;
    return true;
}

static void take_off(struct direct_request **list, const struct direct_request *request)
{
    while (*list != request)
        list = &(*list)->next;
    *list = request->next;
}

static void find_last(struct link *link)
{
    link->last_unsent = &link->unsent;
    while (*link->last_unsent)
        link->last_unsent = &(*link->last_unsent)->next;
}

/* It is in no list any more. */
static void release(struct direct_request *request)
{
    request->link->request_count--;
    free(request);
}

static void drop_asked(struct direct_request *request)
{
    struct link *link = request->link;

    if (link->answered == request)
        link->answered = NULL;
    take_off(&link->asked, request);
    release(request);
}

void link_forget(struct direct_request *request)
{
    struct link *link = request->link;

    request->call->request = NULL;
    request->call = NULL;
    if (request->sent == request->size) {
        drop_asked(request);
    } else if (request->sent == 0) {
        take_off(&link->unsent, request);
        find_last(link);
        release(request);
    }
}

/* Its time was over while it waited for its turn. */
static bool is_too_late(const struct direct_request *request)
{
    struct call *call = request->call;

    if (!call || request->sent > 0)
        return false;
    call->is_late = env_monotonic_ms(call->client->env) >= call->deadline_ms;
    return call->is_late;
}

static struct direct_request *pop_unsent(struct link *link)
{
    struct direct_request *request = link->unsent;

    link->unsent = request->next;
    if (!link->unsent)
        link->last_unsent = &link->unsent;
    return request;
}

/* All of it is under way: its answer is awaited, unless it was given up meanwhile. */
static void await_answer(struct direct_request *request)
{
    struct link *link = request->link;

    if (!request->call) {
        release(request);
        return;
    }
    request->next = link->asked;
    link->asked = request;
}

static void end_too_late(struct direct_request *request)
{
    end_attempt(request, CURLE_OPERATION_TIMEDOUT);
    release(request);
}

/* Whole requests, and parts of large ones, as long as there is room. From here on a byte of them may have left. */
static void fill_out(struct link *link)
{
    link->out_start = link->out_end = 0;
    while (link->unsent && link->out_end < LINK_OUT_BYTES) {
        struct direct_request *request = link->unsent;
        size_t room = LINK_OUT_BYTES - link->out_end, left = request->size - request->sent;
        size_t size = left < room ? left : room;

        if (is_too_late(request)) {
            end_too_late(pop_unsent(link));
            continue;
        }
        memcpy(link->out + link->out_end, request->bytes + request->sent, size);
        link->out_end += size;
        request->sent += size;
        if (request->call)
            request->call->sent = 1;
        if (request->sent < request->size)
            return;
        await_answer(pop_unsent(link));
    }
}

static bool write_out(struct link *link)
{
    for (;;) {
        long taken;

        if (link->out_start == link->out_end && link->state == LINK_OPEN)
            fill_out(link);
        taken = wire_write(link->wire, link->out + link->out_start, link->out_end - link->out_start);
        if (taken <= 0)
            return taken == 0;
        link->out_start += (size_t)taken;
    }
}

/* ---- answers */

static const struct wire_error no_memory = { .code = CURLE_OUT_OF_MEMORY, .words = "out of memory" };
static const struct wire_error lost = { .code = CURLE_RECV_ERROR,
                                        .words = "the connection was lost before the answer came" };
static const struct wire_error never_there = { .code = CURLE_COULDNT_CONNECT,
                                               .words = "the connection was lost before it was open" };
static const struct wire_error no_answer = { .code = CURLE_WEIRD_SERVER_REPLY,
                                             .words = "what came is no answer" };
static const struct wire_error silent = { .code = CURLE_RECV_ERROR,
                                          .words = "nothing came from the server for too long" };
static const struct wire_error not_connected = { .code = CURLE_OPERATION_TIMEDOUT,
                                                 .words = "connecting took too long" };
static const struct wire_error not_served = {
    .code = CURLE_NOT_BUILT_IN, .words = "the endpoint does not serve Direct mode: leave out .direct"
};

static struct direct_request *find_asked(const struct link *link, uint32_t id)
{
    struct direct_request *request = link->asked;

    while (request && request->id != id)
        request = request->next;
    return request;
}

/* All of it is there. */
static void end_answer(struct link *link)
{
    struct direct_request *request = link->answered;

    link->awaits = AWAITS_HEAD;
    link->answered = NULL;
    if (!request)
        return;
    end_attempt(request, CURLE_OK);
    drop_asked(request);
}

/* There is no memory for it: the rest is passed over. */
static void refuse_answer(struct link *link)
{
    struct direct_request *request = link->answered;

    link->answered = NULL;
    end_attempt(request, CURLE_WRITE_ERROR);
    drop_asked(request);
}

static bool take_hello(struct link *link, struct slice head)
{
    if (frame_u32(slice_after(head, FRAME_LENGTH_BYTES)) != 200)
        return false;
    link->state = LINK_OPEN;
    return true;
}

/* False: it is none. */
static bool take_answer(struct link *link, struct slice head)
{
    struct direct_about about;

    if (!direct_look(head, &about))
        return false;
    link->answered = find_asked(link, about.request_id);
    if (link->answered && link->answered->call && !direct_take_answer(link->answered->call, head))
        refuse_answer(link);
    if (about.has_payload)
        link->awaits = AWAITS_LENGTH;
    else
        end_answer(link);
    return true;
}

/* Each step takes something off the bytes, and says how much; 0: there is not enough. False: it is no answer. */

static bool take_head(struct link *link, struct slice bytes, size_t *taken)
{
    size_t size;

    if (bytes.size < FRAME_LENGTH_BYTES)
        return true;
    size = frame_u32(bytes);
    if (size < FRAME_FIXED_BYTES || size > HEAD_BYTES_MAX)
        return false;
    if (bytes.size < size)
        return true;
    *taken = size;
    return link->state == LINK_GREETS ? take_hello(link, slice_make(bytes.data, size))
                                      : take_answer(link, slice_make(bytes.data, size));
}

static bool take_length(struct link *link, struct slice bytes, size_t *taken)
{
    if (bytes.size < FRAME_LENGTH_BYTES)
        return true;
    link->left = frame_u32(bytes);
    link->awaits = AWAITS_PAYLOAD;
    *taken = FRAME_LENGTH_BYTES;
    if (link->left == 0)
        end_answer(link);
    return link->left <= BODY_BYTES_MAX;
}

static bool take_payload(struct link *link, struct slice bytes, size_t *taken)
{
    size_t size = bytes.size < link->left ? bytes.size : link->left;

    if (size == 0)
        return true;
    if (link->answered && link->answered->call &&
        response_take_body(link->answered->call->response, bytes.data, size) != size)
        refuse_answer(link);
    link->left -= (uint32_t)size;
    *taken = size;
    if (link->left == 0)
        end_answer(link);
    return true;
}

static bool take_step(struct link *link, struct slice bytes, size_t *taken)
{
    *taken = 0;
    switch (link->awaits) {
    case AWAITS_HEAD:
        return take_head(link, bytes, taken);
    case AWAITS_LENGTH:
        return take_length(link, bytes, taken);
    default:
        return take_payload(link, bytes, taken);
    }
}

/* What has come, and is whole, is taken; the rest is kept. */
static bool take_all(struct link *link)
{
    struct slice rest = slice_make(link->in, link->in_bytes);
    size_t taken;
    bool good;

    do {
        good = take_step(link, rest, &taken);
        rest = slice_after(rest, taken);
    } while (good && taken > 0);
    memmove(link->in, rest.data, rest.size);
    link->in_bytes = rest.size;
    return good;
}

/* A server of HTTP says in its own words that it does not understand. */
static bool is_http(const struct link *link)
{
    return link->state == LINK_GREETS && slice_starts_with(slice_make(link->in, link->in_bytes), "HTTP/");
}

static const struct wire_error *read_in(struct link *link)
{
    for (;;) {
        long got;

        if (link->in_bytes == link->in_capacity &&
            !memory_grow(&link->in, &link->in_capacity, 2 * link->in_capacity, 1))
            return &no_memory;
        got = wire_read(link->wire, link->in + link->in_bytes, link->in_capacity - link->in_bytes);
        if (got < 0)
            return link->state == LINK_OPEN ? &lost : &never_there;
        if (got == 0)
            return NULL;
        link->in_bytes += (size_t)got;
        link->quiet_since_ms = env_monotonic_ms(link->client->env);
        if (is_http(link))
            return &not_served;
        if (!take_all(link))
            return link->state == LINK_OPEN ? &no_answer : &not_served;
    }
}

/* ---- its turn */

bool link_is_alive(struct link *link)
{
    return link->state != LINK_OPEN || link->request_count > 0 || !read_in(link);
}

static bool connect_step(struct link *link)
{
    struct wire_error error;
    enum wire_step step = wire_connect(link->wire, &error);

    if (step == WIRE_BROKEN)
        return break_for(link, &error);
    return step == WIRE_WAITS || greet(link);
}

static const struct wire_error *overdue(const struct link *link)
{
    int64_t due_ms = link_due_ms(link);

    if (due_ms < 0 || env_monotonic_ms(link->client->env) < due_ms)
        return NULL;
    return link->state == LINK_OPEN ? &silent : &not_connected;
}

/* A failure is seen where the connection is read. */
void link_flush(struct link *link)
{
    if (link->state == LINK_OPEN && link->unsent)
        (void)write_out(link);
}

bool link_step(struct link *link)
{
    const struct wire_error *why = NULL;

    if (!link->wire)
        return break_for(link, &link->error);
    if (link->state == LINK_CONNECTS && !connect_step(link))
        return false;
    if (link->state != LINK_CONNECTS) {
        bool written = write_out(link);

        why = read_in(link); /* an answer may have come before the end */
        if (!why && !written)
            why = link->state == LINK_OPEN ? &lost : &never_there;
        if (!why && link->unsent && link->state == LINK_OPEN && !write_out(link)) /* the greeting is over */
            why = &lost;
    }
    if (!why)
        why = overdue(link);
    return !why || break_for(link, why);
}

short link_events(const struct link *link)
{
    bool out = wire_wants_out(link->wire) || link->out_start < link->out_end ||
               (link->state == LINK_OPEN && link->unsent);

    return (short)(POLLIN | (out ? POLLOUT : 0));
}

int64_t link_due_ms(const struct link *link)
{
    if (!link->wire)
        return 0;
    if (link->state != LINK_OPEN)
        return link->quiet_since_ms + link->client->connect_timeout_ms;
    return link->request_count ? link->quiet_since_ms + LINK_SILENCE_MS_MAX : -1;
}
