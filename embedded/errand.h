/*
 * embedded/errand.h - a request of this process to a database inside it, and its answer.
 * This is where client/ and src/ meet, which have words of their own for the same things: it speaks of neither.
 *
 *     held_take(&settings, &held, why)       a database, opened or shared
 *     errand_new(held, &ready)                an errand, which is used again and again
 *     errand_begin(errand, deadline)          then its method, path, headers and body
 *     errand_run(errand)                      to its end, on this thread; or
 *     errand_start(errand)                    without waiting: errand_go_on() when `ready` was called
 *
 * Ownership. The caller owns an errand, and everything in it points into the caller's memory from errand_begin() until
 *     it has ended; what answers lies in the errand until its next errand_begin().
 * Threads. An errand is used by one thread at a time. Any thread calls `ready`.
 */
#pragma once
#include "base/buf.h"

struct held;
struct errand;

/* What a program says of the database that it opens. */
struct held_settings {
    const char *directory; /* NULL: in memory, and nobody else's */
    bool async;
    int cache_mb, memory_mb;    /* 0: as the server finds them */
    const char *script_program; /* NULL: where it was installed */
};

enum held_outcome { HELD_OK, HELD_NO_MEMORY, HELD_WRONG, HELD_BUSY, HELD_FAILED };
enum { HELD_WHY_SIZE = 512 };

/* Opens the database, or takes one more hold of it where this process has it open. `why` says what is wrong. */
enum held_outcome held_take(const struct held_settings *settings, struct held **held,
                            char why[HELD_WHY_SIZE]);
struct held *held_share(struct held *held);
void held_release(struct held *held); /* the last one closes it; NULL is welcome */

struct held_listen {
    const char *address, *key, *tls_cert, *tls_key;
    bool no_tls;
};

/* Puts it on the network. The address lives until held_listen_end(). */
enum held_outcome held_listen(struct held *held, const struct held_listen *settings, const char **address,
                              char why[HELD_WHY_SIZE]);
void held_listen_end(struct held *held);

/* What the databases of this process log; NULL: nothing. The level is log.h's. */
typedef void held_log(void *context, int level, const char *line);
void held_log_to(held_log *log, void *context, int level);

/* ---- errands */

/* Whom to tell that an errand may go on: called by any thread, and it must not wait. */
typedef void errand_ready(struct errand *errand);

/* NULL: no memory. `owner` is the caller's own word for it. */
struct errand *errand_new(struct held *held, errand_ready *ready, void *owner);
void errand_free(struct errand *errand); /* one that is not under way; NULL is welcome */
void *errand_owner(const struct errand *errand);

/* The next request of it. timeout_ms: how long it may take. */
void errand_begin(struct errand *errand, const char *method, struct slice path, int timeout_ms);
void errand_header(struct errand *errand, struct slice name, struct slice value);
void errand_body(struct errand *errand, struct slice body);

/* From here on nothing in it points elsewhere: what was given is copied. False: no memory. */
bool errand_keep(struct errand *errand);

void errand_run(struct errand *errand);

/* True: it has ended. False: it is under way, and `ready` is called, perhaps already now, after which it may go on. */
bool errand_start(struct errand *errand);
bool errand_go_on(struct errand *errand);

/* Nobody wants its answer any more. It goes on all the same, to an end that may be sooner. */
void errand_cancel(struct errand *errand);

/* Of one that has ended: its status of HTTP, 0 when there was no memory for an answer; lines with CRLF; the body. */
int errand_answer(struct errand *errand, struct slice *head, struct slice *body);
