/* cli/link.c - links as they are typed in a shell. */
#include <string.h>

#include "link.h"

const char *link_part(const char *link, size_t number, size_t *size)
{
    for (;; number--) {
        const char *slash = strchr(link, '/');

        *size = slash ? (size_t)(slash - link) : strlen(link);
        if (number == 0)
            return *size ? link : NULL;
        if (!slash)
            return NULL;
        link = slash + 1;
    }
}

size_t link_depth(const char *link)
{
    size_t depth = 0, size;

    while (link_part(link, depth, &size))
        depth++;
    return depth;
}

int link_is_container(const char *link)
{
    size_t size;
    const char *kind = link_part(link, 2, &size);

    return link_depth(link) == 4 && size == 5 && memcmp(kind, "colls", 5) == 0;
}

void link_head(const char *link, size_t count, struct text *head)
{
    size_t size;

    text_empty(head);
    for (size_t i = 0; i < count; i++) {
        const char *part = link_part(link, i, &size);

        if (!part)
            return;
        text_puts(head, i ? "/" : "");
        text_add(head, part, size);
    }
}

static void append(struct text *link, const char *part, size_t size)
{
    text_puts(link, link->size ? "/" : "");
    text_add(link, part, size);
}

static int is_one_of(const char *part, size_t size, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (strlen(*kinds) == size && memcmp(*kinds, part, size) == 0)
            return 1;
    return 0;
}

/* What a name means at this depth when no kind is named. */
static const char *kind_at(const char *here, size_t depth)
{
    size_t size;
    const char *kind = depth >= 4 ? link_part(here, 2, &size) : NULL;

    if (depth < 4)
        return depth == 0 ? "dbs" : "colls";
    return size == 5 && memcmp(kind, "users", 5) == 0 ? "permissions" : "docs";
}

void link_resolve(const char *here, const char *typed, struct text *link)
{
    static const char *const kinds[] = { "dbs",  "colls",       "users",    "docs",   "sprocs", "triggers",
                                         "udfs", "permissions", "pkranges", "offers", NULL };
    size_t size;

    text_empty(link);
    if (typed[0] == '/')
        typed++;
    else if (strncmp(typed, "dbs/", 4) != 0 && strcmp(typed, "dbs") != 0 && strcmp(typed, "offers") != 0)
        text_puts(link, here);
    while (*typed) {
        size_t depth = link_depth(text_of(link));

        size = strcspn(typed, "/");
        if (size == 2 && memcmp(typed, "..", 2) == 0) {
            struct text up = { 0 };

            link_head(text_of(link), depth < 2 ? 0 : depth - (depth % 2 ? 1 : 2), &up);
            text_empty(link);
            text_puts(link, text_of(&up));
            text_free(&up);
        } else if (size && !(size == 1 && *typed == '.')) {
            if (depth % 2 == 0 && !is_one_of(typed, size, kinds))
                append(link, kind_at(text_of(link), depth), strlen(kind_at(text_of(link), depth)));
            append(link, typed, size);
        }
        typed += size;
        typed += *typed == '/';
    }
}
