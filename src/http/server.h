/*
 * src/http/server.h - what the files of this folder share: server, loop, connection, job.
 *
 * Ownership. A server owns its loops, a loop its connections and jobs. A job is a request on its way:
 *     a connection has one from a request's first byte to its answer's last, and none while it is idle.
 * Threads. A loop, its connections and its jobs belong to the loop's thread. Only a job that has been
 *     handed to the pool, or is ST_PENDING, belongs to another thread, until loop_return() or loop_resume().
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/encode.h"
#include "base/door.h"
#include "http/http.h"
#include "http/listen.h"
#include "http/parser.h"
#include "http/peers.h"
#include "http/pool.h"
#include "http/session.h"
#include "http/transport.h"

enum connection_state {
    CONNECTION_NEW, /* its first byte will tell http from https */
    CONNECTION_HANDSHAKE,
    CONNECTION_READ, /* idle, or in the middle of a request */
    CONNECTION_POOL, /* the request is with the pool, or pending */
    CONNECTION_WRITE,
    CONNECTION_STREAMS, /* it has many requests at a time, from its first frame on */
    CONNECTION_LINGER,  /* refused and answered; the client may still be sending */
    CONNECTION_CLOSED,  /* until libuv lets go of it */
};

/*
 * What moves too slowly is ended: in each window of time so many bytes must have been sent or taken. Silence is the slowest.
 * HTTP/1.1 has one of them for each connection, HTTP/2 one for each stream.
 */
struct progress {
    uint64_t window_ms; /* when the present window began */
    uint64_t bytes;     /* in it */
};

void progress_begin(struct progress *progress, uint64_t now_ms);
bool progress_is_enough(struct progress *progress, uint64_t now_ms, uint64_t window_ms);

struct connection {
    uv_poll_t poll;
    struct loop *loop;
    struct connection *next, *previous;
    struct transport transport;
    struct peer *peer;
    struct input input;
    struct job *job;
    struct streams *streams; /* of HTTP/2 and of Direct mode; NULL: it speaks HTTP/1.1, or nothing yet */
    struct connection *next_unsent;
    struct connection *next_turn;
    char peer_name[64]; /* 192.0.2.7:50312, [2001:db8::7]:50312; empty where the system does not tell */
    uint64_t since_ms;  /* when it came into this state, or was last heard of in it, on the loop's clock */
    struct progress request; /* of the request that is being read, or of the answer that is being taken */
    enum connection_state state;
    int watched;        /* the events asked of libuv */
    bool drained;       /* the last read took all there was */
    bool gone;          /* the client left while the pool had its request */
    bool is_unsent;     /* it is among the loop's */
    bool awaits_turn;   /* likewise */
    bool last;          /* closes after this answer */
    bool refuses_plain; /* it speaks http, and must not */
    bool lingers;       /* ... and the client may still be sending */
    bool began;         /* it has sent a request, so that it goes on with HTTP/1.1 */
    bool continues;     /* what is being written is "100 Continue" */
};

struct job {
    struct exchange exchange;
    struct pool_task task;
    struct job *next;
    struct connection *connection;
    struct parser parser;
    struct slice out[2];  /* what is left to be sent */
    char *kept;           /* where that lies, if it was not taken at once; NULL: in the op's arena */
    struct claim answer;  /* what that takes */
    struct stream stream; /* in the parser's place and that of what is to be sent */
    struct job *next_stream, *previous_stream;
    uint64_t progress_ms; /* when enough of the stream's answer was last taken */
    uint64_t progress_bytes;
    uint64_t begun_ms; /* the request's first byte, on the loop's clock */
    bool away;         /* with the pool, or pending; the loop's own mark */
    bool admitted;     /* it may send its body */
    bool goes_on;      /* it was given back for its handler to go on, and not with an answer */
};

/* Written by the loop's thread, read by any. */
struct loop_counts {
    _Atomic uint64_t connections, refused, requests, requests_on_pool, bytes_in, bytes_out, malformed,
        timeouts;
};

/* A connection on its way from the loop that accepted it to the one that will have it. */
struct arrival {
    struct arrival *next;
    int fd;
};

enum { SCRATCH_BYTES = 64 * 1024, TURN_BYTES = SCRATCH_BYTES };

struct loop {
    uv_loop_t uv;
    uv_poll_t wake;
    int wake_fd;       /* an eventfd */
    atomic_bool woken; /* it was written to, or is about to be, and the loop has not looked yet */
    uv_timer_t tick;
    uv_prepare_t before_waiting;
    uv_poll_t accept[LISTENERS_MAX];
    pthread_t thread;
    struct http_server *server;
    struct connection *connections;
    struct connection *unsent; /* those with streams that have got answers since the loop woke */
    struct connection *turns;  /* those that would go on, after all others; newest first */
    struct job *free_jobs;
    size_t free_job_count;
    _Atomic(struct job *) returned; /* by the pool and by loop_resume(), newest first */
    atomic_bool owed;               /* a wake, for what was returned and is not the last of its group */
    struct door pending;            /* jobs that loop_resume() may be called for, or is being */
    _Atomic(struct arrival *) arrivals;
    _Atomic uint64_t open; /* connections, with those on their way here */
    int reserve_fd;        /* given up to accept, and close, what comes when no descriptor is left */
    bool accept_paused, stopping;
    uint64_t now_ms; /* the env's monotonic clock, as of the last thing that woke the loop */
    uint64_t drain_until_ms;
    int64_t date_second;
    char date[HTTP_DATE_SIZE + 1];
    size_t left_bytes;   /* that the connection whose turn it is may still read and send */
    uint32_t steps_left; /* for operations (base/op.h), until everything that has arrived was begun */
    struct loop_counts counts;
    char scratch[SCRATCH_BYTES];
};

