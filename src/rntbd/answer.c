/* src/rntbd/answer.c - status and header lines become tokens. */
#include <assert.h>

#include "rntbd/answer.h"

enum form { FORM_TEXT, FORM_NUMBER, FORM_FLAG, FORM_REAL, FORM_LINK, FORM_LSN };

static const struct row {
    uint16_t id;
    enum form form;
    struct slice header;
} rows[] = {
#define ANSWER_TOKEN(id, form, header) { id, FORM_##form, { header, sizeof(header) - 1 } },
#include "frame/tokens.def"
#undef ANSWER_TOKEN
};

/* What is told in other tokens than it is in headers. */
struct told {
    struct slice session; /* range:token */
    struct slice lsn;
};

static const struct row *find_row(struct slice header)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (slice_equal(rows[i].header, header))
            return &rows[i];
    return NULL;
}

static uint64_t number_of(struct slice text)
{
    uint64_t number = 0;

    slice_to_u64(text, &number); /* our own */
    return number;
}

/* Our own: digits, perhaps a point and a few more. */
static double real_of(struct slice text)
{
    double whole = 0, unit = 1;
    bool has_point = false;

    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '.') {
            has_point = true;
            continue;
        }
        whole = whole * 10 + (text.data[i] - '0');
        if (has_point)
            unit *= 10;
    }
    return whole / unit;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Headers have percent signs where links have bytes that are not ASCII. Here they are as they are. */
static void put_link(struct buf *out, uint16_t id, struct slice link)
{
    struct buf plain;

    buf_init(&plain, out->arena);
    for (size_t i = 0; i < link.size; i++) {
        bool is_mark = link.data[i] == '%' && link.size - i > 2;
        int high = is_mark ? hex_digit(link.data[i + 1]) : -1,
            low = is_mark ? hex_digit(link.data[i + 2]) : -1;

        if (high >= 8 && low >= 0) {
            buf_byte(&plain, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_byte(&plain, link.data[i]);
        }
    }
    frame_text(out, id, buf_as_slice(&plain));
}

static void put_row(struct buf *out, const struct row *row, struct slice value)
{
    switch (row->form) {
    case FORM_TEXT:
        frame_text(out, row->id, value);
        break;
    case FORM_NUMBER:
        frame_number(out, row->id, (uint32_t)number_of(value));
        break;
    case FORM_FLAG:
        frame_byte(out, row->id, slice_is_nocase(value, "true"));
        break;
    case FORM_REAL:
        frame_real(out, row->id, real_of(value));
        break;
    case FORM_LINK:
        put_link(out, row->id, value);
        break;
    case FORM_LSN:
        frame_big_number(out, row->id, number_of(value));
        frame_big_number(out, TELL_ITEM_LOCAL_LSN, number_of(value));
        break;
    }
}

static void put_line(struct buf *out, struct slice name, struct slice value, struct told *told)
{
    const struct row *row;

    if (slice_is(name, "lsn"))
        told->lsn = value;
    else if (slice_is(name, "x-ms-session-token"))
        told->session = value;
    else if ((row = find_row(name)))
        put_row(out, row, value);
}

static void put_lines(struct buf *out, struct slice lines, struct told *told)
{
    while (lines.size) {
        const char *colon = memchr(lines.data, ':', lines.size);
        const char *stop = memmem(lines.data, lines.size, "\r\n", 2);

        assert(colon && stop && colon < stop); /* our own line */
        put_line(out, slice_make(lines.data, (size_t)(colon - lines.data)),
                 slice_trim(slice_make(colon + 1, (size_t)(stop - colon - 1))), told);
        lines = slice_after(lines, (size_t)(stop + 2 - lines.data));
    }
}

/* "4:-1#68" is range 4's token -1#68: the client puts the two together again. */
static void put_session(struct buf *out, struct slice session)
{
    const char *colon = session.size ? memchr(session.data, ':', session.size) : NULL;
    size_t range = colon ? (size_t)(colon - session.data) : 0;

    if (!colon)
        return;
    frame_text(out, TELL_PARTITION_KEY_RANGE_ID, slice_make(session.data, range));
    frame_text(out, TELL_SESSION_TOKEN, slice_after(session, range + 1));
}

/*
 * One process is all of a partition's replicas, so that all have seen what one has. Clients take an LSN of 0, or none, for a
 * replica that knows nothing yet, and do not believe it: not even a failure.
 */
static void put_lsns(struct buf *out, uint64_t lsn)
{
    static const uint16_t ids[] = { TELL_LSN, TELL_QUORUM_ACKED_LSN, TELL_GLOBAL_COMMITTED_LSN,
                                    TELL_LOCAL_LSN, TELL_QUORUM_ACKED_LOCAL_LSN };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        frame_big_number(out, ids[i], lsn ? lsn : 1);
    frame_number(out, TELL_CURRENT_REPLICA_SET_SIZE, 1);
    frame_number(out, TELL_CURRENT_WRITE_QUORUM, 1);
    frame_number(out, TELL_NUMBER_OF_READ_REGIONS, 0);
}

void frame_print_answer(struct buf *out, const struct frame_answer *frame,
                        const struct session_answer *answer)
{
    struct told told = { 0 };

    frame_begin(out, (uint32_t)answer->status, frame->activity_id);
    frame_byte(out, TELL_PAYLOAD_PRESENT, answer->body.size > 0);
    frame_number(out, TELL_REQUEST_ID, frame->request_id);
    put_lines(out, answer->head, &told);
    put_lsns(out, number_of(told.lsn));
    /* A failure about what is not there has seen what its client has: otherwise clients ask on and on. */
    put_session(out, told.session.data ? told.session : frame->asked_session);
    frame_end(out, answer->body.size);
}
