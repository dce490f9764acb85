/*
 * test/client/fake.h - a server that says what a test wants to hear: right answers, wrong ones, half of one, none.
 *     struct fake *fake = fake_start(answer, &state);
 *     ... a client at fake_url(fake) ...
 *     CHECK(strstr(fake_request(fake, 0), "GET /dbs/"));
 *     fake_stop(fake);
 */
#pragma once
#include <stddef.h>

struct fake;

struct fake_answer {
    const char *bytes; /* a whole HTTP answer, or what a test wants to stand for one; NULL: none */
    size_t size;       /* 0: as long as the text is */
    int closes;        /* 1: the connection ends behind it */
    int stalls;        /* 1: nothing more is sent, and the connection stays open */
    int dies;          /* 1: nobody listens any more, as after a crash; set `closes` too */
};

/* Called in the server's thread, with a whole request as text. */
typedef void fake_handler(void *context, const char *request, struct fake_answer *answer);

struct fake *fake_start(fake_handler *handler, void *context);
void fake_stop(struct fake *fake);
const char *fake_url(const struct fake *fake);
size_t fake_connections(struct fake *fake);                /* that were ever made */
size_t fake_asked(struct fake *fake);                      /* of requests */
const char *fake_request(struct fake *fake, size_t index); /* until fake_stop() */
