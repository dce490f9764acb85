/*
 * src/json/patch.c - operations on parts of a document.
 * A value's bytes lie in one piece, so every operation is one splice of them (a move is two): bytes are
 * taken out and put in, and the containers around them are told their new sizes.
 */
#include "json/format.h"
#include "json/patch.h"

/* How much of a client's text goes into a message. */
#define SHOWN(s) (int)((s).size > 200 ? 200 : (s).size), (s).data

/* ---- from what a client sent to operations ---- */

static enum status bad_syntax(struct op *op)
{
    return op_fail(op, ST_BAD_REQUEST, "Invalid patch request: check syntax of patch specification.");
}

/* ~1 is a slash and ~0 a tilde; nothing else follows a tilde. */
static enum status unescape(struct op *op, struct slice raw, struct slice *segment)
{
    char *out;

    *segment = raw;
    if (!memchr(raw.data, '~', raw.size))
        return ST_OK;
    out = arena_try_alloc(&op->arena, raw.size);
    if (!out)
        return op_fail_as(op, ST_TOO_LARGE);
    *segment = slice_make(out, 0);
    for (size_t i = 0; i < raw.size; i++) {
        char byte = raw.data[i];

        if (byte == '~') {
            i++;
            if (i == raw.size || (raw.data[i] != '0' && raw.data[i] != '1'))
                return bad_syntax(op);
            byte = raw.data[i] == '1' ? '/' : '~';
        }
        out[segment->size++] = byte;
    }
    return ST_OK;
}

static size_t count_slashes(struct slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '/';
    return count;
}

static enum status split(struct op *op, struct slice text, struct pointer *pointer)
{
    enum status st = ST_OK;

    *pointer = (struct pointer){ .text = text, .count = count_slashes(text) };
    if (pointer->count > JSON_DEPTH_MAX) /* no document is that deep */
        return bad_syntax(op);
    pointer->segment = arena_try_alloc(&op->arena, pointer->count * sizeof(*pointer->segment));
    if (!pointer->segment)
        return op_fail_as(op, ST_TOO_LARGE);
    for (size_t i = 0; i < pointer->count; i++) {
        struct slice rest = slice_after(text, 1);
        const char *slash = memchr(rest.data, '/', rest.size);
        size_t size = slash ? (size_t)(slash - rest.data) : rest.size;

        TRY(unescape(op, slice_make(rest.data, size), &pointer->segment[i]));
        text = slice_after(rest, size);
    }
out:
    return st;
}

/* The whole document, "", is no place that can be patched. */
static enum status parse_pointer(struct op *op, struct json text, struct pointer *pointer)
{
    if (json_kind(text) != JSON_STRING || !slice_starts_with(json_string(text), "/"))
        return bad_syntax(op);
    return split(op, json_string(text), pointer);
}

bool pointer_covers(const struct pointer *pointer, const struct slice *within, size_t count)
{
    if (count < pointer->count)
        return false;
    for (size_t i = 0; i < pointer->count; i++)
        if (!slice_equal(pointer->segment[i], within[i]))
            return false;
    return true;
}

static enum status parse_kind(struct op *op, struct json name, enum patch_kind *kind)
{
    static const struct {
        const char *name;
        enum patch_kind kind;
    } kinds[] = {
        { "add", PATCH_ADD },
        { "set", PATCH_SET },
        { "replace", PATCH_REPLACE },
        { "remove", PATCH_REMOVE },
        { "move", PATCH_MOVE },
        { "incr", PATCH_INCREMENT },
        { "increment", PATCH_INCREMENT },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (json_kind(name) == JSON_STRING && slice_is(json_string(name), kinds[i].name)) {
            *kind = kinds[i].kind;
            return ST_OK;
        }
    return bad_syntax(op);
}

static enum status parse_source(struct op *op, struct json from, struct patch_operation *operation)
{
    const struct pointer *path = &operation->path;
    enum status st;

    TRY(parse_pointer(op, from, &operation->from));
    if (path->count > operation->from.count && pointer_covers(&operation->from, path->segment, path->count))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "For Operation(%zu): The path '%.*s' cannot be a child of the from path '%.*s'.",
                    operation->number, SHOWN(path->text), SHOWN(operation->from.text)));
out:
    return st;
}

static enum status parse_operation(struct op *op, struct json given, struct patch_operation *operation)
{
    enum status st;

