/* cli/connect.c - the client of a command, how failures are told, Ctrl-C, partition keys as people write them. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"
#include "text.h"

enum { STEP_MS = 100 }; /* how long Ctrl-C may go unnoticed */

/* ---- Ctrl-C */

static volatile sig_atomic_t was_interrupted;

static void note_interrupt(int number)
{
    (void)number;
    was_interrupted = 1;
}

bool interrupted(void)
{
    return was_interrupted;
}

void interrupt_clear(void)
{
    was_interrupted = 0;
}

void interrupt_catch(void)
{
    struct sigaction action = { .sa_handler = note_interrupt };

    sigaction(SIGINT, &action, NULL);
}

orrery_status cursor_step(orrery_client *client, orrery_query *query)
{
    orrery_status status = orrery_query_step(query);

    while (status == ORRERY_WAIT) {
        if (interrupted())
            return ORRERY_ECANCELED;
        orrery_run(client, STEP_MS, NULL);
        status = orrery_query_step(query);
    }
    return interrupted() ? ORRERY_ECANCELED : status;
}

int64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- the client */

static bool colours_wanted(int descriptor)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(descriptor) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

bool cli_open(struct cli *cli, const struct options *options)
{
    char why[256] = "";
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = options->endpoint,
                                 .key = options->key,
                                 .resource_token = options->token,
                                 .ca_file = options->ca_file,
                                 .trust_any_certificate = options->insecure,
                                 .user_agent = "orrery-cli",
                                 .why = why,
                                 .why_size = sizeof(why) };

    *cli = (struct cli){ .options = options, .colours = colours_wanted(STDERR_FILENO) };
    if (orrery_open(&settings, &cli->client) == ORRERY_OK)
        return true;
    tell("%s", why);
    return false;
}

void cli_close(struct cli *cli)
{
    orrery_close(cli->client);
    cli->client = NULL;
}

/* ---- failures */

void tell(const char *fmt, ...)
{
    struct text line = { 0 }, safe = { 0 };
    va_list args;
    char *got = NULL;

    va_start(args, fmt);
    if (vasprintf(&got, fmt, args) >= 0)
        text_puts(&line, got);
    va_end(args);
    free(got);
    text_safe(&safe, text_of(&line), line.size);
    fprintf(stderr, "orrery: %s\n", text_of(&safe));
    text_free(&line);
    text_free(&safe);
}

/* The first of the service's mistakes: {"errors":[{"location":{"start":7,"end":9},"code":"SC1001","message":"..."}]}. */
struct found {
    char *message, *code;
    int64_t start, end; /* -1: nowhere */
};

static void read_mistake(struct found *found, const char *message)
{
    const char *brace = strcasestr(message, "{\"errors\"");
    const char *end = brace ? strrchr(brace, '}') : NULL;
    orrery_json *json = NULL;
    orrery_value first, place;

    found->start = found->end = -1;
    if (!end || orrery_json_parse(brace, (size_t)(end - brace) + 1, &json) != ORRERY_OK)
        return;
    first = orrery_value_element(orrery_value_member(orrery_json_root(json), "errors"), 0);
    if (orrery_value_type(first) == ORRERY_UNDEFINED) /* {"Errors":["..."]}, of everything but queries */
        first = orrery_value_element(orrery_value_member(orrery_json_root(json), "Errors"), 0);
    if (orrery_value_type(first) == ORRERY_STRING) {
        found->message = must_copy(orrery_value_text(first, NULL), strlen(orrery_value_text(first, NULL)));
        found->code = must_copy("", 0);
    }
    place = orrery_value_member(first, "location");
    if (orrery_value_type(place) == ORRERY_OBJECT) {
        found->start = orrery_value_int(orrery_value_member(place, "start"));
        found->end = orrery_value_int(orrery_value_member(place, "end"));
    }
    if (orrery_value_type(first) == ORRERY_OBJECT) {
        const char *text = orrery_value_text(orrery_value_member(first, "message"), NULL);
        const char *code = orrery_value_text(orrery_value_member(first, "code"), NULL);

        found->message = must_copy(text, strlen(text));
        found->code = must_copy(code, strlen(code));
    }
    orrery_json_free(json);
}

