/* client/direct_request.c - a call becomes a frame: its link and its headers become tokens. */
#include "base/encode.h"
#include "direct.h"
#include "frame/word.h"

/* ---- what calls are about */

enum resource {
#define RESOURCE(name, code, path, below, rid_bytes) RESOURCE_##name,
#include "frame/resources.def"
#undef RESOURCE
    RESOURCE_COUNT
};

static const struct {
    uint16_t code, name_id;
    const char *path;
} resources[RESOURCE_COUNT] = {
#define RESOURCE(name, number, text, below, rid_bytes) \
    [RESOURCE_##name].code = (number), [RESOURCE_##name].path = (text),
#include "frame/resources.def"
#undef RESOURCE
#define NAME_TOKEN(id, resource) [RESOURCE_##resource].name_id = (id),
#include "frame/tokens.def"
#undef NAME_TOKEN
};

enum header {
#define HEADER(name, text) HEADER_##name,
#include "base/headers.def"
#undef HEADER
    HEADER_NONE
};

enum { METHOD_HEAD = -1 }; /* no call of ours has it */
enum on { ON_ONE, ON_LIST };
enum says {
    SAYS_NOTHING = HEADER_NONE,
    SAYS_IS_QUERY = HEADER_IS_QUERY,
    SAYS_IS_UPSERT = HEADER_IS_UPSERT,
    SAYS_IS_BATCH = HEADER_IS_BATCH
};

struct operation_row {
    uint16_t code;
    int method;
    enum on on;
    enum says says;
    enum header match;
};

static const struct operation_row operations[] = {
#define OPERATION(code, method, on, says, match) \
    { code, METHOD_##method, ON_##on, SAYS_##says, HEADER_##match },
#include "frame/resources.def"
#undef OPERATION
};

/* Of two that mean the same, SDKs send the later one. */
static const struct operation_row *find_operation(int method, enum on on, enum says says)
{
    for (size_t i = sizeof(operations) / sizeof(operations[0]); i-- > 0;)
        if (operations[i].method == method && operations[i].on == on && operations[i].says == says)
            return &operations[i];
    return NULL;
}

/* ---- headers */

struct header_row {
    const char *name;
    size_t size;
    enum header header;
    uint16_t id;
    uint8_t type, form;
};

enum { MARK = 0xffff, SKIPPED = 0xfffe }; /* in the place of an id: the operation says it; nobody needs it */

#define NAMED(text) .name = (text), .size = sizeof(text) - 1

/* What a token stands for, and what needs none. The names that have no row send a call over HTTP. */
static const struct header_row rows[] = {
#define HEADER(name, text) [HEADER_##name] = { NAMED(text), .header = HEADER_##name },
#include "base/headers.def"
#undef HEADER
    [HEADER_NONE] = { NAMED("cache-control"), .id = SKIPPED },
    { NAMED("expect"), .id = SKIPPED },
    { NAMED("x-ms-documentdb-query-enable-scan"), .id = 0x001e, .type = TOKEN_BYTE, .form = FORM_FLAG },
    { NAMED("x-ms-cosmos-allow-tentative-writes"), .id = 0x0066, .type = TOKEN_BYTE, .form = FORM_FLAG },
    { NAMED("x-ms-cosmos-sdk-supportedcapabilities"), .id = 0x00a2, .type = TOKEN_ULONG,
      .form = FORM_NUMBER },
};

/* Those that headers.def names, and their tokens. */
static const struct header_row tokens[HEADER_NONE] = {
#define REQUEST_TOKEN(number, token_type, token_form, of) \
    [HEADER_##of] = { .id = (number), .type = TOKEN_##token_type, .form = FORM_##token_form },
#include "frame/tokens.def"
#undef REQUEST_TOKEN
    [HEADER_IF_NONE_MATCH] = { .id = 0x0008, .type = TOKEN_STRING, .form = FORM_MATCH },
    [HEADER_CONSISTENCY_LEVEL] = { .id = 0x0010, .type = TOKEN_BYTE, .form = FORM_CONSISTENCY },
    [HEADER_IS_QUERY] = { .id = MARK },
    [HEADER_IS_UPSERT] = { .id = MARK },
    [HEADER_IS_BATCH] = { .id = MARK },
    [HEADER_ACCEPT] = { .id = SKIPPED },
    [HEADER_CONTENT_TYPE] = { .id = SKIPPED },
    [HEADER_CROSS_PARTITION] = { .id = SKIPPED }, /* a query in a frame is allowed to be one */
    [HEADER_PARALLELIZE] = { .id = SKIPPED },
};

struct line {
    const struct header_row *row, *token;
    struct slice value;
};

static const struct header_row *find_row(struct slice name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].size == name.size && slice_equal_nocase(name, slice_make(rows[i].name, rows[i].size)))
            return &rows[i];
    return NULL;
}

/* "Name: value", or "Name;" where it has none. False: no token stands for it. */
static bool read_line(const char *text, struct line *line)
{
    size_t name = strcspn(text, ":;");
    const struct header_row *row = find_row(slice_make(text, name));

    if (!row)
        return false;
    *line = (struct line){ .row = row, .token = row < &rows[HEADER_NONE] ? &tokens[row->header] : row };
    line->value = slice_trim(slice_of(text + name + (text[name] != '\0')));
    return line->token->id != 0;
}

/* ---- putting it together */

struct saying {
    struct call *call;
    struct buf *out;
    const struct operation_row *operation;
};

static bool is_true(struct slice word)
{
    uint32_t number = 0;

    return frame_word_number(FORM_FLAG, word, &number) && number;
}

/* What the headers say that the operation says here. */
static enum says marks_of(const struct call *call)
{
    enum says says = SAYS_NOTHING;
    struct line line;

    for (size_t at = 0; at < call->head.size; at += strlen(call->head.data + at) + 1)
        if (read_line(call->head.data + at, &line) && line.token->id == MARK && is_true(line.value))
            says = (enum says)line.row->header;
    return says;
}

static enum resource find_resource(struct slice path)
{
    for (size_t i = 1; i < RESOURCE_COUNT; i++)
        if (slice_is(path, resources[i].path))
            return (enum resource)i;
    return RESOURCE_NONE;
}

static struct slice next_segment(struct slice *path)
{
    const char *slash;
    struct slice segment;

    *path = slice_after(*path, 1); /* its slash */
    slash = path->size ? memchr(path->data, '/', path->size) : NULL;
    segment = slice_make(path->data, slash ? (size_t)(slash - path->data) : path->size);
    *path = slice_after(*path, segment.size);
    return segment;
}

/* A link of rids is signed by the last of them alone. */
static bool is_by_rid(const struct call *call)
{
    return !memchr(call->target.sign.data, '/', call->target.sign.size);
}

/* A rid is base64 with a dash in the place of a slash. */
static bool put_rid(struct buf *out, struct slice text)
{
    enum { RID_TEXT_BYTES_MAX = 64 };
    char plain[RID_TEXT_BYTES_MAX];
    uint8_t bytes[RID_TEXT_BYTES_MAX];
    size_t size = 0;

    if (text.size > sizeof(plain))
        return false;
    for (size_t i = 0; i < text.size; i++)
        plain[i] = text.data[i] == '-' ? '/' : text.data[i];
    if (!base64_decode(slice_make(plain, text.size), bytes, sizeof(bytes), &size))
        return false;
    frame_bytes(out, ASK_RESOURCE_ID, slice_make(bytes, size));
    return true;
}

/* The names on the way to it; of a link of rids, the last one. */
static enum direct_said put_path(const struct saying *saying)
{
    struct slice path = saying->call->target.path, segment, name = slice_of("");
    bool by_rid = is_by_rid(saying->call);

    while (path.size > 0) {
        enum resource resource = find_resource(next_segment(&path));

        if (path.size == 0)
            break;
        segment = next_segment(&path);
        if (!percent_decode(&saying->call->arena, segment, &name))
            return NO_MEMORY; /* our own encoding: there is nothing else that could be wrong with it */
        if (name.size > TOKEN_TEXT_BYTES_MAX)
            return NOT_SAID;
        if (!by_rid)
            frame_text(saying->out, resources[resource].name_id, name);
    }
    return !by_rid || put_rid(saying->out, name) ? SAID : NOT_SAID;
}

static bool put_text(struct buf *out, const struct header_row *token, struct slice value)
{
    if (value.size > (token->type == TOKEN_SMALL_STRING ? UINT8_MAX : TOKEN_TEXT_BYTES_MAX))
        return false;
    if (token->type == TOKEN_SMALL_STRING)
        frame_small_text(out, token->id, value);
    else if (token->type == TOKEN_BYTES)
        frame_bytes(out, token->id, value);
    else
        frame_text(out, token->id, value);
    return true;
}

static bool put_number(struct buf *out, const struct header_row *token, struct slice value)
{
    uint32_t number = 0;

    if (!frame_word_number((enum frame_form)token->form, value, &number))
        return false;
    if (token->type == TOKEN_BYTE)
        frame_byte(out, token->id, (uint8_t)number);
    else
        frame_number(out, token->id, number);
    return true;
}

static bool put_line(const struct saying *saying, const struct line *line)
{
    const struct header_row *token = line->token;

    if (token->id == MARK || token->id == SKIPPED)
        return true;
    if (token->form == FORM_MATCH && line->row->header != saying->operation->match)
        return false;
    return frame_form_is_text((enum frame_form)token->form) ? put_text(saying->out, token, line->value)
                                                            : put_number(saying->out, token, line->value);
}

static enum direct_said put_lines(const struct saying *saying)
{
    const struct buf *head = &saying->call->head;
    struct line line;

    for (size_t at = 0; at < head->size; at += strlen(head->data + at) + 1)
        if (!read_line(head->data + at, &line) || !put_line(saying, &line))
            return NOT_SAID;
    return SAID;
}

/* Each attempt is signed anew. A token instead of a key has no date. */
static bool put_signature(struct buf *out, const struct call *call)
{
    struct slice authorization = slice_of(call->authorization + strlen("authorization: "));

    if (!call->client->token)
        put_text(out, &tokens[HEADER_MS_DATE], slice_of(call->date));
    return put_text(out, &tokens[HEADER_AUTHORIZATION], authorization);
}

static enum on on_of(const struct call *call)
{
    size_t slashes = 0;

    for (size_t i = 0; i < call->target.path.size; i++)
        slashes += call->target.path.data[i] == '/';
    return slashes % 2 ? ON_LIST : ON_ONE;
}

bool direct_is_for(const struct call *call)
{
    if (strcmp(call->target.type, resources[RESOURCE_PROCEDURE].path) == 0)
        return call->method == METHOD_POST && on_of(call) == ON_ONE;
    return strcmp(call->target.type, resources[RESOURCE_DOCUMENT].path) == 0;
}

static enum direct_said put_all(const struct saying *saying)
{
    enum direct_said said = put_path(saying);

    if (said == SAID)
        said = put_lines(saying);
    if (said == SAID && (!put_signature(saying->out, saying->call) || saying->out->size > ASK_HEAD_BYTES_MAX))
        said = NOT_SAID;
    return said;
}

enum direct_said direct_say(struct call *call, uint32_t id, struct buf *out)
{
    const struct operation_row *operation = find_operation((int)call->method, on_of(call), marks_of(call));
    struct saying saying = { .call = call, .out = out, .operation = operation };
    uint16_t resource = resources[find_resource(slice_of(call->target.type))].code;
    uint8_t activity[GUID_BYTES];
    enum direct_said said;

    if (!operation || call->body.size > ASK_PAYLOAD_BYTES_MAX)
        return NOT_SAID;
    env_random(call->client->env, activity, sizeof(activity));
    frame_begin(out, frame_asks(resource, operation->code), activity);
    frame_byte(out, ASK_PAYLOAD_PRESENT, call->body.size > 0);
    frame_number(out, ASK_REQUEST_ID, id);
    said = put_all(&saying);
    frame_end(out, call->body.size);
    buf_slice(out, buf_as_slice(&call->body));
    return out->failed ? NO_MEMORY : said;
}
