/* client/direct_answer.c - a frame becomes a response: its tokens become the header lines that HTTP would have had. */
#include "direct.h"

enum form { FORM_TEXT, FORM_NUMBER, FORM_FLAG, FORM_REAL, FORM_LINK, FORM_LSN };

static const struct row {
    uint16_t id;
    enum form form;
    const char *header;
} rows[] = {
#define ANSWER_TOKEN(id, form, header) { id, FORM_##form, header },
#include "frame/tokens.def"
#undef ANSWER_TOKEN
    { TELL_LSN, FORM_LSN, "lsn" },
    { TELL_PARTITION_KEY_RANGE_ID, FORM_TEXT, "x-ms-documentdb-partitionkeyrangeid" },
};

static const struct row *find_row(uint16_t id)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

bool direct_look(struct slice head, struct direct_about *about)
{
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES);
    struct frame_token token;

    *about = (struct direct_about){ 0 };
    while (rest.size) {
        if (!frame_take_token(&rest, &token))
            return false;
        if (token.id != TELL_PAYLOAD_PRESENT && token.id != TELL_REQUEST_ID)
            continue;
        if (!frame_token_is_whole(&token))
            return false;
        if (token.id == TELL_PAYLOAD_PRESENT)
            about->has_payload = frame_token_number(&token) != 0;
        else
            about->request_id = (uint32_t)frame_token_number(&token);
    }
    return true;
}

/* Links have bytes that are not ASCII, where headers have percent signs. */
static void print_link(struct buf *line, struct slice link)
{
    for (size_t i = 0; i < link.size; i++)
        if ((uint8_t)link.data[i] >= 0x80)
            buf_printf(line, "%%%02X", (uint8_t)link.data[i]);
        else
            buf_byte(line, link.data[i]);
}

static double real_of(const struct frame_token *token)
{
    double real = 0;

    if (token->type == TOKEN_DOUBLE)
        memcpy(&real, token->value.data, sizeof(real));
    return real;
}

/* What is of another type than its id's says nothing. */
static void print_value(struct buf *line, const struct row *row, const struct frame_token *token)
{
    bool is_text = frame_token_is_text(token), is_whole = frame_token_is_whole(token);

    if (row->form == FORM_TEXT && is_text)
        buf_slice(line, token->value);
    else if (row->form == FORM_LINK && is_text)
        print_link(line, token->value);
    else if (row->form == FORM_REAL)
        buf_printf(line, "%.15g", real_of(token));
    else if (row->form == FORM_FLAG && is_whole)
        buf_text(line, frame_token_number(token) ? "True" : "False");
    else if (is_whole)
        buf_u64(line, frame_token_number(token));
}

/* A line end in a value would be a header of its own. */
static bool take_line(struct call *call, struct buf *line)
{
    if (line->failed)
        call->response->no_memory = true;
    for (size_t i = 0; i < line->size; i++)
        if (line->data[i] == '\r' || line->data[i] == '\n' || line->data[i] == '\0')
            line->data[i] = ' ';
    return !line->failed && response_take_head(call->response, line->data, line->size) == line->size;
}

static bool take_token(struct call *call, struct buf *line, const struct frame_token *token)
{
    const struct row *row = find_row(token->id);

    if (!row)
        return true;
    line->size = 0;
    buf_printf(line, "%s: ", row->header);
    print_value(line, row, token);
    return take_line(call, line);
}

/* The session's token is the range's and the version's, which HTTP has in one. */
static bool take_session(struct call *call, struct buf *line, struct slice range, struct slice token)
{
    if (!range.data || !token.data)
        return true;
    line->size = 0;
    buf_printf(line, "x-ms-session-token: %.*s:", SLICE_ARGS(range));
    buf_slice(line, token);
    return take_line(call, line);
}

static bool take_activity(struct call *call, struct buf *line, const uint8_t *id)
{
    line->size = 0;
    buf_printf(line, "x-ms-activity-id: %02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
               id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6], id[8], id[9], id[10], id[11], id[12],
               id[13], id[14], id[15]);
    return take_line(call, line);
}

bool direct_take_answer(struct call *call, struct slice head)
{
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES), range = { 0 }, session = { 0 };
    struct frame_token token;
    struct buf line;
    bool good;

    buf_init(&line, &call->arena);
    call->response->http = (int)frame_u32(slice_after(head, FRAME_LENGTH_BYTES));
    good = take_activity(call, &line, (const uint8_t *)head.data + 2 * FRAME_LENGTH_BYTES);
    while (good && rest.size && frame_take_token(&rest, &token)) {
        if (token.id == TELL_PARTITION_KEY_RANGE_ID && frame_token_is_text(&token))
            range = token.value;
        if (token.id == TELL_SESSION_TOKEN && frame_token_is_text(&token))
            session = token.value;
        good = take_token(call, &line, &token);
    }
    return good && take_session(call, &line, range, session);
}
