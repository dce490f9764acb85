/* client/diagnose.c - what calls took, for whoever asked for it, who is told of each request, and whose thread it is. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <stdatomic.h>

#include "client.h"

static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

static void tell(const struct call *call, const orrery_trace_event *event)
{
    const orrery_client *client = call->client;
    orrery_trace_event told = *event;

    told.size = sizeof(told);
    told.method = methods[call->method];
    told.path = call->url.data + strlen(region_endpoint(call));
    client->trace(client->trace_context, &told);
}

void diagnose_sent(struct call *call)
{
    call->sent_us = env_monotonic_us(call->client->env);
    if (call->client->trace)
        tell(call, &(orrery_trace_event){ .attempt = call->attempts + 1, .retry_ms = -1 });
}

void diagnose_answered(struct call *call, orrery_status status, int retry_ms)
{
    const orrery_response *response = call->response;

    if (!call->client->trace)
        return;
    tell(call, &(orrery_trace_event){ .attempt = call->attempts,
                                      .has_ended = 1,
                                      .status = status,
                                      .http = response->http,
                                      .sub_status = response->sub_status,
                                      .elapsed_us = env_monotonic_us(call->client->env) - call->sent_us,
                                      .retry_ms = retry_ms,
                                      .charge = response->charge,
                                      .activity = orrery_response_activity(response) });
}

#ifdef ORRERY_DEBUG
void client_enter(orrery_client *client)
{
    uintptr_t self = (uintptr_t)pthread_self(), none = 0;

    if (client->thread != self && !atomic_compare_exchange_strong(&client->thread, &none, self)) {
        fprintf(stderr, "liborrery: two threads use one client at the same time\n");
        abort();
    }
    client->thread_depth++;
}

void client_leave(orrery_client *client)
{
    if (--client->thread_depth == 0)
        client->thread = 0;
}
#endif

static void put_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
    end_whole(to);
}

/* Whether the list has it, between commas. */
static bool has_range(const char *list, const char *range)
{
    size_t size = strlen(range);

    for (const char *at = list; (at = strstr(at, range)); at++)
        if ((at == list || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

static void add_range(char *list, size_t size, const char *range)
{
    size_t used = strlen(list);

    if (range && *range && !has_range(list, range) && used + strlen(range) + 2 <= size)
        snprintf(list + used, size - used, "%s%s", used ? "," : "", range);
}

static void add_call(orrery_diagnostics *sum, const struct call *call)
{
    const orrery_response *response = call->response;

    sum->calls++;
    sum->attempts += call->attempts;
    sum->http = response->http;
    sum->sub_status = response->sub_status;
    sum->status = call->status;
    sum->elapsed_us += env_monotonic_us(call->client->env) - call->begun_us;
    sum->waited_us += call->waited_ms * 1000;
    sum->charge += call->charge;
    add_range(sum->ranges, sizeof(sum->ranges),
              orrery_response_header(response, "x-ms-documentdb-partitionkeyrangeid"));
    put_text(sum->session, sizeof(sum->session), orrery_response_session(response));
    put_text(sum->activity, sizeof(sum->activity), orrery_response_activity(response));
}

/* A program that knows fewer figures gets those that it knows. */
void diagnose_ended(struct call *call)
{
    orrery_diagnostics *given = call->diagnostics, sum = { .size = 0 };
    size_t bytes = given && struct_is_sized(given) ? given->size : 0;

    if (bytes == 0)
        return;
    if (bytes > sizeof(sum))
        bytes = sizeof(sum);
    memcpy(&sum, given, bytes);
    add_call(&sum, call);
    memcpy(given, &sum, bytes);
}
