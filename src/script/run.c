/* src/script/run.c - one session with a child: runs with their operations, calls of functions, and how they end. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "script/children.h"
#include "script/strikes.h"

struct scripts {
    struct script_options options;
    struct children *children;
    struct strikes *strikes;
    atomic_ullong runs, calls, killed;
};

struct script_session {
    struct scripts *scripts;
    struct script_child *child;
    int64_t began_ms;             /* the first run; 0 until then */
    int64_t attempt_ms, ended_ms; /* when the present attempt began, and when its last run ended */
    bool runs;                    /* a script waits for its operations */
    bool remembers;               /* functions were called, and their globals are still there */
    bool lost;                    /* the child is no good any more */
    enum child_end end;           /* how it answered last */
    struct arena frames, called;  /* what runs and what calls have received last */
};

struct scripts *scripts_open(const struct script_options *options)
{
    struct scripts *scripts = calloc(1, sizeof(*scripts));

    if (!scripts)
        return NULL;
    scripts->options = *options;
    scripts->children = children_open(options);
    scripts->strikes = strikes_open();
    if (scripts->children && scripts->strikes)
        return scripts;
    scripts_close(scripts);
    return NULL;
}

void scripts_close(struct scripts *scripts)
{
    if (!scripts)
        return;
    children_close(scripts->children);
    strikes_close(scripts->strikes);
    free(scripts);
}

void scripts_stats(struct scripts *scripts, struct script_stats *stats)
{
    size_t children, waiting;

    children_count(scripts->children, &children, &waiting);
    *stats = (struct script_stats){ .children = children,
                                    .waiting = waiting,
                                    .runs = scripts->runs,
                                    .calls = scripts->calls,
                                    .killed = scripts->killed };
}

enum status script_begin(struct op *op, struct scripts *scripts, uint64_t owner,
                         struct script_session **session)
{
    struct script_session *made =
        calloc(1, sizeof(*made)); /* a query begins one in memory that it gives back */
    enum status st;

    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    TRY(children_take(op, scripts->children, owner, &made->child));
    made->scripts = scripts;
    if (op->claim.holder == HOLDER_OPERATIONS)
        claim_move(&op->claim, HOLDER_SCRIPTS);
    op_arena(op, &made->frames, 2 * (size_t)FRAME_BYTES_MAX);
    op_arena(op, &made->called, FRAME_BYTES_MAX);
    *session = made;
    made = NULL;
out:
    free(made);
    return st;
}

/* A child whose heap has grown large is not used again, so that no other script suffers from it. */
static bool is_good(const struct script_session *session)
{
    return !session->lost && !session->runs &&
           child_memory_bytes(session->child) < session->scripts->options.memory_bytes / 2;
}

void script_forget(struct script_session *session)
{
    if (session->remembers && !session->lost)
        child_send(session->child, FRAME_FORGET, slice_of("{}"));
    session->remembers = false;
}

void script_end(struct script_session *session)
{
    if (!session)
        return;
    assert(session->child);
    script_forget(session);
    if (!session->lost && !child_flush(session->child, session->scripts->options.env))
        session->lost = true;
    children_give_back(session->scripts->children, session->child, is_good(session));
    arena_free(&session->frames);
    arena_free(&session->called);
    free(session);
}

static int64_t now_ms(const struct script_session *session)
{
    return env_monotonic_ms(session->scripts->options.env);
}

/* How much of the session's time is over, from 0 to 1. */
static double time_used(const struct script_session *session)
{
    return (double)(now_ms(session) - session->began_ms) / (double)session->scripts->options.run_ms;
}

/* ---- how it ends ---- */

enum { REASON_BYTES_MAX = 16 * 1024 };

/* A text that comes from a script, cut to what may go into an answer. */
static struct slice text_of(struct json value)
{
    struct slice text = json_kind(value) == JSON_STRING ? json_string(value) : slice_of("");

    if (text.size > REASON_BYTES_MAX)
        text.size = REASON_BYTES_MAX;
    return text;
}

static bool is_from(struct json failure, const char *cause)
{
    struct json from = json_get(failure, "from");

    return json_kind(from) == JSON_STRING && slice_is(json_string(from), cause);
}