    TRY(parse_kind(op, json_get(given, "op"), &operation->kind));
    TRY(parse_pointer(op, json_get(given, "path"), &operation->path));
    if (operation->kind == PATCH_MOVE)
        TRY(parse_source(op, json_get(given, "from"), operation));
    if (operation->kind == PATCH_MOVE || operation->kind == PATCH_REMOVE)
        goto out;
    operation->value = json_get(given, "value");
    if (json_kind(operation->value) == JSON_UNDEFINED ||
        (operation->kind == PATCH_INCREMENT && json_kind(operation->value) != JSON_NUMBER))
        TRY(bad_syntax(op));
out:
    return st;
}

enum status patch_parse(struct op *op, struct json operations, struct patch *patch)
{
    enum status st = ST_OK;

    *patch = (struct patch){ 0 };
    if (json_kind(operations) != JSON_ARRAY || json_count(operations) == 0)
        return bad_syntax(op);
    if (json_count(operations) > PATCH_OPERATIONS_MAX)
        return op_fail(op, ST_BAD_REQUEST, "The number of patch operations cannot exceed %d.",
                       PATCH_OPERATIONS_MAX);
    for (struct json_iter i = json_iter(operations); json_next(&i);) {
        struct patch_operation *operation = &patch->operation[patch->count++];

        operation->number = patch->count;
        TRY(parse_operation(op, i.value, operation));
    }
out:
    return st;
}

/* ---- places ---- */

/* Where a pointer leads, in bytes from the document's first. */
struct place {
    size_t open[JSON_DEPTH_MAX], depth; /* the containers around it, outermost first */
    bool in_array, out_of_bounds;
    size_t at;         /* of the member or element; where a new one would be put when there is none */
    size_t name_bytes; /* in front of its value */
    struct json value; /* undefined when there is none */
};

/* An element's index: "-" is the place behind the last one, and a number has no zeros in front. */
static size_t element_index(struct json array, struct slice segment)
{
    uint64_t index;

    if (slice_is(segment, "-"))
        return json_count(array);
    if ((segment.size > 1 && segment.data[0] == '0') || !slice_to_u64(segment, &index))
        return SIZE_MAX;
    return index;
}

static struct json child(struct json parent, struct slice segment)
{
    if (json_kind(parent) == JSON_ARRAY)
        return json_element(parent, element_index(parent, segment));
    return json_member(parent, segment);
}

static bool is_container(struct json value)
{
    return json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT;
}

static void find_in_parent(struct json document, struct json parent, struct slice segment,
                           struct place *place)
{
    struct json_iter i = json_iter(parent);
    size_t index = 0, wanted = element_index(parent, segment);

    place->in_array = json_kind(parent) == JSON_ARRAY;
    place->out_of_bounds = place->in_array && wanted > json_count(parent);
    for (;; index++) {
        place->at = (size_t)(i.next - document.at);
        if (!json_next(&i))
            return;
        if (place->in_array ? index == wanted : slice_equal(i.name, segment))
            break;
    }
    place->value = i.value;
    place->name_bytes = (size_t)(i.value.at - document.at) - place->at;
}

static enum status no_path(struct op *op, const struct patch_operation *operation, struct slice segment)
{
    return op_fail(
        op, ST_BAD_REQUEST,
        "For Operation(%zu): %s Operation can only create a child object of an existing node(array "
        "or object) and cannot create path recursively, no path found beyond: '%.*s'.",
        operation->number, operation->kind == PATCH_ADD ? "Add" : "Given", SHOWN(segment));
}

static enum status bad_index(struct op *op, const struct patch_operation *operation,
                             const struct pointer *pointer)
{
    return op_fail(op, ST_BAD_REQUEST,
                   "For Operation(%zu): Index(%.*s) to operate on is out of array bounds.", operation->number,
                   SHOWN(pointer->segment[pointer->count - 1]));
}

/* Finds the place; everything but the last segment must exist. */
static enum status find_place(struct op *op, const struct patch_operation *operation,
                              const struct pointer *pointer, struct json document, struct place *place)
{
    struct json parent = document;
    size_t last = pointer->count - 1;

    *place = (struct place){ .open = { 0 }, .depth = 1 };
    for (size_t i = 0; i < last; i++) {
        parent = child(parent, pointer->segment[i]);
        if (!is_container(parent))
            return no_path(op, operation, pointer->segment[i]);
        place->open[place->depth++] = (size_t)(parent.at - document.at);
    }
    find_in_parent(document, parent, pointer->segment[last], place);
    if (place->out_of_bounds)
        return bad_index(op, operation, pointer);
    return ST_OK;
}

