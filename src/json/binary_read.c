/*
 * src/json/binary_read.c - binary JSON to bytes of ours in one pass.
 * A value's marker says how it goes on. A container's header is written last, as in parse.c, whose state this shares.
 */
#include "json/binary_read.h"
#include "json/binary_reader.h"

enum {
    NUMBER_ROOM = 16,                           /* "-Infinity" as a string has ten bytes */
    LOOP_BYTES_MAX = 8 * INLINE_ITEM_BYTES_MAX, /* a value that grows beyond it is no loop thread's */
};

bool reader_fail_end(struct reader *r)
{
    return parser_fail(&r->p, "Unexpected end");
}

bool reader_grow(struct reader *r, size_t bytes)
{
    if (r->p.to && parser_place(&r->p) + bytes > LOOP_BYTES_MAX) {
        r->p.status = op_may_take_long(r->p.op);
        if (r->p.status != ST_OK)
            return false;
    }
    return parser_grow(&r->p, bytes);
}

/* ---- numbers ---- */

struct number_form {
    uint8_t bytes;
    enum { NO_NUMBER, UNSIGNED, SIGNED, FLOAT } kind;
};

/* clang-format off */
static const struct number_form number_forms[] = {
    [BINARY_U64 - BINARY_U64]       = { 8, UNSIGNED },
    [BINARY_U8 - BINARY_U64]        = { 1, UNSIGNED },
    [BINARY_I16 - BINARY_U64]       = { 2, SIGNED },
    [BINARY_I32 - BINARY_U64]       = { 4, SIGNED },
    [BINARY_I64 - BINARY_U64]       = { 8, SIGNED },
    [BINARY_DOUBLE - BINARY_U64]    = { 8, FLOAT },
    [BINARY_FLOAT32 - BINARY_U64]   = { 4, FLOAT },
    [BINARY_FLOAT64 - BINARY_U64]   = { 8, FLOAT },
    [BINARY_ITEM_U8 - BINARY_U64]   = { 1, UNSIGNED },
    [BINARY_VALUE_I8 - BINARY_U64]  = { 1, SIGNED },
    [BINARY_VALUE_I16 - BINARY_U64] = { 2, SIGNED },
    [BINARY_VALUE_I32 - BINARY_U64] = { 4, SIGNED },
    [BINARY_VALUE_I64 - BINARY_U64] = { 8, SIGNED },
    [BINARY_VALUE_U32 - BINARY_U64] = { 4, UNSIGNED },
};
/* clang-format on */

static struct number_form form_of(uint8_t marker)
{
    if (marker < BINARY_U64 || marker > BINARY_VALUE_U32)
        return (struct number_form){ 0 };
    return number_forms[marker - BINARY_U64];
}

