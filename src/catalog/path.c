/* src/catalog/path.c - paths of partition keys and of unique keys. Those of indexing policies are index/path.c's. */
#include "catalog/definition.h"
#include "index/path.h"

/* Of 'a/b', behind its first quote: up to the next one. */
static size_t single_quoted(struct slice path, size_t at, struct slice *label)
{
    const char *end = at < path.size ? memchr(path.data + at, '\'', path.size - at) : NULL;

    if (!end || end == path.data + at)
        return 0;
    *label = slice_make(path.data + at, (size_t)(end - path.data) - at);
    return (size_t)(end - path.data) + 1;
}

static size_t read_label(struct slice path, size_t at, struct slice *label)
{
    if (at < path.size && path.data[at] == '\'')
        return single_quoted(path, at + 1, label);
    return path_label(path, at, label);
}

bool key_path_has_bare_space(struct slice path)
{
    char quote = '\0';

    for (size_t i = 0; i < path.size; i++) {
        char c = path.data[i];

        if (c == quote)
            quote = '\0';
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (!quote && c == ' ')
            return true;
    }
    return false;
}

bool key_path_parse(struct slice path, struct key_path *parsed)
{
    size_t at = 0;

    *parsed = (struct key_path){ 0 };
    while (at < path.size && parsed->count < PATH_SEGMENTS_MAX) {
        struct slice *label = &parsed->segment[parsed->count];

        if (path.data[at] != '/')
            return false;
        at = read_label(path, at + 1, label);
        if (at == 0 || memchr(label->data, '"', label->size)) /* a segment has no escapes */
            return false;
        parsed->count++;
    }
    return parsed->count > 0 && at == path.size;
}
