/* src/http/answer.c - an answer as bytes: status line, headers, body. */
#include <assert.h>

#include "base/limits.h"
#include "http/server.h"

/*
 * Head and body go out as one piece of up to a TLS record's size, so that a small answer is one
 * send and one record; what is left of a larger body is sent from where it lies.
 */
enum { PIECE_BYTES = 16 * 1024, LINES_BYTES = 192 /* status line, Date, Content-Length, Connection */ };

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    { 200, "Ok" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 207, "Multi-Status" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 412, "Precondition Failed" },
    { 413, "Request Entity Too Large" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 449, "Retry With" },
    { 452, "Transaction Aborted" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 503, "Service Unavailable" },
};

/* The text is for people to read; a status that has no row here is sent without one. */
static const char *reason_of(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

static struct slice date_now(struct loop *loop)
{
    int64_t now_ms = env_now_ms(loop->server->options.env);

    if (now_ms / 1000 != loop->date_second) {
        loop->date_second = now_ms / 1000;
        http_date_format(now_ms, loop->date);
    }
    return slice_make(loop->date, HTTP_DATE_SIZE);
}

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

static void write_lines(struct buf *out, struct loop *loop, const struct job *job, bool last)
{
    const struct answer *answer = &job->exchange.answer;

    buf_text(out, "HTTP/1.1 ");
    buf_u64(out, (uint64_t)answer->status);
    buf_byte(out, ' ');
    buf_text(out, reason_of(answer->status));
    buf_text(out, "\r\nDate: ");
    buf_slice(out, date_now(loop));
    if (!has_no_body(answer->status)) {
        buf_text(out, "\r\nContent-Length: ");
        buf_u64(out, answer->body.size);
    }
    if (last)
        buf_text(out, "\r\nConnection: close");
    else if (job->parser.old_version) /* HTTP/1.0 would close otherwise */
        buf_text(out, "\r\nConnection: keep-alive");
    buf_text(out, "\r\n");
}

/* The handler's answer did not fit into memory: its memory is given back, and the client is told so. */
static void replace_failed(struct loop *loop, struct job *job)
{
    bool refused = job->exchange.op.claim.refused;

    op_begin(&job->exchange.op, OP_TIMEOUT_MS);
    job_reset_answer(job);
    loop->server->options.write_error(
        &job->exchange, refused ? ST_TOO_MANY_REQUESTS : ST_TOO_LARGE,
        refused ? "There is not enough memory for this answer at this time. Please retry after sometime."
                : "The answer is larger than an answer may be");
}

static struct buf fixed_buf(struct arena *arena, size_t capacity)
{
    return (struct buf){ .data = arena_alloc(arena, capacity), .capacity = capacity, .arena = arena };
}

/* What is sent of the body; the answer is another one where the handler's has failed. */
static struct slice settle(struct loop *loop, struct job *job)
{
    const struct answer *answer = &job->exchange.answer;
    struct slice body;

    if (answer->head.failed || answer->body.failed)
        replace_failed(loop, job);
    assert(answer->status >= 200 && answer->status < 600);
    body = buf_as_slice(&answer->body);
    if (has_no_body(answer->status) || job->exchange.request.method == METHOD_HEAD)
        body.size = 0;
    return body;
}

struct session_answer answer_for_stream(struct loop *loop, struct job *job)
{
    const struct answer *answer = &job->exchange.answer;
    struct slice body = settle(loop, job);

    return (struct session_answer){ .status = answer->status,
                                    .date = date_now(loop),
                                    .head = buf_as_slice(&answer->head),
                                    .body = body,
                                    .has_length = !has_no_body(answer->status),
                                    .length_bytes = answer->body.size };
}

void answer_compose(struct loop *loop, struct job *job, bool last)
{
    struct answer *answer = &job->exchange.answer;
    struct slice body = settle(loop, job);
    struct buf out;
    size_t room, copied;

    room = LINES_BYTES + answer->head.size + 2;
    copied = room >= PIECE_BYTES ? 0 : PIECE_BYTES - room;
    if (copied > body.size)
        copied = body.size;
    out = fixed_buf(&job->exchange.op.arena, room + copied);
    write_lines(&out, loop, job, last);
    buf_slice(&out, buf_as_slice(&answer->head));
    buf_text(&out, "\r\n");
    buf_append(&out, body.data, copied);
    job->out[0] = buf_as_slice(&out);
    job->out[1] = slice_after(body, copied);
}
