/* src/base/exchange.c - finding a header by its name; the names of methods. */
#include <assert.h>

#include "base/exchange.h"

static const struct slice names[HEADER_COUNT] = {
#define HEADER(name, text) { text, sizeof(text) - 1 },
#include "base/headers.def"
#undef HEADER
};

enum header_id header_find(struct slice name)
{
    for (int id = 0; id < HEADER_COUNT; id++) {
        struct slice known = names[id];

        /* Sizes differ for nearly all of them, last letters for most of the rest. */
        if (known.size == name.size &&
            ((known.data[known.size - 1] ^ name.data[name.size - 1]) & ~0x20) == 0 &&
            slice_equal_nocase(known, name))
            return (enum header_id)id;
    }
    return HEADER_COUNT;
}

const char *method_name(enum method method)
{
    static const char *const names_of_methods[] = { "GET",   "HEAD",   "POST",    "PUT",
                                                    "PATCH", "DELETE", "OPTIONS", "OTHER" };

    assert(method <= METHOD_OTHER);
    return names_of_methods[method];
}

bool header_is_true(const struct request *request, enum header_id id)
{
    return request->header[id].data && slice_is_nocase(slice_trim(request->header[id]), "true");
}
