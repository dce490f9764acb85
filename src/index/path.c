/* src/index/path.c - the paths that indexing policies are written with, taken apart. */
#include "base/limits.h"
#include "index/path.h"

/* The bytes of a label without quotes. A label with any other byte must be quoted. */
static bool is_label_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '$' || c == '.' || c == '@' || c == ' ' || c >= 0x80;
}

static size_t quoted_label(struct slice path, size_t at, struct slice *label)
{
    size_t start = at;

    for (; at < path.size && path.data[at] != '"'; at++)
        at += path.data[at] == '\\' && at + 1 < path.size;
    *label = slice_make(path.data + start, at - start);
    return at < path.size && label->size ? at + 1 : 0;
}

size_t path_label(struct slice path, size_t at, struct slice *label)
{
    size_t start = at;

    if (at < path.size && path.data[at] == '"')
        return quoted_label(path, at + 1, label);
    while (at < path.size && is_label_byte((unsigned char)path.data[at]))
        at++;
    *label = slice_make(path.data + start, at - start);
    return label->size ? at : 0;
}

/* A path that is being read. Steps that do not fit into `step` are counted and not kept. */
struct reader {
    struct arena *arena;
    struct slice text;
    size_t at;
    size_t elements, count;
    bool numbered; /* some step names one element of an array */
    struct index_step step[JSON_DEPTH_MAX];
};

static bool at_text(const struct reader *reader, const char *text)
{
    return slice_starts_with(slice_after(reader->text, reader->at), text);
}

/* A backslash before a quote or a backslash is dropped; any other backslash stays. */
static struct slice unescape(struct arena *arena, struct slice label)
{
    char *plain;
    size_t size = 0;

    if (!memchr(label.data, '\\', label.size))
        return label;
    plain = arena_alloc(arena, label.size);
    for (size_t i = 0; i < label.size; i++) {
        char next = i + 1 < label.size ? label.data[i + 1] : '\0';

        i += label.data[i] == '\\' && (next == '"' || next == '\\');
        plain[size++] = label.data[i];
    }
    return slice_make(plain, size);
}

static void add_step(struct reader *reader, struct index_step step)
{
    if (reader->count < JSON_DEPTH_MAX)
        reader->step[reader->count] = step;
    reader->count++;
}

static struct slice trim_end(struct slice label)
{
    while (label.size && label.data[label.size - 1] == ' ')
        label.size--;
    return label;
}

static bool read_name(struct reader *reader, bool in_tuple)
{
    bool quoted = at_text(reader, "\"");
    struct slice label;
    size_t end = path_label(reader->text, reader->at, &label);

    if (in_tuple && !quoted)
        label = trim_end(label);
    if (end == 0 || label.size == 0)
        return false;
    add_step(reader, (struct index_step){ .name = quoted ? unescape(reader->arena, label) : label });
    reader->at = end;
    return true;
}

/* [1]: one element. There is no such step in the index. */
static bool read_position(struct reader *reader)
{
    size_t at = reader->at + 1, start = at;

    while (at < reader->text.size && reader->text.data[at] >= '0' && reader->text.data[at] <= '9')
        at++;
    if (at == start || at == reader->text.size || reader->text.data[at] != ']')
        return false;
    reader->numbered = true;
    reader->at = at + 1;
    return true;
}

static bool read_step(struct reader *reader, bool in_tuple)
{
    if (at_text(reader, "[]") && !in_tuple) {
        add_step(reader, (struct index_step){ .element = true });
        reader->elements++;
        reader->at += 2;
        return true;
    }
    return at_text(reader, "[") ? read_position(reader) : read_name(reader, in_tuple);
}

/* Makes a path in the arena of the steps read so far, and begins another path. */
static struct index_path take_path(struct reader *reader, bool *unusable)
{
    size_t count = reader->count <= JSON_DEPTH_MAX ? reader->count : 0;
    struct index_step *step = arena_alloc(reader->arena, (count + 1) * sizeof(*step));

    *unusable |= reader->count > JSON_DEPTH_MAX;
    memcpy(step, reader->step, count * sizeof(*step));
    reader->count = 0;
    return (struct index_path){ step, count };
}

static void skip_spaces(struct reader *reader)
{
    while (at_text(reader, " "))
        reader->at++;
}

static bool read_part(struct reader *reader, struct policy_path *parsed)
{
    struct index_path part;

    skip_spaces(reader);
    if (!read_step(reader, true))
        return false;
    while (at_text(reader, "/")) {
        reader->at++;
        if (!read_step(reader, true))
            return false;
    }
    skip_spaces(reader);
    part = take_path(reader, &parsed->unusable);
    if (parsed->part_count < INDEX_PARTS_MAX)
        parsed->part[parsed->part_count] = part;
    parsed->part_count++;
    return true;
}

/* Reads the braces of a tuple, and what must stand behind them. */
static bool read_tuple(struct reader *reader, struct policy_path *parsed)
{
    if (reader->elements != 1 || reader->count == 0 || reader->count > JSON_DEPTH_MAX ||
        !reader->step[reader->count - 1].element)
        return false;
    parsed->path = take_path(reader, &parsed->unusable);
    do {
        reader->at++;
        if (!read_part(reader, parsed))
            return false;
    } while (at_text(reader, ","));
    if (!at_text(reader, "}/?"))
        return false;
    reader->at += 3;
    parsed->unusable |= reader->numbered;
    if (parsed->part_count > INDEX_PARTS_MAX) {
        parsed->part_count = INDEX_PARTS_MAX;
        parsed->unusable = true;
    }
    return reader->at == reader->text.size;
}

static bool ends_here(const struct reader *reader)
{
    return reader->at == reader->text.size && !reader->numbered;
}

/* Reads from a slash on. True when the path has ended well. */
static bool read_path(struct reader *reader, struct policy_path *parsed)
{
    while (at_text(reader, "/")) {
        reader->at++;
        if (at_text(reader, "{"))
            return read_tuple(reader, parsed);
        if (at_text(reader, "*") || at_text(reader, "?")) {
            parsed->below = at_text(reader, "*");
            reader->at++;
            parsed->path = take_path(reader, &parsed->unusable);
            return ends_here(reader);
        }
        if (!read_step(reader, false))
            return false;
    }
    if (reader->at && reader->at == reader->text.size)
        reader->at--; /* a wildcard is missing behind the last byte, which is the one to name */
    return false;
}

size_t policy_path_parse(struct arena *arena, struct slice text, struct policy_path *parsed)
{
    struct reader reader = { .arena = arena, .text = text };

    *parsed = (struct policy_path){ .below = true };
    if (slice_is(text, "/"))
        return 0; /* an old spelling of the root */
    return read_path(&reader, parsed) ? 0 : reader.at + 1;
}

size_t composite_path_parse(struct arena *arena, struct slice text, struct policy_path *parsed)
{
    struct reader reader = { .arena = arena, .text = text };

    *parsed = (struct policy_path){ 0 };
    while (at_text(&reader, "/")) {
        reader.at++;
        if (!read_step(&reader, false))
            return reader.at + 1;
    }
    if (!ends_here(&reader) || reader.count == 0)
        return reader.at + 1;
    parsed->path = take_path(&reader, &parsed->unusable);
    return 0;
}
