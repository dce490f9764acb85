/* src/main/backup_command.c - orrery backup: by the server that holds the data, or without one. */
#include <sys/stat.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/encode.h"
#include "json/json.h"
#include "main/backup.h"
#include "main/backup_command.h"
#include "main/keyfile.h"

enum { ANSWER_BYTES_MAX = 64 * 1024 };

#define BACKUP_PATH "_orrery/backup"

/* --- by the server --- */

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

static enum status print_request(struct op *op, const char *address, const char *key, const char *target,
                                 struct buf *text)
{
    const struct auth_subject subject = { slice_of("_orrery"), slice_of(BACKUP_PATH), slice_of(BACKUP_PATH),
                                          slice_of("backup"), true };
    struct request request = { .method = METHOD_POST };
    char date[HTTP_DATE_SIZE + 1];
    struct slice authorization;
    struct buf body;
    enum status st;

    http_date_format(op->now_ms, date);
    request.header[HEADER_MS_DATE] = slice_of(date);
    TRY(auth_sign(op, key, &request, &subject, &authorization));
    buf_init(&body, &op->arena);
    buf_text(&body, "{\"directory\":");
    json_print_string(&body, slice_of(target));
    buf_text(&body, "}");
    buf_init(text, &op->arena);
    buf_printf(text, "POST /" BACKUP_PATH " HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", address);
    buf_printf(text, "x-ms-date: %s\r\nauthorization: %.*s\r\n", date, SLICE_ARGS(authorization));
    buf_printf(text, "content-type: application/json\r\ncontent-length: %zu\r\n\r\n", body.size);
    buf_slice(text, buf_as_slice(&body));
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

/* The error's message less what follows its sentence, or the answer's first line. */
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

static enum status ask_server(struct op *op, const char *address, const char *key, const char *target)
{
    struct buf request, answer;
    int connection = -1;
    enum status st;

    TRY(print_request(op, address, key, target, &request));
    buf_init(&answer, &op->arena);
    connection = connect_to(address);
    if (connection < 0)
        TRY(op_fail(op, ST_UNAVAILABLE, "the server at %s cannot be reached: %s", address, strerror(errno)));
    if (!exchange_bytes(connection, buf_as_slice(&request), &answer))
        TRY(op_fail(op, ST_UNAVAILABLE, "the server at %s gave no answer: %s", address, strerror(errno)));
    if (!slice_starts_with(buf_as_slice(&answer), "HTTP/1.1 201 "))
        TRY(explain(op, buf_as_slice(&answer)));
out:
    if (connection >= 0)
        close(connection);
    return st;
}

static enum status by_server(struct op *op, const struct settings *settings, const char *address,
                             const char *target)
{
    struct key_texts keys;
    struct keyfile_stamp stamp;
    enum status st;

    if (!address[0])
        return op_fail(op, ST_UNAVAILABLE, "%s is in use by a program that is no server, or not yet ready",
                       settings->data);
    TRY(keys_read(op, settings, &keys, &stamp));
    TRY(ask_server(op, address,
                   keys.text[AUTH_PRIMARY][0] ? keys.text[AUTH_PRIMARY] : keys.text[AUTH_SECONDARY], target));
out:
    explicit_bzero(&keys, sizeof(keys));
    return st;
}

/* --- without one --- */

static enum status by_ourselves(struct op *op, const struct settings *settings, const char *target)
{
    struct directory directory = { .lock = -1 };
    struct store_options options = { .kind = STORE_ROCKSDB, .sync = true, .cache_bytes = 64 << 20 };
    struct store *store = NULL;
    struct stat info;
    enum status st;

    if (stat(settings->data, &info) == 0 &&
        info.st_uid != geteuid()) /* the store makes files of its own there */
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%s belongs to another user: make the copy as that user",
                    settings->data));
    TRY(directory_open(op, settings->data, true, &directory));
    options.directory = directory.store;
    TRY(store_open(op, &options, &store));
    TRY(backup_make(op, &directory, store, target));
out:
    store_close(store);
    directory_close(&directory);
    return st;
}

/* The server's working directory is not ours. */
static enum status make_absolute(struct op *op, const char *given, struct buf *target)
{
    char here[PATH_MAX];

    if (given[0] != '/' && !getcwd(here, sizeof(here)))
        return op_fail(op, ST_UNAVAILABLE, "cannot tell the working directory: %s", strerror(errno));
    buf_init(target, &op->arena);
    buf_printf(target, "%s%s%s", given[0] == '/' ? "" : here, given[0] == '/' ? "" : "/", given);
    buf_byte(target, '\0');
    return ST_OK;
}

static enum status run(struct op *op, const struct settings *settings, const char *given)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    struct buf target;
    enum status st;

    TRY(make_absolute(op, given, &target));
    st = directory_is_held(op, settings->data, address) ? by_server(op, settings, address, target.data)
                                                        : by_ourselves(op, settings, target.data);
    if (st == ST_OK)
        printf("%s\n", target.data);
out:
    return st;
}

int backup_command(int argc, char **argv)
{
    struct settings settings;
    struct op op;
    enum status st;

    if (argc < 3 || strncmp(argv[2], "--", 2) == 0 || !argv[2][0]) {
        fputs("usage: orrery backup DIR [flags of serve]\n", stderr);
        return 2;
    }
    if (!settings_read(&settings, argc, argv, 3))
        return 2;
    signal(SIGPIPE, SIG_IGN);
    op_init(&op, env_system(), SIZE_MAX);
    op.may_block = true;
    st = run(&op, &settings, argv[2]);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
    op_free(&op);
    return st != ST_OK;
}
