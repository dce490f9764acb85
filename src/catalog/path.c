/* src/catalog/path.c - paths in definitions: partition keys, unique keys, indexing. */
#include "catalog/path.h"

/* Labels made of anything else must be in quotes. */
static bool is_label_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '$' || c == '.' || c == '@' || c == ' ' || c >= 0x80;
}

/* One label behind its slash, quoted or not; says where it ends, or 0 when it is none. */
static size_t read_label(struct slice path, size_t at, struct slice *label)
{
    size_t start = at;

    if (at < path.size && path.data[at] == '"') {
        for (at = ++start; at < path.size && path.data[at] != '"'; at++)
            ;
        *label = slice_make(path.data + start, at - start);
        return at < path.size && label->size ? at + 1 : 0;
    }
    while (at < path.size && is_label_byte((unsigned char)path.data[at]))
        at++;
    *label = slice_make(path.data + start, at - start);
    return label->size ? at : 0;
}

bool key_path_parse(struct slice path, struct key_path *parsed)
{
    size_t at = 0;

    *parsed = (struct key_path){ 0 };
    while (at < path.size && parsed->count < PATH_SEGMENTS_MAX) {
        if (path.data[at] != '/')
            return false;
        at = read_label(path, at + 1, &parsed->segment[parsed->count]);
        if (at == 0)
            return false;
        parsed->count++;
    }
    return parsed->count > 0 && at == path.size;
}

static bool at_text(struct slice path, size_t at, const char *text)
{
    return slice_starts_with(slice_after(path, at), text);
}

size_t index_path_error(struct slice path)
{
    size_t at = 0;
    struct slice label;

    if (path.size == 0 || path.data[0] != '/')
        return 1;
    if (path.size == 1)
        return 0; /* "/" is an old spelling of the root */
    while (at < path.size) {
        size_t end;

        if (path.data[at] != '/')
            return at + 1;
        at++;
        if (at_text(path, at, "*") || at_text(path, at, "?"))
            return at + 1 == path.size ? 0 : at + 2;
        end = at_text(path, at, "[]") ? at + 2 : read_label(path, at, &label);
        if (end == 0)
            return at + 1;
        at = end;
    }
    return at; /* it must end in a wildcard */
}

bool index_path_is_root(struct slice path)
{
    return slice_is(path, "/*") || slice_is(path, "/");
}