struct http_server {
    struct http_options options;
    struct listeners listeners;
    struct ssl_ctx_st *tls; /* NULL: http only */
    struct pool *pool;
    struct peers *peers;
    struct loop *loops;
    size_t loop_count;
    bool started;
    atomic_bool stopping;
    atomic_size_t accepting; /* loops that have not stopped to; the last one closes the sockets */
    int64_t drain_ms;        /* written before `stopping` */
    _Atomic uint64_t connections_open;
    _Atomic uint64_t streams_open; /* with those that were reset and are still being served */
};

/* The loop's thread is the only writer, so there is nothing to lock. */
static inline void count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* A connection has its turn; so that large bodies and answers delay nobody, it reads and sends so much in it. */
static inline void loop_begin_turn(struct loop *loop)
{
    loop->left_bytes = TURN_BYTES;
}

/* It has read or sent so many bytes. */
static inline void loop_moved(struct loop *loop, size_t bytes)
{
    loop->left_bytes -= bytes < loop->left_bytes ? bytes : loop->left_bytes;
}

/* loop.c */
enum status loop_open(struct op *op, struct http_server *server, struct loop *loop);
enum status loop_start(struct op *op, struct loop *loop);
void loop_wake(struct loop *loop);          /* any thread */
void loop_return(struct job *job);          /* a pool thread gives the job back */
void loop_resume(struct op *op, bool last); /* whoever was waited for does: op.resume() of its operation */
void loop_wait_for_turn(struct loop *loop,
                        struct connection *connection); /* connection_take_turn() is called */
void loop_forget_turn(struct loop *loop, struct connection *connection);
void loop_look_at_clock(struct loop *loop);
void loop_keep_ticking(struct loop *loop);
void loop_connection_ended(struct loop *loop); /* one fewer is open */
void loop_end_if_done(struct loop *loop);
void loop_close(struct loop *loop); /* after its thread has ended, and the pool's have */

/* job.c; job_take() gives NULL without memory. */
struct job *job_take(struct loop *loop);
void job_release(struct loop *loop, struct job *job);
void job_free_all(struct loop *loop); /* those that nobody has */
void job_reset_answer(struct job *job);
/*
 * An answer waits until its loop has time for it, and thousands may: a small one does not keep what its operation took, of which
 * it is a small part. Most such are refusals, and while they hold memory more is refused.
 */
void job_keep_answer_alone(struct exchange *exchange);
void job_write_error(struct job *job, enum status why, const char *message); /* in the answer's place */

enum served { SERVED /* it has its answer */, SERVED_LATER /* the pool has it, or it is pending */ };

/* The request is there. What comes back by loop_return() or loop_resume() is taken back, and may go away once more. */
enum served job_serve(struct job *job);
enum served job_take_back(struct job *job);
bool job_admit(struct job *job);  /* whether it may send its body; false: it has its answer */
void job_cancel(struct job *job); /* it is away, and its client does not wait for it any more */

/* connection.c; connection_open() owns the socket from here on, whatever comes of it. */
void connection_open(struct loop *loop, int fd);
void connection_resume(struct job *job); /* the pool is done with it */
void connection_check_time(struct connection *connection, uint64_t now_ms);
void connection_abandon(struct connection *connection); /* closes, now or when the pool is done with it */
void connection_drain(struct connection *connection);   /* closes it if it is idle, or lets it finish */
void connection_take_turn(struct connection *connection);
void connection_flush(struct connection *connection); /* one with streams, whose answers wait */

/* What it says of each of its requests: who asks, and how. */
void connection_describe(const struct connection *connection, struct request *request);

/* Memory for what a connection reads, of which all together have so much. False: there is no more of it. */
bool connection_reserve(struct connection *connection, struct input *input, size_t bytes);
void connection_release(struct connection *connection, struct input *input);

/*
 * streams.c: a connection with many requests at a time. Its steps go as far as they can without waiting, and say what they wait for;
 * IO_CLOSED: it has ended.
 */
bool streams_open(struct connection *connection, const struct session_kind *kind); /* false without memory */
bool streams_take_input(
    struct connection *connection); /* what was read before it was known what it is; false: it has ended */
enum io streams_step(struct connection *connection);
enum io streams_flush(struct connection *connection);
void streams_resume(
    struct job *job); /* as connection_resume(); what it has to say waits for streams_flush() */
enum io streams_check_time(struct connection *connection, uint64_t now_ms);
void streams_drain(struct connection *connection);
bool streams_is_idle(const struct connection *connection); /* it has no request */
bool streams_linger(
    const struct connection *connection); /* ... and may have one on its way, when the server stops */
bool streams_is_over(
    const struct connection *connection); /* it has said its goodbye, and will not read any more */
bool streams_abandon(
    struct connection *connection); /* true: the pool has none of its requests, it may be closed */
void streams_close(struct connection *connection);

/* Memory for what a connection reads, on the account and of its peer's part. False: there is no room for more. */
bool connection_reserve(struct connection *connection, struct input *input, size_t bytes);
void connection_release(struct connection *connection, struct input *input);

/* answer.c: turns the answer into what is to be sent. */
struct session_answer answer_for_stream(struct loop *loop, struct job *job);
void answer_compose(struct loop *loop, struct job *job, bool last);
