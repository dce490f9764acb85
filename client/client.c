/* client/client.c - a client: its settings, how it ends, and why its last call failed. */
#include <stdarg.h>
#include <stdlib.h>

#include "base/encode.h"
#include "client.h"

enum {
    TIMEOUT_MS_DEFAULT = 60000,
    CONNECT_TIMEOUT_MS_DEFAULT = 10000,
    CONNECTIONS_DEFAULT = 32,
    RETRIES_DEFAULT = 9,
    RETRY_WAIT_MS_DEFAULT = 30000,
    ERROR_BYTES_MAX = 512,
};

struct slice size_of(const char *text, size_t size)
{
    if (!text)
        return slice_make(NULL, 0);
    return slice_make(text, size == ORRERY_TEXT ? strlen(text) : size);
}

void orrery_free(void *memory)
{
    allocator_free(memory);
}

void client_begin(orrery_client *client)
{
    allocator_free(client->error);
    client->error = NULL;
    client->plain_error = NULL;
    orrery_response_free(client->failed);
    client->failed = NULL;
}

void end_whole(char *text)
{
    size_t size = strlen(text), tail = 0;
    unsigned char lead;

    while (tail < size && tail < 3 && ((unsigned char)text[size - 1 - tail] & 0xC0) == 0x80)
        tail++;
    lead = tail < size ? (unsigned char)text[size - 1 - tail] : 0;
    if (lead >= 0xC0 && tail < (lead >= 0xF0 ? 3u : lead >= 0xE0 ? 2u : 1u))
        text[size - 1 - tail] = '\0';
}

static orrery_status keep_error(orrery_client *client, orrery_status status, const char *line)
{
    allocator_free(client->error);
    client->error = memory_text(slice_of(line));
    client->plain_error = client->error ? NULL : orrery_status_text(status);
    return status;
}

static void print_line(char line[ERROR_BYTES_MAX], const char *fmt, va_list args)
{
    vsnprintf(line, ERROR_BYTES_MAX, fmt, args);
    end_whole(line);
}

orrery_status client_fail(orrery_client *client, orrery_status status, const char *fmt, ...)
{
    char line[ERROR_BYTES_MAX];
    va_list args;

    va_start(args, fmt);
    print_line(line, fmt, args);
    va_end(args);
    return keep_error(client, status, line);
}

orrery_status client_refuse(orrery_client *client, orrery_status status, const char *fmt, ...)
{
    char line[ERROR_BYTES_MAX];
    va_list args;

    va_start(args, fmt);
    print_line(line, fmt, args);
    va_end(args);
    client_begin(client); /* only now: the text may name what the last failed answer had */
    return keep_error(client, status, line);
}

orrery_status client_no_memory(orrery_client *client)
{
    allocator_free(client->error);
    client->error = NULL;
    client->plain_error = orrery_status_text(ORRERY_ENOMEM);
    return ORRERY_ENOMEM;
}

const char *orrery_error(const orrery_client *client)
{
    if (!client)
        return "there is no client";
    return client->error ? client->error : client->plain_error ? client->plain_error : "";
}

const orrery_response *orrery_failed_response(const orrery_client *client)
{
    return client ? client->failed : NULL;
}

static int or_else(int setting, int otherwise)
{
    return setting > 0 ? setting : otherwise;
}

static void set_numbers(orrery_client *client, const orrery_settings *settings)
{
    int retries = SETTING(settings, retries_max);

    client->trust_any_certificate = SETTING(settings, trust_any_certificate) != 0;
    client->no_proxy = SETTING(settings, no_proxy) != 0;
    client->timeout_ms = or_else(SETTING(settings, timeout_ms), TIMEOUT_MS_DEFAULT);
    client->connect_timeout_ms = or_else(SETTING(settings, connect_timeout_ms), CONNECT_TIMEOUT_MS_DEFAULT);
    client->connections_max = or_else(SETTING(settings, connections_max), CONNECTIONS_DEFAULT);
    client->retries_max = retries < 0 ? 0 : or_else(retries, RETRIES_DEFAULT);
    client->retry_wait_ms_max = or_else(SETTING(settings, retry_wait_ms_max), RETRY_WAIT_MS_DEFAULT);
}

static bool set_text(char **to, const char *text)
{
    *to = text ? memory_text(slice_of(text)) : NULL;
    return !text || *to;
}

static bool set_user_agent(orrery_client *client, const char *given)
{
    char line[256];

    snprintf(line, sizeof(line), "%s%sliborrery/%s", given ? given : "", given ? " " : "", ORRERY_VERSION);
    return set_text(&client->user_agent, line);
}

orrery_status orrery_allocate_by(orrery_resize *resize, void *context)
{
    return resize && allocator_choose(resize, context) ? ORRERY_OK : ORRERY_EINVAL;
}

/* Inside the program there is no endpoint, and a URL is a path. */
static bool set_texts(orrery_client *client, const orrery_settings *settings)
{
    const char *endpoint = SETTING(settings, endpoint) ? settings->endpoint : "";
    size_t size = strlen(endpoint);

    while (size > 0 && endpoint[size - 1] == '/')
        size--;
    client->endpoint = memory_text(slice_make(endpoint, size));
    client->bearer_token = SETTING(settings, bearer_token);
    client->bearer_context = SETTING(settings, bearer_context);
    client->trace = SETTING(settings, trace);
    client->trace_context = SETTING(settings, trace_context);
    return client->endpoint && set_text(&client->token, SETTING(settings, resource_token)) &&
           set_text(&client->consistency, SETTING(settings, consistency)) &&
           set_text(&client->ca_file, SETTING(settings, ca_file)) &&
           set_user_agent(client, SETTING(settings, user_agent));
}

