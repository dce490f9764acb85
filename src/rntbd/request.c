/* src/rntbd/request.c - tokens become a method, a path and headers. */
#include <assert.h>
#include <stdio.h>

#include "frame/word.h"
#include "keys/rid.h"
#include "rntbd/request.h"

/* Resources and operations */

enum resource {
#define RESOURCE(name, code, path, below, rid_bytes) RESOURCE_##name,
#include "frame/resources.def"
#undef RESOURCE
    RESOURCE_COUNT
};

static const struct {
    uint16_t code;
    const char *path;
    enum resource below;
    uint8_t rid_bytes;
} resources[RESOURCE_COUNT] = {
#define RESOURCE(name, code, path, below, rid_bytes) { code, path, RESOURCE_##below, rid_bytes },
#include "frame/resources.def"
#undef RESOURCE
};

enum on { ON_ONE, ON_LIST };
enum says {
    SAYS_NOTHING = HEADER_COUNT,
    SAYS_IS_QUERY = HEADER_IS_QUERY,
    SAYS_IS_UPSERT = HEADER_IS_UPSERT,
    SAYS_IS_BATCH = HEADER_IS_BATCH
};

struct operation_row {
    uint16_t code;
    enum method method;
    enum on on; /* the resource itself, or the list that it is in */
    enum says says;
    enum header_id match;
};

static const struct operation_row operations[] = {
#define OPERATION(code, method, on, says, match) \
    { code, METHOD_##method, ON_##on, SAYS_##says, HEADER_##match },
#include "frame/resources.def"
#undef OPERATION
};

static enum resource find_resource(uint16_t code)
{
    for (size_t i = 1; i < RESOURCE_COUNT; i++)
        if (resources[i].code == code)
            return (enum resource)i;
    return RESOURCE_NONE;
}

static const struct operation_row *find_operation(uint16_t code)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (operations[i].code == code)
            return &operations[i];
    return NULL;
}

/* Tokens */

struct token_row {
    uint8_t form;
    uint8_t of; /* a header, or a resource */
};

enum { TOKEN_IDS = 0x0107 };

static const struct token_row rows[TOKEN_IDS] = {
#define REQUEST_TOKEN(id, type, form, header) [id] = { FORM_##form, HEADER_##header },
#define NAME_TOKEN(id, resource) [id] = { FORM_NAME, RESOURCE_##resource },
#include "frame/tokens.def"
#undef REQUEST_TOKEN
#undef NAME_TOKEN
};

/* What is found out about a request before its path can be put together. */
struct reading {
    struct stream *stream;
    const struct operation_row *operation;
    struct slice name[RESOURCE_COUNT];
    struct slice rid;
};

static void note_header(struct reading *reading, const struct token_row *row, const struct frame_token *token)
{
    enum header_id id = row->form == FORM_MATCH ? reading->operation->match : (enum header_id)row->of;
    char room[WORD_BYTES_MAX];
    struct slice value =
        frame_form_is_text(row->form) ? token->value : frame_word(row->form, frame_token_number(token), room);

    if (value.data)
        stream_note(reading->stream, &reading->stream->header[id], value);
}

/* False when its type is another than its id's: whoever sent it means something else. */
static bool take_token(struct reading *reading, const struct frame_token *token)
{
    const struct token_row *row = token->id < TOKEN_IDS ? &rows[token->id] : &(struct token_row){ 0 };

    if (token->id == ASK_RESOURCE_ID) {
        reading->rid = token->value;
        return frame_token_is_text(token);
    }
    if (row->form == FORM_NONE)
        return true;
    if (frame_form_is_text(row->form) ? !frame_token_is_text(token) : !frame_token_is_whole(token))
        return false;
    if (row->form == FORM_NAME)
        reading->name[row->of] = token->value;
    else
        note_header(reading, row, token);
    return true;
}

/* Paths */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~' || c == '=';
}

/* Names come as they are, and paths have them percent-encoded. */
static void append_encoded(struct stream *stream, struct slice name)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t plain;

    while (name.size) {
        for (plain = 0; plain < name.size && is_plain(name.data[plain]);)
            plain++;
        if (plain) {
            stream_append(stream, &stream->head, slice_make(name.data, plain));
        } else {
            uint8_t byte = (uint8_t)name.data[0];

            stream_append(stream, &stream->head,
                          slice_make((char[]){ '%', digits[byte >> 4], digits[byte & 15] }, 3));
            plain = 1;
        }
        name = slice_after(name, plain);
    }
}

