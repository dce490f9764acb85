/* embedded/errand.c - a request of this process: begun, waited for, answered. */
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "base/limits.h"
#include "embedded/errand.h"
#include "embedded/held.h"
#include "reply/reply.h"

enum errand_state {
    ERRAND_IDLE,
    ERRAND_HERE,    /* the caller's thread has it */
    ERRAND_COMMITS, /* the committer has it, and the caller goes on with it when it is ready */
    ERRAND_AWAY,    /* a thread of the pool has it */
    ERRAND_ENDED,
};

struct errand {
    struct held *held;
    errand_ready *ready;
    void *owner;
    struct exchange exchange;
    struct pool_task task;
    enum errand_state state;
    size_t head_bytes;
    bool is_waited_for; /* by a thread, for `committed` */
    sem_t committed;
};

static struct errand *errand_of(struct op *op)
{
    return (struct errand *)((char *)op - offsetof(struct errand, exchange.op));
}

/* The committer calls this, and other operations wait for it. After the last line the errand may be gone. */
static void resume(struct op *op, bool last)
{
    struct errand *errand = errand_of(op);

    (void)last;
    if (errand->is_waited_for)
        sem_post(&errand->committed);
    else
        errand->ready(errand);
}

struct errand *errand_new(struct held *held, errand_ready *ready, void *owner)
{
    struct errand *errand = calloc(1, sizeof(*errand));

    if (!errand)
        return NULL;
    errand->held = held;
    errand->ready = ready;
    errand->owner = owner;
    sem_init(&errand->committed, 0, 0);
    op_init(&errand->exchange.op, env_system(), OP_MEMORY_BYTES_MAX);
    op_join_account(&errand->exchange.op, held_account(held));
    return errand;
}

void errand_free(struct errand *errand)
{
    if (!errand)
        return;
    assert(errand->state == ERRAND_IDLE || errand->state == ERRAND_HERE || errand->state == ERRAND_ENDED);
    op_free(&errand->exchange.op);
    sem_destroy(&errand->committed);
    free(errand);
}

void *errand_owner(const struct errand *errand)
{
    return errand->owner;
}

static void reset_answer(struct errand *errand)
{
    struct answer *answer = &errand->exchange.answer;

    answer->status = 0;
    buf_init(&answer->head, &errand->exchange.op.arena);
    buf_init(&answer->body, &errand->exchange.op.arena);
    answer->body.moves = true;
}

static enum method method_of(const char *name)
{
    enum method method = METHOD_GET;

    while (method < METHOD_OTHER && strcmp(method_name(method), name) != 0)
        method++;
    return method;
}

void errand_begin(struct errand *errand, const char *method, struct slice path, int timeout_ms)
{
    struct exchange *exchange = &errand->exchange;

    op_begin(&exchange->op, timeout_ms < OP_TIMEOUT_MS ? timeout_ms : OP_TIMEOUT_MS);
    exchange->op.may_block = false;
    exchange->op.resume = resume;
    exchange->refused = exchange->resumed = false;
    exchange->class = CLASS_QUICK;
    exchange->owner = 0;
    exchange->state = NULL;
    exchange->request = (struct request){ .method = method_of(method), .target = path, .body = slice_of("") };
    errand->head_bytes = path.size;
    errand->state = ERRAND_HERE;
    reset_answer(errand);
}

void errand_header(struct errand *errand, struct slice name, struct slice value)
{
    enum header_id id = name.size ? header_find(name) : HEADER_COUNT;

    errand->head_bytes += name.size + value.size;
    if (id != HEADER_COUNT)
        errand->exchange.request.header[id] = value;
}

void errand_body(struct errand *errand, struct slice body)
{
    errand->exchange.request.body = body;
}

static bool keep(struct arena *arena, struct slice *text)
{
    char *copy;

    if (!text->data)
        return true;
    copy = arena_try_alloc(arena, text->size + 1);
    if (!copy)
        return false;
    memcpy(copy, text->data, text->size);
    copy[text->size] = '\0';
    text->data = copy;
    return true;
}

bool errand_keep(struct errand *errand)
{
    struct request *request = &errand->exchange.request;
    struct arena *arena = &errand->exchange.op.arena;
    bool kept = keep(arena, &request->target) && keep(arena, &request->body);

    for (size_t i = 0; kept && i < HEADER_COUNT; i++)
        kept = keep(arena, &request->header[i]);
    return kept;
}

/* --- running --- */

