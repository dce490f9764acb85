/* src/main/ask_server.h - what a command asks of the server that holds the data directory, as its operator. */
#pragma once
#include "base/exchange.h"
#include "main/settings.h"

struct server_question {
    enum method method;
    const char *path;  /* _orrery/<command> */
    struct slice body; /* JSON; empty: none */
};

/*
 * `address` is where the server listens, as directory_is_held() gives it. The request is signed with the key that the
 * settings name. `answer` is the body of the answer, in the op's arena. An answer that is no success is
 * ST_UNAVAILABLE, with the server's own reason.
 */
enum status server_ask(struct op *op, const struct settings *settings, const char *address,
                       const struct server_question *question, struct slice *answer);

/* Whether the server there serves: asks /_orrery/ready, which needs no key. */
enum status server_is_ready(struct op *op, const char *address);
