/*
 * src/base/exchange.h - one HTTP exchange as data.
 * http/ fills the request and sends the answer; route/ reads the one and writes the other.
 * Neither knows the other.
 *
 * Ownership. The request's slices lie in the connection's buffer, the answer's bytes in the
 *     op's arena; both live until the answer is sent.
 */
#pragma once
#include "base/op.h"

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_OTHER,
};

enum header_id {
#define HEADER(name, text) HEADER_##name,
#include "base/headers.def"
#undef HEADER
    HEADER_COUNT
};

struct request {
    enum method method;
    struct slice target; /* as it came: path and query, percent-encoded */
    struct slice peer;   /* who is connected: 192.0.2.7:50312 */
    bool tls;
    bool direct; /* it came by Direct mode: its headers are what its tokens say, and it has no Host */
    struct slice header[HEADER_COUNT]; /* data == NULL where absent; the last one wins where repeated */
    struct slice body;
};

struct answer {
    int status;
    struct buf head; /* "name: value\r\n" lines, without Content-Length, Date and Connection */
    struct buf body;
};

/* What may take long gets a part of the threads, so that however much of it there is, the rest is served. */
enum exchange_class {
    CLASS_QUICK,
    CLASS_SCANS,   /* reads whatever there is */
    CLASS_SCRIPTS, /* waits for JavaScript */
    CLASS_COUNT,
};

struct exchange {
    struct op op;
    struct request request;
    struct answer answer;
    void *state;               /* the handler's own, from its first call to its second */
    enum exchange_class class; /* the handler says so in its first call: what its second will be like */
    uint64_t owner;            /* likewise: those of a class take turns by it; 0: nobody's */
    bool refused;              /* in its second call: too many are waiting, so it will not be run */
    bool resumed;              /* it was ST_PENDING, and op.resume() has been called */
};

/*
 * Answers a request. Called first on a loop thread with op.may_block false; ST_WOULD_BLOCK
 * means that nothing has happened yet, and that it must be called once more with op.may_block
 * true: by a pool thread, or with `refused` set when none will run it, for it to clean up and
 * say so. ST_PENDING means that op.resume() will be called, by any thread, after which it must be called once more as
 * it was first, with `resumed` set; that may come twice. Every other outcome, failures included, has been written into the answer, and is ST_OK.
 */
typedef enum status exchange_handler(void *context, struct exchange *exchange);

/*
 * Whether a request may send its body. Asked on a loop thread when the head of a request is there and its body is not
 * small; the request has no body then. It must not wait. True: it may, and the handler is called when the body is there,
 * as it is for others. False: the refusal is in the answer. Nothing else is left of the call.
 */
typedef bool exchange_admission(void *context, struct exchange *exchange);

/* The header's id, or HEADER_COUNT for one we do not look at. The name may be in any case. */
enum header_id header_find(struct slice name);

/* GET, HEAD, ...; OTHER for one we do not know. */
const char *method_name(enum method method);

/* Present and "true" in any case. */
bool header_is_true(const struct request *request, enum header_id id);
