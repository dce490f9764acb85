/*
 * client/direct_wire.h - a connection as bytes: TCP, and TLS over it where the endpoint asks for it. OpenSSL's TLS is behind it
 * and nowhere else.
 * Nothing here waits, but for the name service: a host that is a name is looked up by the caller's thread.
 *
 * Ownership. A wire and the trust that it was opened with are the caller's; the trust lives longer. NULL is welcome.
 */
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct wire;
struct wire_trust; /* which certificates are believed */

struct wire_place {
    char *host, *port;
    bool is_secure, trust_any;
    const char *ca_file;      /* NULL: the system's */
    struct wire_trust *trust; /* made when it is first wanted */
};

/* Why there is none, or none any more, in the words and codes of libcurl. */
struct wire_error {
    CURLcode code;
    char words[CURL_ERROR_SIZE];
};

enum wire_step { WIRE_READY, WIRE_WAITS, WIRE_BROKEN };

/* Begins to connect. NULL: there is nothing to connect to, or no memory. */
struct wire *wire_open(struct wire_place *place, struct wire_error *error);
void wire_close(struct wire *wire);
void wire_trust_free(struct wire_trust *trust);

/* Goes on connecting; to be called when the socket is ready. */
enum wire_step wire_connect(struct wire *wire, struct wire_error *error);

/* How many bytes came, or were taken; 0: none for now, the socket is to be polled; -1: the connection is over. */
long wire_read(struct wire *wire, char *bytes, size_t size);
long wire_write(struct wire *wire, const char *bytes, size_t size);

int wire_fd(const struct wire *wire);
bool wire_has_unsent(const struct wire *wire); /* taken, and not yet the kernel's */
bool wire_wants_out(const struct wire *wire);  /* it waits until the socket can be written */
