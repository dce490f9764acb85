/* src/keys/kind.c - the kinds of small resources, found by type, by path or by mark. */
#include "keys/kind.h"

const struct kind kinds[] = {
#define KIND(type, path, name, below, mark, collective, adds, flags, properties) \
    { RID_TYPE_##type, path, name, RID_TYPE_##below, mark, collective, adds, flags },
#include "keys/kinds.def"
#undef KIND
};
const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);

const struct kind *kind_of_type(enum rid_type type)
{
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

const struct kind *kind_of_path(struct slice path)
{
    for (size_t i = 0; i < kind_count; i++)
        if (slice_is(path, kinds[i].path))
            return &kinds[i];
    return NULL;
}

const struct kind *kind_of_mark(enum rid_type below, int64_t mark)
{
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i].below == below && kinds[i].mark == mark)
            return &kinds[i];
    return NULL;
}
