/*
 * test/unit/script/fake.c - a child that does what its script's source says, in a word.
 * It is this program itself, started once more under another name: its constructor sees that and never comes back.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "script/frames.h"

static char payload[1 << 20], source[64];

static void write_bytes(const void *bytes, size_t size)
{
    if (write(FRAME_FD, bytes, size) != (ssize_t)size)
        _exit(1);
}

static void say_size(uint32_t size)
{
    uint8_t head[4] = { (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24) };

    write_bytes(head, 4);
}

static void say(char kind, const char *text)
{
    say_size((uint32_t)strlen(text) + 1);
    write_bytes(&kind, 1);
    write_bytes(text, strlen(text));
}

static void read_bytes(void *to, size_t size)
{
    for (char *at = to; size;) {
        ssize_t got = read(FRAME_FD, at, size);

        if (got <= 0)
            _exit(0);
        at += got;
        size -= (size_t)got;
    }
}

static char hear(void)
{
    uint8_t head[5];
    uint32_t size;

    read_bytes(head, sizeof(head));
    size = (uint32_t)(head[0] | head[1] << 8 | head[2] << 16 | head[3] << 24) - 1;
    if (size >= sizeof(payload))
        _exit(1);
    read_bytes(payload, size);
    payload[size] = '\0';
    return (char)head[4];
}

static void load(void)
{
    const char *at = strstr(payload, "\"source\":\"") + strlen("\"source\":\"");

    snprintf(source, sizeof(source), "%.*s", (int)(strchr(at, '"') - at), at);
}

static void hoard(void)
{
    for (;;)
        mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static void call(void)
{
    if (strcmp(source, "few values") == 0)
        say(FRAME_VALUES, "[]");
    else if (strcmp(source, "error") == 0)
        say(FRAME_VALUES, "[{\"error\":\"Error: bad\",\"stack\":\"here\"}]");
    else
        say(FRAME_VALUES, "[{\"value\":7}]");
}

/* Asks, serves functions while it waits, and answers with the answers. */
static void operate(void)
{
    static char body[sizeof(payload) + 16];

    say(FRAME_OPERATIONS, "{\"ops\":[{\"op\":\"one\"},{\"op\":\"two\"}]}");
    for (char kind = hear(); kind != FRAME_ANSWERS; kind = hear()) {
        if (kind == FRAME_LOAD)
            load();
        else
            call();
    }
    snprintf(body, sizeof(body), "{\"body\":%s}", payload);
    say(FRAME_DONE, body);
}

/* The first time it is asked. */
static void forget(void)
{
    static bool knows;

    if (knows)
        say(FRAME_DONE, "{\"body\":\"again\"}");
    else
        say(FRAME_UNKNOWN, "{\"key\":\"k\"}");
    knows = true;
}

static void run(void)
{
    if (strcmp(source, "done") == 0)
        say(FRAME_DONE, strstr(payload, "[1]") ? "{\"body\":1}" : "{}");
    else if (strcmp(source, "operate") == 0)
        operate();
    else if (strcmp(source, "fail") == 0)
        say(FRAME_FAILED,
            "{\"number\":404,\"exception\":\"Error: oops\",\"stack\":\"at p.js\",\"from\":\"throw\"}");
    else if (strcmp(source, "loop") == 0)
        wait_for_ever();
    else if (strcmp(source, "hoard") == 0)
        hoard();
    else if (strcmp(source, "die") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(source, "empty frame") == 0)
        say_size(0), wait_for_ever();
    else if (strcmp(source, "large frame") == 0)
        say_size(FRAME_BYTES_MAX + 1), wait_for_ever();
    else if (strcmp(source, "half a frame") == 0)
        say_size(100), write_bytes("D{", 2), _exit(0);
    else if (strcmp(source, "no json") == 0)
        say(FRAME_DONE, "{");
    else if (strcmp(source, "wrong frame") == 0)
        say(FRAME_HELLO, "{}");
    else if (strcmp(source, "no operations") == 0)
        say(FRAME_OPERATIONS, "{\"ops\":[]}"), hear();
    else if (strcmp(source, "forget") == 0)
        forget();
}

__attribute__((constructor)) static void be_a_child(int argc, char **argv)
{
    if (argc < 1 || strcmp(argv[0], "orrery-js") != 0)
        return;
    say(FRAME_HELLO, "{\"frames\":1}");
    for (;;) {
        char kind = hear();

        if (kind == FRAME_LOAD)
            load();
        else if (kind == FRAME_RUN)
            run();
        else if (kind == FRAME_CALL)
            call();
    }
}
