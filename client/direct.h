/*
 * client/direct.h - Direct mode from the inside: calls as frames, on few connections with many requests at a time each.
 * What frames have no words for goes over HTTP, as everything does without .direct: definitions, plans of queries, a header
 * that no token stands for. So a call means the same either way.
 *
 *     direct.c          the transport: which way a call goes, whose connection it gets - start reading here
 *     direct_link.c     a connection: the greeting, requests out, answers in, what becomes of them when it breaks
 *     direct_request.c  a call becomes a frame;   direct_answer.c   a frame becomes a response
 *     direct_wire.c     bytes: TCP and TLS
 */
#pragma once
#include "client.h"
#include "direct_wire.h"
#include "frame/frame.h"

enum {
    LINK_REQUESTS_MAX = 30,      /* of a connection, before another one is opened: as SDKs have it */
    LINK_OUT_BYTES = 64 * 1024,  /* that are handed on at a time */
    LINK_IN_BYTES = 64 * 1024,   /* that are read at a time */
    LINK_SILENCE_MS_MAX = 10000, /* a server answers within half of it; after that nobody is there */
    ASK_HEAD_BYTES_MAX =
        64 * 1024, /* of a frame of ours: what is larger goes over HTTP, which has an answer for it */
    ASK_PAYLOAD_BYTES_MAX = 4 * 1024 * 1024,
};

/* One attempt of a call, as bytes. It outlives a call that is given up while a part of it has left. */
struct direct_request {
    struct direct_request *next;
    struct link *link;
    struct call *call; /* NULL: nobody waits for it any more */
    uint32_t id;       /* by which its answer is known */
    size_t size, sent; /* of the bytes */
    char bytes[];
};

enum link_state { LINK_CONNECTS, LINK_GREETS, LINK_OPEN };
enum link_awaits { AWAITS_HEAD, AWAITS_LENGTH, AWAITS_PAYLOAD };

struct link {
    struct link *next;
    orrery_client *client;
    struct wire *wire; /* NULL: there is none, because of the error */
    struct wire_error error;
    int polled_fd; /* which stands in client->fds; -1: none */
    enum link_state state;
    struct direct_request *unsent, **last_unsent; /* in their order */
    struct direct_request *asked;                 /* whose answers are to come */
    size_t request_count;                         /* of both */
    uint32_t last_id;
    int64_t quiet_since_ms; /* since when it connects, or nothing has come while something was awaited */
    char *out;              /* bytes under way: [out_start, out_end) */
    size_t out_start, out_end;
    char *in; /* bytes of an answer that are not taken yet */
    size_t in_bytes, in_capacity;
    enum link_awaits awaits;
    struct direct_request *answered; /* whose payload comes; NULL: it is passed over */
    uint32_t left;                   /* of the payload */
};

/* What a client in Direct mode has besides its HTTP. */
struct direct {
    struct wire_place place;
    struct link *links;
    size_t link_count;
    size_t ended_count; /* of attempts, ever */
};

/* ---- direct_request.c */

enum direct_said { SAID, NOT_SAID, NO_MEMORY }; /* NOT_SAID: frames have no words for it */

/* Items, and scripts that run: everything else is the gateway's. */
bool direct_is_for(const struct call *call);

/* The call as a frame, into an empty buffer. It has been signed. */
enum direct_said direct_say(struct call *call, uint32_t id, struct buf *out);

/* ---- direct_answer.c */

struct direct_about {
    uint32_t request_id;
    bool has_payload;
};

/* What a head is about; false: it is none. */
bool direct_look(struct slice head, struct direct_about *about);

/* Its status and tokens, as HTTP would have said them. False: there is no memory, or it is larger than any (response). */
bool direct_take_answer(struct call *call, struct slice head);

/* ---- direct_link.c */

/* NULL: no memory. What else may be wrong is told to its calls, at its first step. */
struct link *link_open(orrery_client *client);
void link_close(struct link *link); /* its requests are nobody's by now */

/* Takes the call's attempt; false: no memory. */
bool link_ask(struct link *link, struct call *call, struct slice bytes);

/* The call is given up: what has not left does not leave. */
void link_forget(struct direct_request *request);

/* Does what can be done now. False: it is broken, its calls have been told, and it is to be closed. */
bool link_step(struct link *link);

/* Whether an idle connection still leads anywhere. */
bool link_is_alive(struct link *link);
void link_flush(struct link *link);           /* sends what can be sent */
short link_events(const struct link *link);   /* to poll for */
int64_t link_due_ms(const struct link *link); /* when it must be looked at; -1: never */