static double float_of(uint64_t bits, size_t bytes)
{
    uint32_t short_bits = (uint32_t)bits;
    float single;
    double number;

    if (bytes == sizeof(single)) {
        memcpy(&single, &short_bits, sizeof(single));
        return single;
    }
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static uint8_t *put_float(uint8_t *to, double number)
{
    const char *name = isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";

    if (isfinite(number))
        return put_double(to, number);
    to = put_string_header(to, strlen(name), false);
    return mempcpy(to, name, strlen(name));
}

/* There is room for NUMBER_ROOM bytes. */
static uint8_t *put_number(uint8_t *to, struct number_form form, const uint8_t *at)
{
    uint64_t bits = reader_load(at, form.bytes);
    unsigned unused = 64 - 8u * form.bytes;

    if (form.kind == SIGNED)
        return put_int(to, (int64_t)(bits << unused) >> unused);
    if (form.kind == FLOAT)
        return put_float(to, float_of(bits, form.bytes));
    return bits <= INT64_MAX ? put_int(to, (int64_t)bits) : put_double(to, (double)bits);
}

static bool read_number(struct reader *r, struct number_form form)
{
    if (reader_left(r) < form.bytes)
        return reader_fail_end(r);
    if (!reader_room(r, NUMBER_ROOM))
        return false;
    r->p.to = put_number(r->p.to, form, r->p.at);
    r->p.at += form.bytes;
    return true;
}

/* ---- containers ---- */

/* Enters a container: where it ends, and, if that is not known, how many elements it has. `outer` is to be left to. */
struct frame {
    enum binary_shape shape;
    const uint8_t *outer;
    size_t start; /* of its header in the output */
};

static bool enter(struct reader *r, uint8_t marker, int depth, struct frame *frame)
{
    static const uint8_t widths[] = { 0, 0, 1, 2, 4, 1, 2, 4 };
    enum binary_shape shape = marker & 7;
    size_t width = widths[shape];
    uint64_t length = 0, count;

    *frame = (struct frame){ 0 };
    if (depth >= JSON_DEPTH_MAX)
        return parser_fail_too_deep(&r->p);
    if (!reader_take(r, width, &length) || (shape >= SHAPE_COUNT_1 && !reader_take(r, width, &count)))
        return false;
    if (length > reader_left(r))
        return reader_fail_end(r);
    if (!reader_room(r, CONTAINER_HEADER))
        return false;
    *frame = (struct frame){ shape, r->end, parser_place(&r->p) };
    if (width)
        r->end = r->p.at + length;
    r->p.to += CONTAINER_HEADER;
    return true;
}

/* Whether another element or member follows. The count that a container may tell is not needed. */
static bool goes_on(const struct reader *r, const struct frame *frame, size_t so_far)
{
    return frame->shape <= SHAPE_ONE ? so_far < (size_t)frame->shape : r->p.at < r->end;
}

static bool read_value(struct reader *r, int depth);

static bool read_array(struct reader *r, uint8_t marker, int depth)
{
    struct frame frame;
    size_t count;

    if (!enter(r, marker, depth, &frame))
        return false;
    for (count = 0; goes_on(r, &frame, count); count++)
        if (!read_value(r, depth + 1))
            return false;
    parser_end_container(&r->p, frame.start, TAG_ARRAY, count);
    r->end = frame.outer;
    return true;
}

static bool read_name(struct reader *r)
{
    uint64_t marker;

    if (!reader_take(r, 1, &marker))
        return false;
    if (marker - BINARY_SHORT_STRING < SHORT_STRING_END)
        return reader_short(r, (size_t)marker - BINARY_SHORT_STRING);
    return reader_is_string((uint8_t)marker) ? reader_string(r, (uint8_t)marker)
                                             : parser_fail(&r->p, "A name that is no string");
}

static bool read_member(struct reader *r, struct object_names *names, int depth)
{
    struct parser *p = &r->p;
    size_t name_at = parser_place(p);
    struct name_entry *entry;

    if (!read_name(r) || !reader_room(r, 0)) /* the name's hash looks at what is behind it */
        return false;
    entry = names_add(&p->names, names, (const uint8_t *)p->out.data, name_at);
    if (!entry)
        return parser_fail_too_large(p);
    entry->value_at = (uint32_t)parser_place(p);
    return read_value(r, depth + 1);
}

static bool read_object(struct reader *r, uint8_t marker, int depth)
{
    struct parser *p = &r->p;
    struct object_names names = names_begin(&p->names);
    struct frame frame;

    if (!enter(r, marker, depth, &frame))
        return false;
    for (size_t i = 0; goes_on(r, &frame, i); i++)
        if (!read_member(r, &names, depth))
            return false;
    if (names.repeated && !parser_drop_repeated(p, &names, frame.start, READER_ROOM))
        return false;
    parser_end_container(p, frame.start, TAG_OBJECT, names_count(&p->names, &names));
    names_end(&p->names, &names);
    r->end = frame.outer;
    return true;
}

/* ---- uniform arrays ---- */

/* Numbers of one form, without markers of their own. */
static bool read_items(struct reader *r, struct number_form form, size_t count)
{
    size_t start;

    if (reader_left(r) < count * form.bytes)
        return reader_fail_end(r);
    if (!reader_room(r, CONTAINER_HEADER + count * NUMBER_ROOM))
        return false;
    start = parser_place(&r->p);
    r->p.to += CONTAINER_HEADER;
    for (size_t i = 0; i < count; i++, r->p.at += form.bytes)
        r->p.to = put_number(r->p.to, form, r->p.at);
    parser_end_container(&r->p, start, TAG_ARRAY, count);
    return true;
}

/* The item type, then a count. Numbers of the plain kinds are no items. */
static bool read_item_form(struct reader *r, size_t width, struct number_form *form, uint64_t *count)
{
    uint64_t marker;

    *count = 0;
    if (!reader_take(r, 1, &marker))
        return false;
    *form = form_of((uint8_t)marker);
    if (form->kind == NO_NUMBER || marker < BINARY_FLOAT32 || marker == BINARY_VALUE_U32)
        return parser_fail(&r->p, "Items of no known form");
    return reader_take(r, width, count);
}

static bool read_uniform(struct reader *r, uint8_t marker, int depth)
{
    struct number_form form;
    uint64_t count;

    if (depth >= JSON_DEPTH_MAX)
        return parser_fail_too_deep(&r->p);
    return read_item_form(r, (size_t)(marker - BINARY_UNIFORM_1) + 1, &form, &count) &&
           read_items(r, form, (size_t)count);
}

/* An array of arrays, all of one length and of one form. */
static bool read_uniform_rows(struct reader *r, uint8_t marker, int depth)
{
    size_t width = (size_t)(marker - BINARY_UNIFORM_ROWS_1) + 1, start;
    uint64_t inner, count, rows;
    struct number_form form;

    if (depth + 1 >= JSON_DEPTH_MAX)
        return parser_fail_too_deep(&r->p);
    if (!reader_take(r, 1, &inner))
        return false;
    if (inner != BINARY_UNIFORM_1 + width - 1)
        return parser_fail(&r->p, "Rows of no known form");
    if (!read_item_form(r, width, &form, &count) || !reader_take(r, width, &rows))
        return false;
    if (count == 0 && rows > 0)
        return parser_fail(&r->p, "Rows without items");
    if (!reader_room(r, CONTAINER_HEADER))
        return false;
    start = parser_place(&r->p);
    r->p.to += CONTAINER_HEADER;
    for (uint64_t i = 0; i < rows; i++)
        if (!read_items(r, form, (size_t)count))
            return false;
    parser_end_container(&r->p, start, TAG_ARRAY, (size_t)rows);
    return true;
}

/* ---- values ---- */

static bool read_word(struct reader *r, enum tag tag)
{
    if (!reader_room(r, 1))
        return false;
    *r->p.to++ = (uint8_t)tag;
    return true;
}

/* What is neither a string nor a container. */
static bool read_scalar(struct reader *r, uint8_t marker)
{
    struct number_form form = form_of(marker);

    if (marker < BINARY_SYSTEM)
        return read_word(r, TAG_SMALL_INT + marker);
    if (marker >= BINARY_NULL && marker <= BINARY_TRUE)
        return read_word(r, TAG_NULL + marker - BINARY_NULL);
    if (marker == BINARY_GUID_VALUE)
        return reader_guid_value(r);
    if (marker >= BINARY_BYTES_1 && marker <= BINARY_BYTES_4)
        return reader_bytes(r, marker);
    if (form.kind == NO_NUMBER || marker == BINARY_ITEM_U8)
        return parser_fail(&r->p, "An unknown marker");
    return read_number(r, form);
}

/* `depth` is how many containers are open around the value. */
static bool read_value(struct reader *r, int depth)
{
    uint64_t found;
    uint8_t marker;

    if (!reader_take(r, 1, &found))
        return false;
    marker = (uint8_t)found;
    if (found - BINARY_SHORT_STRING < SHORT_STRING_END)
        return reader_short(r, (size_t)found - BINARY_SHORT_STRING);
    if (reader_is_string(marker))
        return reader_string(r, marker);
    if (marker < BINARY_ARRAY)
        return read_scalar(r, marker);
    if (marker < BINARY_OBJECT)
        return read_array(r, marker, depth);
    if (marker < BINARY_UNIFORM_1)
        return read_object(r, marker, depth);
    if (marker < BINARY_UNIFORM_ROWS_1)
        return read_uniform(r, marker, depth);
    if (marker <= BINARY_UNIFORM_ROWS_2)
        return read_uniform_rows(r, marker, depth);
    return parser_fail(&r->p, "An unknown marker");
}

/* Our headers of containers are larger than theirs. */
static bool read_whole(struct reader *r)
{
    if (!reader_room(r, reader_left(r) + reader_left(r) / 4))
        return false;
    r->p.at++;
    if (!read_value(r, 0))
        return false;
    return r->p.at == r->p.end ? true : parser_fail(&r->p, "Bytes behind the value");
}

bool json_is_binary(struct slice body)
{
    return body.size > 0 && (uint8_t)body.data[0] == BINARY_FIRST_BYTE;
}

enum status json_parse_binary(struct op *op, struct slice bytes, struct json *value)
{
    struct reader r;

    assert(json_is_binary(bytes));
    parser_init(&r.p, op, bytes);
    r.end = r.p.end;
    if (!read_whole(&r))
        return r.p.status;
    value->at = (const uint8_t *)r.p.out.data;
    return ST_OK;
}

enum status json_parse_body(struct op *op, struct slice body, struct json *value)
{
    return json_is_binary(body) ? json_parse_binary(op, body, value) : json_parse(op, body, value);
}
