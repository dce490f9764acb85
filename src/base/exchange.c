/* src/base/exchange.c - finding a header by its name; the names of methods. */
#include <assert.h>

#include "base/exchange.h"

static const struct slice names[HEADER_COUNT] = {
#define HEADER(name, text) { text, sizeof(text) - 1 },
#include "base/headers.def"
#undef HEADER
};

static const uint8_t sizes[] = {
#define HEADER(name, text) sizeof(text) - 1,
#include "base/headers.def"
#undef HEADER
};

/* Sizes differ for nearly all of them, last letters for most of the rest. */
enum header_id header_find(struct slice name)
{
    const uint8_t *at = name.size && name.size <= UINT8_MAX ? sizes - 1 : NULL, *end = sizes + HEADER_COUNT;

    while (at && (at = memchr(at + 1, (int)name.size, (size_t)(end - at - 1)))) {
        struct slice known = names[at - sizes];

        if (((known.data[known.size - 1] ^ name.data[name.size - 1]) & ~0x20) == 0 &&
            slice_equal_nocase(known, name))
            return (enum header_id)(at - sizes);
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