static orrery_status set_key(orrery_client *client, const char *text)
{
    uint8_t key[KEY_BYTES_MAX];
    size_t size = 0;
    bool good;

    if (!base64_decode(slice_of(text), key, sizeof(key), &size) || size == 0)
        return ORRERY_EINVAL;
    good = sign_open(client, key, size);
    explicit_bzero(key, sizeof(key));
    return good ? ORRERY_OK : ORRERY_ENOMEM;
}

static bool has_database(const orrery_settings *settings)
{
    return SETTING(settings, directory) || SETTING(settings, memory) || SETTING(settings, database_of);
}

static bool key_is_sensible(const char *text)
{
    uint8_t key[KEY_BYTES_MAX];
    size_t size = 0;
    bool good = base64_decode(slice_of(text), key, sizeof(key), &size) && size > 0;

    explicit_bzero(key, sizeof(key));
    return good;
}

/* Of settings that name an endpoint. */
static const char *mistake_of_http(const orrery_settings *settings)
{
    const char *endpoint = settings->endpoint;
    int ways = (SETTING(settings, key) != NULL) + (SETTING(settings, resource_token) != NULL) +
               (SETTING(settings, bearer_token) != NULL);

    if (strncmp(endpoint, "http://", 7) != 0 && strncmp(endpoint, "https://", 8) != 0)
        return "an endpoint begins with http:// or https://";
    if (ways != 1)
        return ways ? "there is more than one of a key, a resource token and bearer tokens"
                    : "there is neither a key nor a resource token nor bearer tokens";
    if (SETTING(settings, key) && !key_is_sensible(settings->key))
        return "the key is no base64, or longer than any key";
    return "";
}

const char *orrery_open_error(const orrery_settings *settings)
{
    int places;

    if (!settings)
        return "there are no settings";
    if (!struct_is_sized(settings))
        return "settings begin with their size: { .size = sizeof(settings), ... }";
    places = (SETTING(settings, endpoint) != NULL) + (SETTING(settings, directory) != NULL) +
             (SETTING(settings, memory) != 0) + (SETTING(settings, database_of) != NULL);
    if (places != 1)
        return places ? "there is more than one of endpoint, directory, memory and database_of"
                      : "there is no endpoint, nor a database inside the program";
    if (!has_database(settings))
        return mistake_of_http(settings);
    if (SETTING(settings, direct))
        return "Direct mode is for an endpoint";
    if (SETTING(settings, key) || SETTING(settings, resource_token) || SETTING(settings, bearer_token))
        return "a database inside the program has no key, and nobody signs";
    return "";
}

/* Tells the caller who wants to know it why there is no client. */
static orrery_status say_why(const orrery_settings *settings, orrery_status status, const char *words)
{
    char *why = SETTING(settings, why);
    size_t size = SETTING(settings, why_size);

    if (status != ORRERY_OK && why && size > 0) {
        snprintf(why, size, "%s", words && *words ? words : orrery_status_text(status));
        end_whole(why);
    }
    return status;
}

static orrery_status begin(orrery_client *client, const orrery_settings *settings)
{
    orrery_status status;

    client->env = env_system();
    client->transport = has_database(settings)      ? &transport_embedded
                        : SETTING(settings, direct) ? &transport_direct
                                                    : &transport_http;
    set_numbers(client, settings);
    if (!set_texts(client, settings))
        return client_no_memory(client);
    status = SETTING(settings, key) ? set_key(client, settings->key) : ORRERY_OK;
    if (status == ORRERY_EINVAL)
        return client_fail(client, status, "the key is no base64");
    if (status == ORRERY_OK)
        status = share_take(client, SETTING(settings, share));
    return status == ORRERY_OK ? transport_open(client, settings) : status;
}

orrery_status orrery_open(const orrery_settings *settings, orrery_client **client)
{
    orrery_client *made;
    orrery_status status;
    const char *mistake;

    if (!client)
        return ORRERY_EINVAL;
    *client = NULL;
    mistake = orrery_open_error(settings);
    if (*mistake)
        return settings && struct_is_sized(settings) ? say_why(settings, ORRERY_EINVAL, mistake)
                                                     : ORRERY_EINVAL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return say_why(settings, ORRERY_ENOMEM, NULL);
    status = begin(made, settings);
    say_why(settings, status, orrery_error(made));
    if (status == ORRERY_OK)
        *client = made;
    else
        orrery_close(made);
    return status;
}

void orrery_close(orrery_client *client)
{
    if (!client)
        return;
    bulk_close_all(client);
    while (client->calls)
        call_free(client->calls);
    while (client->ended) {
        struct call *call = client->ended;

        client->ended = call->next;
        call_free(call);
    }
    client_begin(client);
    transport_close(client);
    orrery_share_free(client->share);
    allocator_free(client->session_text);
    resolver_forget_all(client);
    sign_close(client);
    allocator_free(client->endpoint);
    allocator_free(client->read_endpoint);
    allocator_free(client->write_endpoint);
    allocator_free(client->token);
    allocator_free(client->consistency);
    allocator_free(client->ca_file);
    allocator_free(client->user_agent);
    allocator_free(client);
}