/* The same for a place that must exist, the last segment too. */
static enum status find_existing(struct op *op, const struct patch_operation *operation,
                                 const struct pointer *pointer, struct json document, struct place *place)
{
    enum status st;

    TRY(find_place(op, operation, pointer, document, place));
    if (json_kind(place->value) != JSON_UNDEFINED)
        goto out;
    if (place->in_array)
        TRY(bad_index(op, operation, pointer));
    if (operation->kind == PATCH_REPLACE)
        TRY(op_fail(op, ST_BAD_REQUEST, "For Operation(%zu): Node(%.*s) to be replaced is absent.",
                    operation->number, SHOWN(pointer->text)));
    TRY(op_fail(op, ST_BAD_REQUEST,
                "For Operation(%zu): Node(%.*s) to be removed is absent. Note: it may also have been removed "
                "earlier in the transaction.",
                operation->number, SHOWN(pointer->text)));
out:
    return st;
}

/* ---- splices ---- */

/* A document under change. What the next splice reads is never what it writes. */
struct draft {
    struct json value;
    struct buf text[2];
    int turn;
};

struct splice {
    size_t at, bytes;        /* what goes */
    struct json name, value; /* what comes instead; each may be undefined */
    int growth;              /* of the count of the container it happens in */
};

static void append(struct buf *out, struct json value)
{
    if (value.at)
        buf_slice(out, json_bytes(value));
}

static enum status draft_splice(struct op *op, struct draft *draft, const struct place *place,
                                const struct splice *splice)
{
    struct buf *out = &draft->text[draft->turn ^= 1];
    size_t end = splice->at + splice->bytes;
    uint32_t delta = (uint32_t)(json_size(splice->name) + json_size(splice->value) - splice->bytes);

    out->size = 0;
    buf_append(out, draft->value.at, splice->at);
    append(out, splice->name);
    append(out, splice->value);
    buf_append(out, draft->value.at + end, json_size(draft->value) - end);
    if (out->failed)
        return op_fail_as(op, ST_TOO_LARGE);
    for (size_t i = 0; i < place->depth; i++) {
        uint8_t *header = (uint8_t *)out->data + place->open[i];
        int growth = i + 1 == place->depth ? splice->growth : 0;

        put_container_header(header, *header, load_u32(header + 1) + delta,
                             load_u32(header + 5) + (uint32_t)growth);
    }
    draft->value.at = (const uint8_t *)out->data;
    return ST_OK;
}

static size_t levels_of(struct json value)
{
    size_t deepest = 0;

    if (!is_container(value))
        return 0;
    for (struct json_iter i = json_iter(value); json_next(&i);) {
        size_t levels = levels_of(i.value);

        deepest = levels > deepest ? levels : deepest;
    }
    return deepest + 1;
}

static struct json string_value(struct op *op, struct slice text)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_add_string(&out, text);
    return json_built(&out);
}

/* Puts a value over the one that is there, or as a new one; a new element makes those behind it move on. */
static enum status put(struct op *op, const struct patch_operation *operation, const struct place *place,
                       bool over, struct json value, struct splice *splice)
{
    const struct pointer *path = &operation->path;

    *splice = (struct splice){ .at = place->at, .value = value };
    if (place->depth + levels_of(value) > JSON_DEPTH_MAX)
        return op_fail(op, ST_BAD_REQUEST,
                       "For Operation(%zu): The document would be nested deeper than %d levels.",
                       operation->number, JSON_DEPTH_MAX);
    if (place->value.at && (over || !place->in_array)) {
        splice->at += place->name_bytes;
        splice->bytes = json_size(place->value);
        return ST_OK;
    }
    splice->growth = 1;
    if (place->in_array)
        return ST_OK;
    splice->name = string_value(op, path->segment[path->count - 1]);
    return splice->name.at ? ST_OK : op_fail_as(op, ST_TOO_LARGE);
}

static struct splice take_out(const struct place *place)
{
    return (
        struct splice){ .at = place->at, .bytes = place->name_bytes + json_size(place->value), .growth = -1 };
}

/* ---- the operations ---- */

typedef enum status apply_function(struct op *op, const struct patch_operation *operation,
                                   struct draft *draft);

static enum status apply_put(struct op *op, const struct patch_operation *operation, struct draft *draft)
{
    struct splice splice;
    struct place place;
    enum status st;

