/* src/catalog/path.c - paths of partition keys and of unique keys. Those of indexing policies are index/path.c's. */
#include "catalog/definition.h"
#include "index/path.h"

bool key_path_parse(struct slice path, struct key_path *parsed)
{
    size_t at = 0;

    *parsed = (struct key_path){ 0 };
    while (at < path.size && parsed->count < PATH_SEGMENTS_MAX) {
        struct slice *label = &parsed->segment[parsed->count];

        if (path.data[at] != '/')
            return false;
        at = path_label(path, at + 1, label);
        if (at == 0 || memchr(label->data, '"', label->size)) /* a segment has no escapes */
            return false;
        parsed->count++;
    }
    return parsed->count > 0 && at == path.size;
}
