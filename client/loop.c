/*
 * client/loop.c - calls that are under way, whatever carries them: whose turn it is, who waits, whose time is over.
 * The client's transport says what to poll (client->fds); a program with a loop of its own polls the same set
 * (orrery_poll_set).
 */
#include <stdlib.h>

#include "client.h"

orrery_status transport_open(orrery_client *client, const orrery_settings *settings)
{
    client->timer_ms = -1;
    return client->transport->open(client, settings);
}

void transport_close(orrery_client *client)
{
    client->transport->close(client);
    allocator_free(client->fds);
}

orrery_status transport_send(struct call *call)
{
    return call->client->transport->send(call);
}

orrery_status transport_perform(struct call *call)
{
    return call->client->transport->perform(call);
}

void transport_cancel(struct call *call)
{
    call->client->transport->cancel(call);
}

/* How long there will be nothing to do, and `timeout_ms` at most; -1: for as long as it takes. */
static int pause_ms(const orrery_client *client, int64_t now_ms, int timeout_ms)
{
    int64_t until = timeout_ms < 0 ? INT64_MAX : now_ms + timeout_ms;

    if (client->timer_ms >= 0 && client->timer_ms < until)
        until = client->timer_ms;
    if (direct_due_ms(client) >= 0 && direct_due_ms(client) < until)
        until = direct_due_ms(client);
    for (const struct call *call = client->calls; call; call = call->next)
        if (call->state == CALL_WAITING && call->due_ms < until)
            until = call->due_ms;
        else if (call->state == CALL_SENT && call->deadline_ms < until)
            until = call->deadline_ms;
    if (until == INT64_MAX)
        return -1;
    return until <= now_ms ? 0 : until - now_ms > 60000 ? 60000 : (int)(until - now_ms);
}

static void wake_waiting(orrery_client *client, int64_t now_ms)
{
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (call->state == CALL_WAITING && call->due_ms <= now_ms)
            call_wake(call);
    }
}

/* Whose answer has not come in their time, by our clock. */
static void end_overdue(orrery_client *client, int64_t now_ms)
{
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (call->state != CALL_SENT || call->deadline_ms > now_ms)
            continue;
        transport_cancel(call);
        call_attempt_ended(call, CURLE_OPERATION_TIMEDOUT);
    }
}

orrery_status transport_turn(orrery_client *client, int timeout_ms)
{
    int wait_ms = pause_ms(client, env_monotonic_ms(client->env), timeout_ms);
    orrery_status status;
    int64_t now_ms;

    if (wait_ms < 0 && client->fd_count == 0)
        return ORRERY_EIO; /* nothing would ever happen */
    status = client->transport->turn(client, wait_ms);
    now_ms = env_monotonic_ms(client->env);
    wake_waiting(client, now_ms);
    end_overdue(client, now_ms);
    return status;
}

/* Somebody must be told of a call that ended while another one was waited for. */
static int run_in_ms(const orrery_client *client)
{
    return client->ended ? 0 : pause_ms(client, env_monotonic_ms(client->env), bulk_pause_ms(client, -1));
}

size_t orrery_poll_set(const orrery_client *client, struct pollfd *fds, size_t capacity, int *timeout_ms)
{
    if (timeout_ms)
        *timeout_ms = client ? run_in_ms(client) : -1;
    for (size_t i = 0; client && i < client->fd_count && i < capacity; i++)
        fds[i] = client->fds[i];
    return client ? client->fd_count : 0;
}