/* What http/ refuses before anybody looks at it. */
static bool is_too_large(struct errand *errand)
{
    struct exchange *exchange = &errand->exchange;

    if (errand->head_bytes > HTTP_HEAD_BYTES_MAX)
        reply_write_error(exchange, ST_HEADERS_TOO_LARGE, "The request's headers are too large.");
    else if (exchange->request.body.size > HTTP_BODY_BYTES_MAX)
        reply_write_error(exchange, ST_TOO_LARGE, "Request size is too large");
    return exchange->answer.status != 0;
}

static enum status handle(struct errand *errand)
{
    return route_handle(held_router(errand->held), &errand->exchange);
}

/* Now that it may wait. Scripts may start a thread, which is to leave the program's signals alone. */
static void handle_whole(struct errand *errand)
{
    bool may_start_thread = errand->exchange.class == CLASS_SCRIPTS;
    sigset_t before;
    enum status st;

    reset_answer(errand);
    errand->exchange.op.may_block = true;
    if (may_start_thread)
        held_block_signals(&before);
    st = handle(errand);
    if (may_start_thread)
        held_unblock_signals(&before);
    assert(st == ST_OK); /* failures are answers */
}

static void wait_for_resume(struct errand *errand)
{
    while (sem_wait(&errand->committed) != 0)
        assert(errno == EINTR);
    reset_answer(errand);
    errand->exchange.resumed = true;
}

void errand_run(struct errand *errand)
{
    enum status st;

    assert(errand->state == ERRAND_HERE);
    errand->is_waited_for = true;
    if (!is_too_large(errand)) {
        for (st = handle(errand); st == ST_PENDING; st = handle(errand)) /* at the gate, and for its commit */
            wait_for_resume(errand);
        if (st == ST_WOULD_BLOCK)
            handle_whole(errand);
    }
    errand->state = ERRAND_ENDED;
}

static void run_on_pool(struct pool_task *task)
{
    struct errand *errand = (struct errand *)((char *)task - offsetof(struct errand, task));

    assert(errand->state == ERRAND_AWAY);
    handle_whole(errand);
    errand->ready(errand);
}

/* When the pool refuses it, it has its answer already. */
static bool submit(struct errand *errand)
{
    errand->task = (struct pool_task){ .run = run_on_pool, .class = errand->exchange.class };
    errand->task.turn.owner = errand->exchange.owner;
    errand->state = ERRAND_AWAY;
    if (held_submit(errand->held, &errand->task))
        return false;
    errand->exchange.refused = true;
    handle_whole(errand);
    return true;
}

/* What one call of the handler came to. The state is set before, because another thread may be quicker. */
static bool settle(struct errand *errand, enum status st)
{
    bool ended = st == ST_WOULD_BLOCK ? submit(errand) : st == ST_OK;

    if (ended)
        errand->state = ERRAND_ENDED;
    return ended;
}

bool errand_start(struct errand *errand)
{
    enum status st = ST_OK;

    assert(errand->state == ERRAND_HERE);
    errand->is_waited_for = false;
    errand->state = ERRAND_COMMITS;
    if (!is_too_large(errand))
        st = handle(errand);
    return st == ST_PENDING ? false : settle(errand, st);
}

bool errand_go_on(struct errand *errand)
{
    if (errand->state == ERRAND_AWAY)
        errand->state = ERRAND_ENDED;
    if (errand->state == ERRAND_ENDED)
        return true;
    assert(errand->state == ERRAND_COMMITS);
    reset_answer(errand);
    errand->exchange.resumed = true;
    return settle(errand, handle(errand));
}

void errand_cancel(struct errand *errand)
{
    atomic_store_explicit(&errand->exchange.op.cancelled, true, memory_order_relaxed);
}

/* --- the answer --- */

static void replace_failed(struct errand *errand)
{
    struct exchange *exchange = &errand->exchange;
    bool refused = exchange->op.claim.refused;

    op_begin(&exchange->op, OP_TIMEOUT_MS);
    reset_answer(errand);
    reply_write_error(exchange, refused ? ST_TOO_MANY_REQUESTS : ST_TOO_LARGE,
                      refused ? "There is not enough memory for this answer at this time. Please retry after "
                                "sometime."
                              : "The answer is larger than an answer may be");
}

int errand_answer(struct errand *errand, struct slice *head, struct slice *body)
{
    const struct answer *answer = &errand->exchange.answer;

    assert(errand->state == ERRAND_ENDED);
    if (answer->head.failed || answer->body.failed)
        replace_failed(errand);
    *head = buf_as_slice(&answer->head);
    *body = buf_as_slice(&answer->body);
    if (answer->status == 204 || answer->status == 304)
        body->size = 0;
    return answer->head.failed || answer->body.failed ? 0 : answer->status;
}
