/* script-host/sources.c - a list short enough to be walked. */
#include <string.h>

#include "sources.h"

bool source_key(const char *payload, char key[KEY_BYTES_MAX + 1])
{
    static const char before[] = "{\"key\":\"";
    const char *from = payload + sizeof(before) - 1;
    size_t bytes;

    if (strncmp(payload, before, sizeof(before) - 1) != 0)
        return false;
    bytes = strcspn(from, "\"\\");
    if (bytes == 0 || bytes > KEY_BYTES_MAX || from[bytes] != '"')
        return false;
    memcpy(key, from, bytes);
    key[bytes] = '\0';
    return true;
}

struct script *sources_find(struct sources *sources, const char *key)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct source *source = &sources->all[i];

        if (strcmp(source->key, key) == 0) {
            source->used = ++sources->clock;
            return source->script;
        }
    }
    return NULL;
}

/* The last one takes its place. */
static void drop_oldest(struct sources *sources)
{
    struct source *oldest = &sources->all[0];

    for (size_t i = 1; i < sources->count; i++)
        if (sources->all[i].used < oldest->used)
            oldest = &sources->all[i];
    script_free(oldest->script);
    sources->bytes -= oldest->bytes;
    *oldest = sources->all[--sources->count];
}

void sources_add(struct sources *sources, const char *key, struct script *script, size_t bytes)
{
    struct source *source;

    while (sources->count == FRAME_SOURCES_MAX ||
           (sources->count && sources->bytes + bytes > FRAME_SOURCES_BYTES_MAX))
        drop_oldest(sources);
    source = &sources->all[sources->count++];
    source->bytes = bytes;
    sources->bytes += bytes;
    memcpy(source->key, key, strlen(key) + 1);
    source->script = script;
    source->used = ++sources->clock;
}

void sources_forget(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        script_forget(sources->all[i].script);
}
