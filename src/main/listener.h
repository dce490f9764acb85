/*
 * src/main/listener.h - sockets, before an engine: the names and addresses it is reached by, its certificate, the
 * router that asks who is there, and the HTTP server.
 *
 * Ownership. The caller owns it from listener_open() to listener_close(). Whatever it is given outlives it, and so does
 *     the op that opened it.
 * Threads. One opens and closes it.
 */
#pragma once
#include "main/engine.h"
#include "main/now.h"
#include "main/observer.h"

struct listener;

struct listener_options {
    const struct settings *settings;
    struct engine *engine;
    struct auth *auth;
    struct audit *audit;       /* NULL: none is kept */
    struct observer *observer; /* NULL: nobody watches */
    struct now *now;           /* the figures of the last hour, with an observer; NULL: none are kept */
};

/* Makes what is missing: a certificate, in the engine's directory. Requests are served when it returns. */
enum status listener_open(struct op *op, const struct listener_options *options, struct listener **listener);

/* Requests in flight are finished first. NULL is welcome. */
void listener_close(struct listener *listener);

/* Adds to the figures of the last hour, if it is time. */
void listener_sample(struct listener *listener);

/* "127.0.0.1:8081": what was bound, ports filled in. NULL past the last. */
const char *listener_address(const struct listener *listener, size_t index);

/* The file of its certificate; NULL: it speaks http only. */
const char *listener_certificate(const struct listener *listener);

/* Whether it speaks https. */
bool listener_has_tls(const struct listener *listener);
