/*
 * test/fuzz/client_frame_fuzz.c - any bytes as what a server answers in Direct mode, cut anywhere.
 * The first byte says how the rest is cut. Three calls wait for answers; the greeting is answered well, unless the first byte is
 * odd. The linker sends the connection's own functions here (CMakeLists.txt), so that no socket is needed.
 */
#include <stdlib.h>

#include "direct.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct wire *__wrap_wire_open(struct wire_place *place, struct wire_error *error);
enum wire_step __wrap_wire_connect(struct wire *wire, struct wire_error *error);
long __wrap_wire_read(struct wire *wire, char *bytes, size_t size);
long __wrap_wire_write(struct wire *wire, const char *bytes, size_t size);
void __wrap_wire_close(struct wire *wire);
bool __wrap_wire_wants_out(const struct wire *wire);

static const char hello[] = "\x18\0\0\0\xc8\0\0\0................";
static struct slice greeting, rest;
static size_t piece_bytes;

struct wire *__wrap_wire_open(struct wire_place *place, struct wire_error *error)
{
    static char any;

    (void)place, (void)error;
    return (struct wire *)&any;
}

enum wire_step __wrap_wire_connect(struct wire *wire, struct wire_error *error)
{
    (void)wire, (void)error;
    return WIRE_READY;
}

/* Pieces of the input; at its end the connection is over. */
long __wrap_wire_read(struct wire *wire, char *bytes, size_t size)
{
    struct slice *from = greeting.size ? &greeting : &rest;
    size_t taken = from->size < piece_bytes ? from->size : piece_bytes;

    (void)wire;
    taken = taken < size ? taken : size;
    if (taken == 0)
        return -1;
    memcpy(bytes, from->data, taken);
    *from = slice_after(*from, taken);
    return (long)taken;
}

long __wrap_wire_write(struct wire *wire, const char *bytes, size_t size)
{
    (void)wire, (void)bytes;
    return (long)size;
}

void __wrap_wire_close(struct wire *wire)
{
    (void)wire;
}

bool __wrap_wire_wants_out(const struct wire *wire)
{
    (void)wire;
    return false;
}

static void ask(struct link *link, struct call **call)
{
    static const char bytes[] = "a request";

    *call = call_new(link->client, METHOD_GET, NULL);
    if (!*call || call_target(*call, "dbs/d/colls/c/docs/1") != ORRERY_OK)
        abort();
    (*call)->state = CALL_SENT;
    link->last_id++;
    if (!link_ask(link, *call, slice_make(bytes, sizeof(bytes))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = "http://127.0.0.1:1",
                                 .key = "a2V5",
                                 .direct = 1,
                                 .retries_max = -1 };
    orrery_client *client = NULL;
    struct call *calls[3];
    struct link *link;

    if (size == 0 || orrery_open(&settings, &client) != ORRERY_OK)
        return 0;
    piece_bytes = data[0] / 2 ? (size_t)data[0] / 2 : 65536;
    greeting = slice_make(hello, data[0] % 2 ? 0 : sizeof(hello) - 1);
    rest = slice_make(data + 1, size - 1);
    link = link_open(client);
    for (size_t i = 0; i < 3; i++)
        ask(link, &calls[i]);
    while (link_step(link))
        ;
    link_close(link);
    for (size_t i = 0; i < 3; i++)
        call_free(calls[i]);
    orrery_close(client);
    return 0;
}