    if (operation->kind == PATCH_REPLACE)
        TRY(find_existing(op, operation, &operation->path, draft->value, &place));
    else
        TRY(find_place(op, operation, &operation->path, draft->value, &place));
    TRY(put(op, operation, &place, operation->kind != PATCH_ADD, operation->value, &splice));
    TRY(draft_splice(op, draft, &place, &splice));
out:
    return st;
}

static enum status apply_remove(struct op *op, const struct patch_operation *operation, struct draft *draft)
{
    struct splice splice;
    struct place place;
    enum status st;

    TRY(find_existing(op, operation, &operation->path, draft->value, &place));
    splice = take_out(&place);
    TRY(draft_splice(op, draft, &place, &splice));
out:
    return st;
}

/* Integers stay exact until they overflow. */
static enum status sum(struct op *op, const struct patch_operation *operation, struct json old,
                       struct json *total)
{
    struct json more = operation->value;
    double nearest = json_double(old) + json_double(more);
    struct json_builder out;
    int64_t exact;

    json_builder_init(&out, &op->arena);
    if (json_is_int(old) && json_is_int(more) &&
        !__builtin_add_overflow(json_int(old), json_int(more), &exact))
        json_add_int(&out, exact);
    else if (isfinite(nearest))
        json_add_double(&out, nearest);
    else
        return op_fail(op, ST_BAD_REQUEST,
                       "For Operation(%zu): The sum at Node(%.*s) is too large for a number.",
                       operation->number, SHOWN(operation->path.text));
    *total = json_built(&out);
    return total->at ? ST_OK : op_fail_as(op, ST_TOO_LARGE);
}

static enum status apply_increment(struct op *op, const struct patch_operation *operation,
                                   struct draft *draft)
{
    struct json total = operation->value;
    struct splice splice;
    struct place place;
    enum status st;

    TRY(find_place(op, operation, &operation->path, draft->value, &place));
    if (place.value.at && json_kind(place.value) != JSON_NUMBER)
        TRY(op_fail(op, ST_BAD_REQUEST, "For Operation(%zu): Node(%.*s) is not a number.", operation->number,
                    SHOWN(operation->path.text)));
    if (place.value.at)
        TRY(sum(op, operation, place.value, &total));
    TRY(put(op, operation, &place, true, total, &splice));
    TRY(draft_splice(op, draft, &place, &splice));
out:
    return st;
}

/* Where the place lies after a splice that put `grown` bytes more than it took. */
static void follow(struct place *place, const struct splice *splice, size_t grown)
{
    size_t end = splice->at + splice->bytes;

    if (place->at >= end)
        place->at += grown;
    for (size_t i = 0; i < place->depth; i++)
        if (place->open[i] >= end)
            place->open[i] += grown;
}

/* First puts, then takes out, so that both pointers are read in the document as it was before. */
static enum status apply_move(struct op *op, const struct patch_operation *operation, struct draft *draft)
{
    const struct pointer *path = &operation->path, *from = &operation->from;
    struct place source, target;
    struct splice in, out;
    size_t bytes = json_size(draft->value);
    enum status st;

    TRY(find_existing(op, operation, from, draft->value, &source));
    if (path->count == from->count && pointer_covers(path, from->segment, from->count))
        goto out;
    TRY(find_place(op, operation, path, draft->value, &target));
    TRY(put(op, operation, &target, false, source.value, &in));
    out = take_out(&source);
    TRY(draft_splice(op, draft, &target, &in));
    if (source.at >= in.at && source.at + out.bytes <= in.at + in.bytes)
        goto out; /* it lay within what it has replaced */
    follow(&source, &in, json_size(draft->value) - bytes);
    out.at = source.at;
    TRY(draft_splice(op, draft, &source, &out));
out:
    return st;
}

enum status patch_apply(struct op *op, const struct patch *patch, struct json document, struct json *patched)
{
    static apply_function *const apply[] = {
        [PATCH_ADD] = apply_put,
        [PATCH_SET] = apply_put,
        [PATCH_REPLACE] = apply_put,
        [PATCH_REMOVE] = apply_remove,
        [PATCH_INCREMENT] = apply_increment,
        [PATCH_MOVE] = apply_move,
    };
    struct draft draft = { .value = document };
    enum status st = ST_OK;

    assert(json_kind(document) == JSON_OBJECT);
    buf_init(&draft.text[0], &op->arena);
    buf_init(&draft.text[1], &op->arena);
    for (size_t i = 0; i < patch->count; i++)
        TRY(apply[patch->operation[i].kind](op, &patch->operation[i], &draft));
    *patched = draft.value;
out:
    return st;
}
