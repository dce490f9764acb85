/*
 * examples/example.h - what the examples share: a client for the whole program, and how a program ends when a call fails.
 */
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

static orrery_client *client;

/* Ends the program where going on makes no sense. */
static inline void must_of(orrery_status status, const orrery_client *of)
{
    if (!orrery_failed(status))
        return;
    fprintf(stderr, "%s: %s\n", orrery_status_text(status), of ? orrery_error(of) : "");
    exit(1);
}

static inline void must(orrery_status status)
{
    must_of(status, client);
}

/* The program is called with the server's address and its key. */
static inline void open_client(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argc > 1 ? argv[1] : NULL,
                                 .key = argc > 2 ? argv[2] : NULL,
                                 .trust_any_certificate = 1 };

    must(orrery_open(&settings, &client));
}
