/* src/route/assets.h - the explorer's files, which the program carries inside itself (explorer/, tools/embed-asset.cmake). */
#pragma once
#include "base/slice.h"

#define ASSET_FOLDER "/_explorer/"

struct asset {
    const char *path; /* below the folder: views/items.js */
    const char *type;
    const char *etag; /* with its quotes */
    size_t size;
    const unsigned char *bytes; /* gzip */
};

extern const struct asset assets[];
extern const size_t asset_count;

/* The file that a target names, whatever its query; the folder itself names index.html. NULL if there is none. */
const struct asset *asset_find(struct slice target);
