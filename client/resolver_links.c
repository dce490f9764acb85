/* client/resolver_links.c - links: their spelling, and lists of them in which each stands once. */
#include <stdlib.h>

#include "resolver.h"

struct slice link_trim(const char *link)
{
    struct slice text = slice_of(link);

    while (text.size && text.data[0] == '/')
        text = slice_after(text, 1);
    while (text.size && text.data[text.size - 1] == '/')
        text.size--;
    return text;
}

bool link_equal(const char *a, const char *b)
{
    return slice_equal(link_trim(a), link_trim(b));
}

/* The next part of a path, up to a slash; false past the last. */
static bool next_part(struct slice *rest, struct slice *part)
{
    const char *slash;

    if (!rest->data)
        return false;
    slash = rest->size ? memchr(rest->data, '/', rest->size) : NULL;
    *part = slice_make(rest->data, slash ? (size_t)(slash - rest->data) : rest->size);
    *rest = slash ? slice_after(*rest, part->size + 1) : slice_make(NULL, 0);
    return true;
}

/* Whether the even parts are these words, in order, and each is followed by a name. */
static bool link_has(const char *link, const char *const *words, size_t count)
{
    struct slice rest, part;

    if (!link)
        return false;
    rest = link_trim(link);
    for (size_t i = 0; i < count; i++)
        if (!next_part(&rest, &part) || !slice_is(part, words[i]) || !next_part(&rest, &part))
            return false;
    return !next_part(&rest, &part);
}

bool link_is_collection(const char *link)
{
    return link_has(link, (const char *const[]){ "dbs", "colls" }, 2);
}

bool link_is_database(const char *link)
{
    return link_has(link, (const char *const[]){ "dbs" }, 1);
}

orrery_status orrery_links_new(orrery_links **links)
{
    if (!links)
        return ORRERY_EINVAL;
    *links = allocator_get(sizeof(**links));
    if (!*links)
        return ORRERY_ENOMEM;
    **links = (struct orrery_links){ .count = 0 };
    arena_init(&(*links)->arena, LINKS_BYTES_MAX);
    return ORRERY_OK;
}

orrery_status orrery_links_add(orrery_links *links, const char *link)
{
    if (!links)
        return ORRERY_EINVAL;
    if (!link)
        return ORRERY_ELINK;
    for (size_t i = 0; i < links->count; i++) /* a collection that is read twice gives its documents twice */
        if (link_equal(links->link[i], link))
            return ORRERY_OK;
    return links_repeat(links, link);
}

orrery_status links_repeat(orrery_links *links, const char *link)
{
    if (!memory_grow_in(&links->arena, &links->link, &links->capacity, links->count + 1,
                        sizeof(*links->link)))
        return ORRERY_ENOMEM;
    links->link[links->count] = memory_text_in(&links->arena, slice_of(link));
    if (!links->link[links->count])
        return ORRERY_ENOMEM;
    links->count++;
    return ORRERY_OK;
}

size_t orrery_links_count(const orrery_links *links)
{
    return links ? links->count : 0;
}

const char *orrery_links_at(const orrery_links *links, size_t index)
{
    return links && index < links->count ? links->link[index] : NULL;
}

void orrery_links_free(orrery_links *links)
{
    if (!links)
        return;
    arena_free(&links->arena);
    allocator_free(links);
}
