/* src/route/origin.c - Host and Origin. */
#include <arpa/inet.h>

#include "route/origin.h"

/* The name or the address, without its brackets. What follows it, a port, goes into `rest`. */
static struct slice host_of(struct slice header, struct slice *rest)
{
    bool bracketed = header.size && header.data[0] == '[';
    const char *end = memchr(header.data, bracketed ? ']' : ':', header.size);
    size_t size = end ? (size_t)(end - header.data) : header.size;

    *rest = slice_after(header, bracketed && end ? size + 1 : size);
    return bracketed && end ? slice_make(header.data + 1, size - 1) : slice_make(header.data, size);
}

/* Whether the text has only characters of names and addresses. */
static bool is_host(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
              c == '.' || c == '_' || c == ':'))
            return false;
    }
    return true;
}

/* Nothing, or a colon and digits. */
static bool is_port(struct slice text)
{
    for (size_t i = 1; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size == 0 || text.data[0] == ':';
}

/* The owner of a web page can point its name at our address. An address as the host cannot be pointed anywhere. */
static bool is_address(struct slice host)
{
    char text[INET6_ADDRSTRLEN + 1];
    struct in6_addr address;

    if (host.size == 0 || host.size >= sizeof(text))
        return false;
    memcpy(text, host.data, host.size);
    text[host.size] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_localhost(struct slice host)
{
    static const char ending[] = ".localhost";
    size_t size = sizeof(ending) - 1;

    return slice_is_nocase(host, "localhost") ||
           (host.size > size && slice_is_nocase(slice_after(host, host.size - size), ending));
}

enum status origin_check_host(struct op *op, const struct route_options *options,
                              const struct request *request)
{
    struct slice header = slice_trim(request->header[HEADER_HOST]);
    struct slice host, port;

    if (options->trusts_all || request->direct) /* no web page can speak the latter */
        return ST_OK;
    if (!header.data || header.size == 0)
        return op_fail(op, ST_BAD_HEADER, "The request has no Host header.");
    host = host_of(header, &port);
    if (!is_host(host) ||
        !is_port(port)) /* the account tells clients to go on with this text as their endpoint */
        return op_fail(op, ST_BAD_HEADER, "The Host header is malformed.");
    if (is_address(host) || is_localhost(host))
        return ST_OK;
    for (size_t i = 0; i < options->host_name_count; i++)
        if ((strcmp(options->host_names[i], "*") == 0 && host.size > 0) ||
            slice_is_nocase(host, options->host_names[i]))
            return ST_OK;
    return op_fail(op, ST_FORBIDDEN,
                   "The server does not answer to the name '%.*s'. Start it with --host-name to let it.",
                   host.size > 255 ? 255 : (int)host.size, host.data);
}

static bool may_ask(const struct route_options *options, struct slice origin)
{
    for (size_t i = 0; i < options->cors_origin_count; i++)
        if (strcmp(options->cors_origins[i], "*") == 0 || slice_is(origin, options->cors_origins[i]))
            return true;
    return false;
}

static void add(struct answer *answer, const char *name, struct slice value)
{
    buf_text(&answer->head, name);
    buf_slice(&answer->head, value);
    buf_text(&answer->head, "\r\n");
}

bool origin_allow(const struct route_options *options, const struct request *request, struct answer *answer)
{
    struct slice origin = slice_trim(request->header[HEADER_ORIGIN]);
    struct slice wanted = request->header[HEADER_ACCESS_CONTROL_REQUEST_HEADERS];

    if (!origin.data || !may_ask(options, origin))
        return false;
    add(answer, "access-control-allow-origin: ", origin);
    add(answer, "vary: ", slice_of("origin"));
    add(answer, "access-control-expose-headers: ", slice_of("*"));
    if (!request->header[HEADER_ACCESS_CONTROL_REQUEST_METHOD].data)
        return true;
    add(answer, "access-control-allow-methods: ", slice_of("GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"));
    add(answer, "access-control-max-age: ", slice_of("600"));
    if (wanted.data)
        add(answer, "access-control-allow-headers: ", wanted);
    return true;
}