static void append_rid(struct stream *stream, struct slice bytes)
{
    char room[RID_TEXT_MAX + 8];
    struct buf text = { .data = room, .capacity = sizeof(room) };
    struct rid rid = { .size = (uint8_t)bytes.size };

    memcpy(rid.bytes, bytes.data, bytes.size);
    rid_print(&text, &rid);
    append_encoded(stream, buf_as_slice(&text));
}

/* A client that goes by rids sends that of the resource, or that of the one above its list. */
static bool is_by_rid(const struct reading *reading, enum resource last)
{
    return !reading->name[RESOURCE_DATABASE].data && reading->rid.size > 0 &&
           reading->rid.size == resources[last].rid_bytes;
}

/* False when a name is missing. */
static bool append_owners(struct reading *reading, enum resource resource, bool by_rid)
{
    struct stream *stream = reading->stream;
    struct slice name =
        by_rid ? slice_make(reading->rid.data, resources[resource].rid_bytes) : reading->name[resource];

    if (resource == RESOURCE_NONE)
        return true;
    if (!append_owners(reading, resources[resource].below, by_rid) || name.size == 0)
        return false;
    stream_append(stream, &stream->head, slice_of("/"));
    stream_append(stream, &stream->head, slice_of(resources[resource].path));
    stream_append(stream, &stream->head, slice_of("/"));
    if (by_rid)
        append_rid(stream, name);
    else
        append_encoded(stream, name);
    return true;
}

static bool note_target(struct reading *reading, enum resource resource)
{
    struct stream *stream = reading->stream;
    bool is_list = reading->operation->on == ON_LIST;
    enum resource last = is_list ? resources[resource].below : resource;
    struct span target = { .at = (uint32_t)stream->head.size };

    if (!append_owners(reading, last, is_by_rid(reading, last)))
        return false;
    if (is_list) {
        stream_append(stream, &stream->head, slice_of("/"));
        stream_append(stream, &stream->head, slice_of(resources[resource].path));
    }
    target.size = (uint32_t)stream->head.size - target.at;
    stream->target = target;
    return true;
}

/* Frames */

bool frame_look(struct slice head, struct frame_about *about)
{
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES);
    struct frame_token token;

    *about = (struct frame_about){ .resource = frame_u16(slice_after(head, 4)),
                                   .operation = frame_u16(slice_after(head, 6)) };
    while (rest.size) {
        if (!frame_take_token(&rest, &token))
            return false;
        if (token.id != ASK_PAYLOAD_PRESENT && token.id != ASK_REQUEST_ID)
            continue;
        if (!frame_token_is_whole(&token))
            return false;
        if (token.id == ASK_PAYLOAD_PRESENT)
            about->has_payload = frame_token_number(&token) != 0;
        else
            about->request_id = (uint32_t)frame_token_number(&token);
    }
    return true;
}

static void note_activity(struct stream *stream, const uint8_t *id)
{
    char text[40];

    memcpy(stream->rntbd.activity_id, id, GUID_BYTES);
    snprintf(text, sizeof(text), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6], id[8], id[9], id[10], id[11], id[12],
             id[13], id[14], id[15]);
    stream_note(stream, &stream->header[HEADER_ACTIVITY_ID], slice_of(text));
}

static void note_flag(struct stream *stream, enum header_id id)
{
    stream_note(stream, &stream->header[id], slice_of("true"));
}

/* What headers say over HTTP, and the operation says here. */
static void note_operation(struct stream *stream, const struct operation_row *operation)
{
    stream->method = operation->method;
    if (operation->says == SAYS_NOTHING)
        return;
    note_flag(stream, (enum header_id)operation->says);
    if (operation->says == SAYS_IS_QUERY)
        note_flag(stream, HEADER_CROSS_PARTITION);
}

bool frame_read_request(struct stream *stream, struct slice head, struct slice version)
{
    enum resource resource = find_resource(frame_u16(slice_after(head, 4)));
    struct reading reading = { .stream = stream,
                               .operation = find_operation(frame_u16(slice_after(head, 6))) };
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES);
    struct frame_token token;

    stream->direct = true;
    note_activity(stream, (const uint8_t *)head.data + 8);
    stream_note(stream, &stream->header[HEADER_VERSION], version);
    if (resource == RESOURCE_NONE || !reading.operation) {
        stream_refuse(stream, ST_BAD_HEADER, "This operation on this resource is not served in Direct mode.");
        return true;
    }
    note_operation(stream, reading.operation);
    while (rest.size)
        if (!frame_take_token(&rest, &token) || !take_token(&reading, &token))
            return false;
    if (!note_target(&reading, resource))
        stream_refuse(stream, ST_BAD_HEADER, "The request does not name the resource that it is about.");
    return true;
}
