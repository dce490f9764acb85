/* client/response.c - an answer: its head and body as they come in, and what is asked of them later. */
#include <stdlib.h>

#include "client.h"

orrery_response *response_new(void)
{
    return allocator_zeroed(1, sizeof(orrery_response));
}

void orrery_response_free(orrery_response *response)
{
    if (!response)
        return;
    orrery_json_free(response->json);
    allocator_free(response->body);
    allocator_free(response->head);
    allocator_free(response);
}

void response_clear(orrery_response *response)
{
    response->http = response->sub_status = 0;
    response->charge = 0;
    response->body_bytes = response->head_bytes = 0;
    response->no_memory = response->too_large = false;
}

/* Room for `more` bytes and a NUL. */
static bool make_room(orrery_response *response, char **bytes, size_t used, size_t *capacity, size_t more,
                      size_t limit)
{
    enum { LEAST_BYTES = 2048 };
    size_t wanted = used + more + 1;

    if (wanted > limit)
        response->too_large = true;
    else if (memory_grow(bytes, capacity, wanted > LEAST_BYTES ? wanted : LEAST_BYTES, 1))
        return true;
    else
        response->no_memory = true;
    return false;
}

size_t response_take_body(orrery_response *response, const char *bytes, size_t size)
{
    if (!make_room(response, &response->body, response->body_bytes, &response->body_capacity, size,
                   BODY_BYTES_MAX))
        return 0;
    memcpy(response->body + response->body_bytes, bytes, size);
    response->body_bytes += size;
    response->body[response->body_bytes] = '\0';
    return size;
}

bool response_set_body(orrery_response *response, struct slice body)
{
    response->body = memory_text(body);
    response->body_bytes = body.size;
    return response->body;
}

static bool same_letter(char a, char b)
{
    return a == b || ((a | 32) == (b | 32) && (a | 32) >= 'a' && (a | 32) <= 'z');
}

/* The value of a line that begins with the name; NULL: of another one. Most lines differ early, and no line is measured. */
static const char *value_in(const char *line, const char *name, size_t name_size)
{
    for (size_t i = 0; i < name_size; i++)
        if (!same_letter(line[i], name[i]))
            return NULL;
    if (line[name_size] != ':')
        return NULL;
    line += name_size + 1;
    return line + strspn(line, " \t");
}

/* What every answer is looked at for, while its line is at hand. */
static void note(orrery_response *response, const char *line)
{
    const char *value;

    if ((line[0] | 32) != 'x')
        return;
    if ((value = value_in(line, "x-ms-request-charge", 19)))
        response->charge = strtod(value, NULL);
    else if ((value = value_in(line, "x-ms-substatus", 14)))
        response->sub_status = (int)strtol(value, NULL, 10);
}

size_t response_take_head(orrery_response *response, const char *line, size_t size)
{
    size_t kept = size;
    char *to;

    while (kept > 0 && (line[kept - 1] == '\r' || line[kept - 1] == '\n'))
        kept--;
    if (kept == 0)
        return size;
    if (slice_starts_with(slice_make(line, kept), "HTTP/")) /* what came before was an interim answer */
        response->head_bytes = 0;
    if (!make_room(response, &response->head, response->head_bytes, &response->head_capacity, kept,
                   HEAD_BYTES_MAX))
        return 0;
    to = response->head + response->head_bytes;
    memcpy(to, line, kept);
    to[kept] = '\0';
    response->head_bytes += kept + 1;
    note(response, to);
    return size;
}

int orrery_response_http(const orrery_response *response)
{
    return response ? response->http : 0;
}

int orrery_response_sub_status(const orrery_response *response)
{
    return response ? response->sub_status : 0;
}

double orrery_response_charge(const orrery_response *response)
{
    return response ? response->charge : 0;
}

int orrery_response_attempts(const orrery_response *response)
{
    return response ? response->attempts : 0;
}

const char *orrery_response_body(const orrery_response *response, size_t *size)
{
    bool empty = !response || response->body_bytes == 0;

    if (size)
        *size = empty ? 0 : response->body_bytes;
    return empty ? "" : response->body;
}

const char *orrery_response_header(const orrery_response *response, const char *name)
{
    size_t name_size = name ? strlen(name) : 0;

    if (!response || name_size == 0)
        return NULL;
    for (size_t at = 0; at < response->head_bytes; at += strlen(response->head + at) + 1) {
        const char *value = value_in(response->head + at, name, name_size);

        if (value)
            return value;
    }
    return NULL;
}

const char *orrery_response_etag(const orrery_response *response)
{
    return orrery_response_header(response, "etag");
}

const char *orrery_response_activity(const orrery_response *response)
{
    return orrery_response_header(response, "x-ms-activity-id");
}

const char *orrery_response_session(const orrery_response *response)
{
    return orrery_response_header(response, "x-ms-session-token");
}

const char *orrery_response_continuation(const orrery_response *response)
{
    return orrery_response_header(response, "x-ms-continuation");
}

orrery_value orrery_response_json(orrery_response *response)
{
    if (response && !response->json && response->body_bytes > 0 &&
        orrery_json_parse(response->body, response->body_bytes, &response->json) != ORRERY_OK)
        response->json = NULL;
    return orrery_json_root(response ? response->json : NULL);
}

struct http_row {
    int http;
    orrery_status status;
};

static const struct http_row http_rows[] = {
    { 304, ORRERY_NOT_MODIFIED },  { 400, ORRERY_EBADREQUEST }, { 401, ORRERY_EUNAUTHORIZED },
    { 403, ORRERY_EUNAUTHORIZED }, { 404, ORRERY_ENOTFOUND },   { 408, ORRERY_ETIMEOUT },
    { 409, ORRERY_ECONFLICT },     { 410, ORRERY_EGONE },       { 412, ORRERY_EPRECONDITION },
    { 413, ORRERY_ETOOLARGE },     { 429, ORRERY_ETHROTTLED },  { 449, ORRERY_ERETRY },
};

orrery_status http_status(int http)
{
    for (size_t i = 0; i < sizeof(http_rows) / sizeof(http_rows[0]); i++)
        if (http_rows[i].http == http)
            return http_rows[i].status;
    if (http >= 200 && http < 300)
        return ORRERY_OK;
    return http >= 500 && http < 600 ? ORRERY_ESERVER : ORRERY_EHTTP;
}