/* The line of the text that has the place, and carets below it. Places count UTF-16 units, as the service's do. */
static void point(const struct cli *cli, const char *sql, const struct found *found)
{
    struct text line = { 0 }, below = { 0 };
    size_t size = strlen(sql);
    int64_t unit = 0;

    for (size_t at = 0; at <= size;) {
        unsigned code = 0;
        size_t length = at < size ? text_character(sql + at, size - at, &code) : 1;
        bool inside = unit >= found->start && (unit < found->end || unit == found->start);

        if (at == size || code == '\n') {
            if (inside && memchr(text_of(&below), '^', below.size) == NULL)
                text_byte(&below, '^');
            if (memchr(text_of(&below), '^', below.size))
                break;
            text_empty(&line);
            text_empty(&below);
        } else {
            text_add(&line, code == '\t' ? " " : sql + at, length ? length : 1);
            text_byte(&below, inside ? '^' : ' ');
        }
        unit += code > 0xFFFF ? 2 : 1;
        at += length ? length : 1;
    }
    if (memchr(text_of(&below), '^', below.size)) {
        struct text safe = { 0 };

        while (below.size && below.data && below.data[below.size - 1] == ' ')
            below.data[--below.size] = '\0';
        text_safe(&safe, text_of(&line), line.size);
        fprintf(stderr, "  %s\n  %s%s%s\n", text_of(&safe), cli->colours ? "\033[31m" : "", text_of(&below),
                cli->colours ? "\033[0m" : "");
        text_free(&safe);
    }
    text_free(&line);
    text_free(&below);
}

void cli_tell(const struct cli *cli, orrery_status status, const char *sql)
{
    const orrery_response *answer = orrery_failed_response(cli->client);
    const char *said = orrery_error(cli->client);
    struct found found = { 0 };
    orrery_json *json = NULL;

    read_mistake(&found, said);
    if (found.start < 0 && answer &&
        orrery_json_parse(orrery_response_body(answer, NULL), ORRERY_TEXT, &json) == ORRERY_OK) {
        free(found.message);
        free(found.code);
        found = (struct found){ 0 };
        read_mistake(&found, orrery_value_text(orrery_value_member(orrery_json_root(json), "message"), NULL));
    }
    if (sql && found.start >= 0)
        point(cli, sql, &found);
    if (found.message)
        tell("%s: %s", *found.code ? found.code : orrery_status_text(status), found.message);
    else
        tell("%s%s%s", orrery_status_text(status), *said ? ": " : "", said);
    orrery_json_free(json);
    free(found.message);
    free(found.code);
}

/* ---- partition keys */

bool key_level(orrery_key *key, orrery_value value)
{
    size_t size;
    const char *text;

    switch (orrery_value_type(value)) {
    case ORRERY_STRING:
        text = orrery_value_text(value, &size);
        *key = orrery_key_bytes(text, size);
        return true;
    case ORRERY_NUMBER:
        *key = orrery_key_number(orrery_value_number(value));
        return true;
    case ORRERY_TRUE:
    case ORRERY_FALSE:
        *key = orrery_key_bool(orrery_value_bool(value));
        return true;
    case ORRERY_NULL:
        *key = orrery_key_null();
        return true;
    case ORRERY_UNDEFINED:
        *key = orrery_key_none();
        return true;
    default:
        return false;
    }
}

bool key_from_value(struct key *key, orrery_value value)
{
    size_t count = orrery_value_count(value);

    if (orrery_value_type(value) != ORRERY_ARRAY)
        return key_level(&key->key, value);
    if (count == 0 || count > 3)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!key_level(&key->level[i], orrery_value_element(value, i)))
            return false;
    key->key = count == 1 ? key->level[0] : orrery_key_list(key->level, count);
    return true;
}

bool key_read(struct key *key, const char *text)
{
    *key = (struct key){ 0 };
    if (orrery_json_parse(text, ORRERY_TEXT, &key->json) == ORRERY_OK)
        return key_from_value(key, orrery_json_root(key->json));
    key->key = orrery_key_text(text);
    return true;
}

void key_free(struct key *key)
{
    orrery_json_free(key->json);
    *key = (struct key){ 0 };
}
