/* src/http/listen.h - from "ADDR:PORT" to listening sockets. */
#pragma once
#include "base/op.h"

enum { LISTENERS_MAX = 32, LISTEN_ADDRESS_SIZE = 64 };

struct listener {
    int fd;
    char address[LISTEN_ADDRESS_SIZE]; /* what was bound, as http_address() tells it */
};

struct listeners {
    struct listener each[LISTENERS_MAX];
    size_t count;
};

/*
 * Adds a listening socket for every address of the name. With port 0 they share one free port. An
 * address that this machine lacks is passed over as long as the name has another.
 */
enum status listen_add(struct op *op, struct listeners *listeners, const char *where);
void listen_close(struct listeners *listeners); /* their addresses stay, for those who ask what they were */
