/* src/route/assets.c - the table of the explorer's files. Its rows are made of them by CMakeLists.txt. */
#include "route/assets.h"

const struct asset assets[] = {
#include "assets.inc"
};
const size_t asset_count = sizeof(assets) / sizeof(assets[0]);

const struct asset *asset_find(struct slice target)
{
    struct slice path = slice_after(target, sizeof(ASSET_FOLDER) - 1);
    const char *query = path.size ? memchr(path.data, '?', path.size) : NULL;

    if (query)
        path.size = (size_t)(query - path.data);
    if (path.size == 0)
        path = slice_of("index.html");
    for (size_t i = 0; i < asset_count; i++)
        if (slice_is(path, assets[i].path))
            return &assets[i];
    return NULL;
}
