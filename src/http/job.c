/* src/http/job.c - a request being served: its memory, and the calls of its handler on the loop and on the pool. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/thread.h"
#include "http/server.h"

enum { FREE_JOBS_MAX = 64 };

static struct job *new_job(struct loop *loop)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    op_init(&job->exchange.op, loop->server->options.env, OP_MEMORY_BYTES_MAX);
    op_join_account(&job->exchange.op, loop->server->options.account);
    return job;
}

static void free_job(struct job *job)
{
    op_free(&job->exchange.op);
    free(job);
}

static void reset_answer(struct exchange *exchange)
{
    struct answer *answer = &exchange->answer;

    answer->status = 0;
    buf_init(&answer->head, &exchange->op.arena);
    buf_init(&answer->body, &exchange->op.arena);
    answer->body.moves = true;
}

void job_reset_answer(struct job *job)
{
    reset_answer(&job->exchange);
}

struct job *job_take(struct loop *loop)
{
    const struct http_options *options = &loop->server->options;
    struct job *job = loop->free_jobs;

    assert(!thread_may_block()); /* the loop's own thread */
    if (job) {
        assert(loop->free_job_count > 0);
        loop->free_jobs = job->next;
        loop->free_job_count--;
    } else {
        job = new_job(loop);
        if (!job)
            return NULL;
    }
    op_begin(&job->exchange.op, OP_TIMEOUT_MS);
    job->exchange.op.may_block = false;
    job->exchange.op.resume = loop_resume;
    job->exchange.refused = job->exchange.resumed = false;
    job->goes_on = job->away = job->admitted = false;
    job->exchange.class = CLASS_QUICK;
    job->exchange.owner = 0;
    job->exchange.request = (struct request){ .target = slice_of(""), .body = slice_of("") };
    job_reset_answer(job);
    parser_begin(&job->parser, options->head_bytes_max, options->body_bytes_max);
    job->begun_ms = loop->now_ms;
    return job;
}

void job_release(struct loop *loop, struct job *job)
{
    assert(!thread_may_block());
    if (loop->free_job_count >= FREE_JOBS_MAX) {
        free_job(job);
        return;
    }
    arena_reset(&job->exchange.op.arena); /* a large answer's memory does not wait for the next request */
    job->next = loop->free_jobs;
    loop->free_jobs = job;
    loop->free_job_count++;
}

void job_free_all(struct loop *loop)
{
    while (loop->free_jobs) {
        struct job *job = loop->free_jobs;

        loop->free_jobs = job->next;
        free_job(job);
    }
}

/* The handler's second call. */
static void handle_again(struct job *job)
{
    const struct http_options *options = &job->connection->loop->server->options;
    enum status st = options->handler(options->context, &job->exchange);

    assert(st == ST_OK); /* failures are answers */
}

void job_keep_answer_alone(struct exchange *exchange)
{
    enum { SMALL_BYTES = 4096, MUCH_BYTES = 32 * 1024 };
    struct arena *arena = &exchange->op.arena;
    struct answer *answer = &exchange->answer;
    size_t head_bytes = answer->head.size, body_bytes = answer->body.size;
    int status = answer->status;
    char copy[SMALL_BYTES];

    if (head_bytes + body_bytes > sizeof(copy) || arena->used_bytes < MUCH_BYTES)
        return;
    memcpy(copy, buf_as_slice(&answer->head).data, head_bytes);
    memcpy(copy + head_bytes, buf_as_slice(&answer->body).data, body_bytes);
    arena_reset(arena);
    exchange->op.claim.is_owed = true; /* it was there, and is to be told */
    reset_answer(exchange);
    answer->status = status;
    buf_append(&answer->head, copy, head_bytes);
    buf_append(&answer->body, copy + head_bytes, body_bytes);
}

static void run_on_pool(struct pool_task *task)
{
    struct job *job = (struct job *)((char *)task - offsetof(struct job, task));

    assert(job->away);
    assert(job->exchange.op.may_block);
    handle_again(job);
    job_keep_answer_alone(&job->exchange);
    loop_return(job);
}

/* Hands the request to the pool. When the pool refuses it, it has its answer already. */
static enum served submit(struct job *job)
{
    struct loop *loop = job->connection->loop;

    assert(!job->exchange.op.may_block); /* it goes there once */
    job_reset_answer(job);
    job->exchange.op.may_block = true;
    job->task.run = run_on_pool;
    job->task.class = job->exchange.class;
    job->task.turn.owner = job->exchange.owner;
    job->away = true;
    if (pool_submit(loop->server->pool, &job->task)) {
        count(&loop->counts.requests_on_pool, 1);
        return SERVED_LATER;
    }
    job->away = false;
    job->exchange.refused = true;
    handle_again(job);
    return SERVED;
}

bool job_admit(struct job *job)
{
    const struct http_options *options = &job->connection->loop->server->options;

    assert(!job->admitted);
    job->admitted = !options->admit || options->admit(options->context, &job->exchange);
    if (job->admitted) {
        op_begin(&job->exchange.op, OP_TIMEOUT_MS);
        job_reset_answer(job);
    }
    return job->admitted;
}

/* All of what an operation may have, or nothing: what has too few steps left would be begun in vain. */
static uint32_t give_steps(const struct loop *loop, struct job *job)
{
    job->exchange.op.steps_left = loop->steps_left < INLINE_STEPS_MAX ? 0 : INLINE_STEPS_MAX;
    return job->exchange.op.steps_left;
}

/* One call of the handler by the loop's thread. */
static enum served call_handler(struct job *job)
{
    struct loop *loop = job->connection->loop;
    const struct http_options *options = &loop->server->options;
    bool counted = door_enter(&loop->pending); /* before anybody can resume it */
    uint32_t steps = give_steps(loop, job);
    enum status st;

    assert(counted); /* it is closed when the loops' threads have ended */
    assert(!job->away);
    st = options->handler(options->context, &job->exchange);
    if (st == ST_PENDING) { /* it may have been given back already; the loop takes it up in its turn */
        job->away = true;
        return SERVED_LATER;
    }
    loop->steps_left -= steps - job->exchange.op.steps_left;
    door_leave(&loop->pending);
    assert(st == ST_OK || st == ST_WOULD_BLOCK);
    return st == ST_OK ? SERVED : submit(job);
}

enum served job_serve(struct job *job)
{
    count(&job->connection->loop->counts.requests, 1);
    return call_handler(job);
}

/* The handler goes on after a wait: for the router's gate, or for a commit. */
static enum served go_on(struct job *job)
{
    job->goes_on = false;
    job_reset_answer(job);
    job->exchange.resumed = true;
    return call_handler(job);
}

enum served job_take_back(struct job *job)
{
    assert(job->away);
    job->away = false;
    return job->goes_on ? go_on(job) : SERVED;
}

void job_cancel(struct job *job)
{
    assert(job->away);
    atomic_store_explicit(&job->exchange.op.cancelled, true, memory_order_relaxed);
}

void job_write_error(struct job *job, enum status why, const char *message)
{
    job_reset_answer(job);
    job->connection->loop->server->options.write_error(&job->exchange, why, message);
}
