/* client/link.c - links: the URL they become, and what is signed of them. */
#include "base/encode.h"
#include "client.h"

enum { SEGMENTS_MAX = 10 };

struct segments {
    struct slice at[SEGMENTS_MAX];
    size_t count;
};

/* clang-format off */
static const char *const kinds[] = {
    "dbs", "colls", "docs", "attachments", "pkranges", "offers", "conflicts", "_orrery",
#define KIND(type, path, name, below, mark, collective, adds, flags, properties) path,
#include "keys/kinds.def"
#undef KIND
};
/* clang-format on */

static const char *kind_of(struct slice segment)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (slice_is(segment, kinds[i]))
            return kinds[i];
    return NULL;
}

static struct slice without_slashes(const char *link, size_t size)
{
    while (size > 0 && *link == '/')
        link++, size--;
    while (size > 0 && link[size - 1] == '/')
        size--;
    return slice_make(link, size);
}

static bool cut(struct slice link, struct segments *segments)
{
    segments->count = 0;
    while (link.size > 0) {
        const char *slash = memchr(link.data, '/', link.size);
        size_t size = slash ? (size_t)(slash - link.data) : link.size;

        if (segments->count == SEGMENTS_MAX || size == 0)
            return false;
        segments->at[segments->count++] = slice_make(link.data, size);
        link = slice_after(link, slash ? size + 1 : size);
    }
    return true;
}

/*
 * A database's _rid is four bytes in base64, with a dash in place of a slash. By it the service tells links of rids
 * from links of ids.
 */
static bool looks_like_rid(struct slice segment)
{
    char text[8];
    uint8_t bytes[6];
    size_t size;

    if (segment.size != sizeof(text))
        return false;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = segment.data[i] == '-' ? '/' : segment.data[i];
    return base64_decode(slice_make(text, sizeof(text)), bytes, sizeof(bytes), &size) && size == 4;
}

static struct slice lower(struct arena *arena, struct slice text)
{
    char *to = arena_try_alloc(arena, text.size + 1);

    for (size_t i = 0; to && i < text.size; i++)
        to[i] = (char)(text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] + 32 : text.data[i]);
    return slice_make(to, to ? text.size : 0);
}

/* `count` segments as they stand in the link. */
static struct slice leading(const struct segments *segments, size_t count)
{
    const char *start = segments->at[0].data;

    if (count == 0)
        return slice_of("");
    return slice_make(start, (size_t)(segments->at[count - 1].data + segments->at[count - 1].size - start));
}

static struct slice signed_part(struct arena *arena, const struct segments *segments, const char *type)
{
    size_t owned = segments->count & ~(size_t)1; /* of a feed its parent is signed */

    if (owned == 0)
        return slice_of("");
    if (strcmp(type, "offers") == 0 || looks_like_rid(segments->at[1]))
        return lower(arena, segments->at[owned - 1]);
    return leading(segments, owned);
}

static struct slice encoded(struct arena *arena, const struct segments *segments)
{
    struct buf out;

    buf_init(&out, arena);
    for (size_t i = 0; i < segments->count; i++) {
        buf_byte(&out, '/');
        percent_encode(&out, segments->at[i]);
    }
    if (segments->count == 0)
        buf_byte(&out, '/');
    return out.failed ? slice_make(NULL, 0) : buf_as_slice(&out);
}

orrery_status link_target(struct arena *arena, const char *link, size_t size, struct target *target)
{
    struct segments segments;
    size_t type_at;

    if (!link || !cut(without_slashes(link, size), &segments))
        return ORRERY_EINVAL;
    type_at = segments.count == 0 ? 0 : (segments.count - 1) & ~(size_t)1;
    target->type = segments.count == 0 ? "" : kind_of(segments.at[type_at]);
    if (!target->type || (segments.count > 0 && !kind_of(segments.at[0])))
        return ORRERY_EINVAL;
    target->container = slice_of("");
    if (segments.count >= 4 && slice_is(segments.at[2], "colls"))
        target->container = leading(&segments, 4);
    target->sign = signed_part(arena, &segments, target->type);
    target->path = encoded(arena, &segments);
    return target->path.data && target->sign.data ? ORRERY_OK : ORRERY_ENOMEM;
}

bool link_lies_in(const char *link, struct slice parent)
{
    return strncmp(link, parent.data, parent.size) == 0 && link[parent.size] == '/';
}