enum status script_failed(struct op *op, struct json failure)
{
    struct json exception = json_get(failure, "exception"), number = json_get(failure, "number");
    struct json stack = json_get(failure, "stack");
    bool compiles = is_from(failure, "compile");

    if (is_from(failure, "size")) /* and the script did not make do with less */
        return op_fail(op, ST_TOO_LARGE, "The response of the script is too large.");
    if (json_kind(exception) != JSON_STRING) /* of a function */
        exception = json_get(failure, "error");
    if (json_kind(number) == JSON_NUMBER && json_is_int(number) && json_int(number) > 0 &&
        json_int(number) <= UINT16_MAX)
        op->sub_status = (int)json_int(number);
    if (compiles)
        op->sub_status = UINT16_MAX; /* by which SDKs know it */
    return op_fail(op, ST_SCRIPT_FAILED,
                   "Encountered exception while %s. Exception = %.*s\r\nStack trace: %.*s",
                   compiles ? "compiling Javascript" : "executing function", SLICE_ARGS(text_of(exception)),
                   SLICE_ARGS(text_of(stack)));
}

static enum status unfinished(struct op *op, const char *why)
{
    op->sub_status = 0;
    return op_fail(op, ST_SCRIPT_FAILED,
                   "Encountered exception while executing function. Exception = Error: %s", why);
}

/* Tells why no frame came, or not the one that was expected. The child is not asked again. */
static enum status lose(struct op *op, struct script_session *session, enum child_end end)
{
    session->lost = true;
    session->scripts->killed++;
    switch (end) {
    case CHILD_LATE:
        return op_fail_as(op, ST_SCRIPT_TIMEOUT);
    case CHILD_LARGE:
        return unfinished(op, "Out of memory.");
    default:
        return unfinished(op, "The script ended unexpectedly.");
    }
}

/* ---- scripts that take too much ---- */

/*
 * A run that was killed for its time or its memory is a strike, and so is one that computed for nearly all its time. Of
 * a machine that is busy with others nothing is said by that.
 */
static void note_use(struct script_session *session, const struct script *script, int64_t cpu_before_ms)
{
    int64_t computed_ms = child_cpu_ms(session->child) - cpu_before_ms;
    int64_t share_ms = session->scripts->options.run_ms * SCRIPT_ACCEPT_PERCENT / 100;
    bool killed = session->end == CHILD_LATE || session->end == CHILD_LARGE;

    strikes_note(session->scripts->strikes, script->key, killed || computed_ms > share_ms, now_ms(session));
}

static enum status check_strikes(struct op *op, const struct script_session *session,
                                 const struct script *script)
{
    bool is_function = strcmp(script->kind, "udf") == 0;

    if (!strikes_block(session->scripts->strikes, script->key, now_ms(session)))
        return ST_OK;
    return op_fail(op, ST_SCRIPT_BLOCKED,
                   "The script with id '%.*s' is blocked for execution because it has violated its allowed "
                   "%s limit several times.",
                   SLICE_ARGS(script->name), is_function ? "resources" : "resource");
}

/* ---- frames ---- */

static struct child_limits limits_of(const struct script_session *session, int64_t began_ms)
{
    return (struct child_limits){ began_ms + session->scripts->options.run_ms,
                                  session->scripts->options.memory_bytes };
}

/* Parses in another arena than the op's, whose memory must last for longer than one frame. */
static enum status parse_in(struct op *op, struct arena *memory, struct slice text, struct json *value)
{
    struct arena kept = op->arena;
    enum status st;

    op->arena = *memory;
    st = json_parse(op, text, value);
    *memory = op->arena;
    op->arena = kept;
    if (st != ST_OK)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

static void send_source(struct op *op, struct script_session *session, const struct script *script)
{
    struct buf payload;

    if (child_loads(session->child, slice_of(script->key)))
        return;
    buf_init(&payload, &op->arena);
    buf_printf(&payload, "{\"key\":\"%s\",\"kind\":\"%s\",\"source\":", script->key, script->kind);
    json_print_string(&payload, script->source);
    buf_text(&payload, ",\"name\":");
    json_print_string(&payload, script->name);
    buf_byte(&payload, '}');
    child_send(session->child, FRAME_LOAD, buf_as_slice(&payload));
}

/* Sends a question to the child; in front of it the script's source, if the child may lack it. */
static enum status ask(struct op *op, struct script_session *session, const struct script *script,
                       enum frame_kind kind, struct slice payload)
{
    struct arena_mark mark = arena_mark(&op->arena);

