/* src/main/ask_server.c - a signed request to the server that holds the data directory, over its own socket. */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/encode.h"
#include "json/json.h"
#include "main/ask_server.h"
#include "main/directory.h"
#include "main/keyfile.h"

enum { ANSWER_BYTES_MAX = 64 * 1024 };

/* "127.0.0.1:8081" or "[::1]:8081", as the server wrote it. -1 when it cannot be reached. */
static int connect_to(const char *address)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
    const char *colon = strrchr(address, ':');
    bool bracketed = address[0] == '[';
    char host[DIRECTORY_ADDRESS_SIZE];
    struct addrinfo *found = NULL;
    int connection;

    if (!colon || colon - address < 2 * bracketed)
        return -1;
    snprintf(host, sizeof(host), "%.*s", (int)(colon - address) - 2 * bracketed, address + bracketed);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return -1;
    connection = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection >= 0 && connect(connection, found->ai_addr, found->ai_addrlen) != 0) {
        close(connection);
        connection = -1;
    }
    freeaddrinfo(found);
    return connection;
}

/* `path` is _orrery/<command>. */
static enum status print_request(struct op *op, const char *address, const char *key,
                                 const struct server_question *question, struct buf *text)
{
    struct slice path = slice_of(question->path);
    const struct auth_subject subject = { .type = slice_of("_orrery"), .link = path, .writes = true };
    struct request request = { .method = question->method };
    char date[HTTP_DATE_SIZE + 1];
    struct slice authorization;
    enum status st;

    http_date_format(op->now_ms, date);
    request.header[HEADER_MS_DATE] = slice_of(date);
    TRY(auth_sign(op, key, &request, &subject, &authorization));
    buf_init(text, &op->arena);
    buf_printf(text, "%s /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method_name(question->method),
               question->path, address);
    buf_printf(text, "x-ms-date: %s\r\nauthorization: %.*s\r\n", date, SLICE_ARGS(authorization));
    buf_printf(text, "content-type: application/json\r\ncontent-length: %zu\r\n\r\n", question->body.size);
    buf_slice(text, question->body);
out:
    return st;
}

static bool exchange_bytes(int connection, struct slice request, struct buf *answer)
{
    ssize_t moved;
    char *room;

    while (request.size) {
        moved = write(connection, request.data, request.size);
        if (moved < 0)
            return false;
        request = slice_after(request, (size_t)moved);
    }
    while (answer->size < ANSWER_BYTES_MAX && (room = buf_reserve(answer, 4096))) {
        moved = read(connection, room, 4096);
        if (moved <= 0)
            return moved == 0;
        answer->size += (size_t)moved;
    }
    return false;
}

/* Fails with the first line of the error's message or, without a message, with the first line of the answer. */
static enum status explain(struct op *op, struct slice answer)
{
    const char *body = memmem(answer.data, answer.size, "\r\n\r\n", 4);
    const char *end = memchr(answer.data, '\r', answer.size);
    struct slice text = slice_make(answer.data, end ? (size_t)(end - answer.data) : answer.size);
    struct json parsed;

    if (body && json_parse(op, slice_after(answer, (size_t)(body - answer.data) + 4), &parsed) == ST_OK &&
        json_kind(json_get(parsed, "message")) == JSON_STRING) {
        text = json_string(json_get(parsed, "message"));
        end = memchr(text.data, '\r', text.size);
        text.size = end ? (size_t)(end - text.data) : text.size;
    }
    return op_fail(op, ST_UNAVAILABLE, "the server says: %.*s", SLICE_ARGS(text));
}

/* The answer without its head. */
static struct slice body_of(struct slice answer)
{
    const char *body = memmem(answer.data, answer.size, "\r\n\r\n", 4);

    return body ? slice_after(answer, (size_t)(body - answer.data) + 4) : slice_of("");
}

/* Sends a whole request, and takes a whole answer that is a success. */
static enum status exchange_at(struct op *op, const char *address, struct slice request, struct slice *body)
{
    struct buf answer;
    int connection;
    enum status st = ST_OK;

    buf_init(&answer, &op->arena);
    connection = connect_to(address);
    if (connection < 0)
        TRY(op_fail(op, ST_UNAVAILABLE, "the server at %s cannot be reached: %s", address, strerror(errno)));
    if (!exchange_bytes(connection, request, &answer))
        TRY(op_fail(op, ST_UNAVAILABLE, "the server at %s gave no answer: %s", address, strerror(errno)));
    if (!slice_starts_with(buf_as_slice(&answer), "HTTP/1.1 20"))
        TRY(explain(op, buf_as_slice(&answer)));
    *body = body_of(buf_as_slice(&answer));
out:
    if (connection >= 0)
        close(connection);
    return st;
}

static enum status ask_at(struct op *op, const char *address, const char *key,
                          const struct server_question *question, struct slice *body)
{
    struct buf request;
    enum status st;

    TRY(print_request(op, address, key, question, &request));
    TRY(exchange_at(op, address, buf_as_slice(&request), body));
out:
    return st;
}

enum status server_is_ready(struct op *op, const char *address)
{
    struct slice body;
    struct buf request;

    signal(SIGPIPE, SIG_IGN);
    buf_init(&request, &op->arena);
    buf_printf(&request, "GET /_orrery/ready HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address);
    return exchange_at(op, address, buf_as_slice(&request), &body);
}

enum status server_ask(struct op *op, const struct settings *settings, const char *address,
                       const struct server_question *question, struct slice *answer)
{
    struct key_texts keys;
    struct file_stamp stamp;
    enum status st;

    signal(SIGPIPE, SIG_IGN);
    if (!address[0])
        return op_fail(op, ST_UNAVAILABLE, "%s is in use by a program that is no server, or not yet ready",
                       settings->data);
    TRY(keys_read(op, settings, &keys, &stamp));
    TRY(ask_at(op, address, keys.text[AUTH_PRIMARY][0] ? keys.text[AUTH_PRIMARY] : keys.text[AUTH_SECONDARY],
               question, answer));
out:
    explicit_bzero(&keys, sizeof(keys));
    return st;
}