    send_source(op, session, script);
    arena_rewind(&op->arena, mark);
    if (payload.size >= FRAME_BYTES_MAX)
        return op_fail_as(op, ST_TOO_LARGE);
    child_send(session->child, kind, payload);
    return ST_OK;
}

/* Receives the answer to a question. A child that has forgotten the script is asked once more, with its source. */
static enum status receive(struct op *op, struct script_session *session, const struct script *script,
                           enum frame_kind kind, struct slice payload, struct arena *memory,
                           struct child_limits limits, struct frame *frame)
{
    enum child_end end;
    enum status st = ST_OK;

    arena_reset(memory);
    end = child_receive(session->child, session->scripts->options.env, limits, memory, frame);
    if (end == CHILD_ALIVE && frame->kind == FRAME_UNKNOWN && payload.data) {
        child_forgot(session->child, slice_of(script->key));
        TRY(ask(op, session, script, kind, payload));
        end = child_receive(session->child, session->scripts->options.env, limits, memory, frame);
    }
    session->end = end;
    if (end != CHILD_ALIVE)
        TRY(lose(op, session, end));
out:
    return st;
}

/* ---- runs ---- */

static enum status print_run(struct op *op, const struct script_session *session,
                             const struct script_run *run, struct buf *payload)
{
    int64_t left_ms = session->scripts->options.run_ms - (now_ms(session) - session->began_ms);

    assert(run->context.size > 0); /* an object: its brace is taken off */
    buf_init(payload, &op->arena);
    buf_printf(payload, "{\"key\":\"%s\",", run->script->key);
    if (run->args.size) {
        buf_text(payload, "\"args\":");
        buf_slice(payload, run->args);
        buf_byte(payload, ',');
    }
    buf_text(payload, "\"context\":");
    buf_slice(payload, slice_make(run->context.data, run->context.size - 1)); /* but for its brace */
    buf_printf(payload, ",\"quota\":{\"ms\":%lld,\"operations\":%d,\"response_bytes\":%d}}}",
               (long long)(left_ms > 0 ? left_ms * SCRIPT_ACCEPT_PERCENT / 100 : 0), SCRIPT_OPERATIONS_MAX,
               SCRIPT_ANSWER_BYTES_MAX);
    return payload->failed ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

/* The session's time goes on while we work for it: no more of it is spent on operations than on the script itself. */
static enum status operate_in_time(struct op *op, struct script_session *session,
                                   const struct script_run *run, struct json operations, struct buf *answers,
                                   bool *accept)
{
    int64_t deadline_ms = op->deadline_ms, until_ms = session->began_ms + session->scripts->options.run_ms;
    enum status st;

    assert(session->runs);
    if (until_ms < deadline_ms)
        op->deadline_ms = until_ms;
    st = run->operate(op, run->operate_context, operations, answers, accept);
    op->deadline_ms = deadline_ms;
    if (st == ST_TIMEOUT && until_ms < deadline_ms)
        st = lose(op, session, CHILD_LATE);
    return st;
}

/* Does the operations of one frame, and sends their answers. */
static enum status operate(struct op *op, struct script_session *session, const struct script_run *run,
                           struct slice text)
{
    struct json frame, operations;
    struct buf answers;
    bool accept = time_used(session) < SCRIPT_ACCEPT_PERCENT / 100.0;
    enum status st;

    TRY(parse_in(op, &session->frames, text, &frame));
    operations = json_get(frame, "ops");
    if (json_kind(operations) != JSON_ARRAY || json_count(operations) == 0)
        TRY(lose(op, session, CHILD_GONE));
    buf_init(&answers, &session->frames);
    buf_text(&answers, "{\"answers\":[");
    TRY(operate_in_time(op, session, run, operations, &answers, &accept));
    buf_printf(&answers, "]%s}", accept ? "" : ",\"accept\":false");
    if (answers.failed || answers.size >= FRAME_BYTES_MAX)
        TRY(op_fail(op, ST_TOO_LARGE, "The answers to the script's operations are too large."));
    child_send(session->child, FRAME_ANSWERS, buf_as_slice(&answers));
out:
    return st;
}

/* Until the script has ended. If something fails on our side, the child still waits for answers: it is not used again. */
static enum status converse(struct op *op, struct script_session *session, const struct script_run *run,
                            struct slice asked, struct json *done)
{
    struct child_limits limits = limits_of(session, session->began_ms);
    struct frame frame;
    enum status st;

    for (;;) {
        TRY(receive(op, session, run->script, FRAME_RUN, asked, &session->frames, limits, &frame));
        asked.data = NULL; /* it has begun */
        if (frame.kind != FRAME_OPERATIONS)
            break;
        TRY(operate(op, session, run, frame.payload));
        TRY(op_check(op));
    }
    if (frame.kind != FRAME_DONE && frame.kind != FRAME_FAILED)
        TRY(lose(op, session, CHILD_GONE));
    TRY(parse_in(op, &session->frames, frame.payload, done));
    session->runs = false;
    if (frame.kind == FRAME_FAILED)
        TRY(script_failed(op, *done));
out:
    return st;
}

enum status script_run(struct op *op, struct script_session *session, const struct script_run *run,
                       struct json *done)
{
    int64_t cpu_before_ms = child_cpu_ms(session->child);
    struct buf payload;
    enum status st;

    assert(!session->lost);
    assert(!session->runs);
    TRY(check_strikes(op, session, run->script));
    if (!session->began_ms)
        session->began_ms = session->attempt_ms = now_ms(session);
    session->scripts->runs++;
    op->work.scripts++;
    TRY(print_run(op, session, run, &payload));
    TRY(ask(op, session, run->script, FRAME_RUN, buf_as_slice(&payload)));
    session->runs = true;
    st = converse(op, session, run, buf_as_slice(&payload), done);
    note_use(session, run->script, cpu_before_ms);
    TRY(st);
    session->ended_ms = now_ms(session);
out:
    return st;
}

/*
 * With less time than before, operations would be refused that were accepted then, and a script that does not look at
 * that would do half of its work.
 */
enum status script_again(struct op *op, struct script_session *session)
{
    int64_t took_ms = session->ended_ms - session->attempt_ms;
    int64_t accepts_ms = session->scripts->options.run_ms * SCRIPT_ACCEPT_PERCENT / 100;

    session->attempt_ms = now_ms(session);
    if (!session->began_ms || session->attempt_ms + took_ms - session->began_ms < accepts_ms)
        return ST_OK;
    return op_fail_as(op, ST_RETRY_WITH);
}

/* ---- functions ---- */

static enum status print_call(struct op *op, const struct script *script, struct slice calls,
                              struct buf *payload)
{
    buf_init(payload, &op->arena);
    buf_printf(payload, "{\"key\":\"%s\",\"calls\":", script->key);
    buf_slice(payload, calls);
    buf_byte(payload, '}');
    return payload->failed ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

enum status script_call(struct op *op, struct script_session *session, const struct script *script,
                        struct slice calls, size_t count, struct json *values)
{
    struct child_limits limits = limits_of(session, session->runs ? session->began_ms : now_ms(session));
    int64_t cpu_before_ms = child_cpu_ms(session->child);
    struct frame frame;
    struct buf payload;
    enum status st;

    if (session->lost)
        return unfinished(op, "The script ended unexpectedly.");
    TRY(check_strikes(op, session, script));
    session->scripts->calls += count;
    session->remembers = true;
    TRY(print_call(op, script, calls, &payload));
    TRY(ask(op, session, script, FRAME_CALL, buf_as_slice(&payload)));
    st = receive(op, session, script, FRAME_CALL, buf_as_slice(&payload), &session->called, limits, &frame);
    note_use(session, script, cpu_before_ms);
    TRY(st);
    if (frame.kind != FRAME_VALUES && frame.kind != FRAME_FAILED)
        TRY(lose(op, session, CHILD_GONE));
    TRY(json_parse(op, frame.payload, values));
    if (frame.kind == FRAME_FAILED)
        TRY(script_failed(op, *values));
    if (json_kind(*values) != JSON_ARRAY || json_count(*values) != count)
        TRY(lose(op, session, CHILD_GONE));
out:
    return st;
}
