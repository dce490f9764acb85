/* src/base/exchange.c - finding a header by its name; the names of methods. */
#include <assert.h>

#include "base/exchange.h"

static const struct slice names[HEADER_COUNT] = {
#define HEADER(name, text) { text, sizeof(text) - 1 },
#include "base/headers.def"
#undef HEADER
};

enum { PLACES = 256 }; /* more than three for each header, so that most are where they are looked for first */

/* Each header's id, plus one, in the first free place from its own on. Made before main() begins. */
static uint8_t places[PLACES];

static size_t place_of(struct slice name)
{
    return (11 * name.size + 5 * ((size_t)name.data[name.size - 1] | 0x20)) % PLACES;
}

__attribute__((constructor)) static void fill_places(void)
{
    static_assert(2 * HEADER_COUNT < PLACES); /* a search comes to a free place */
    for (size_t id = 0; id < HEADER_COUNT; id++) {
        size_t place = place_of(names[id]);

        while (places[place])
            place = (place + 1) % PLACES;
        places[place] = (uint8_t)(id + 1);
    }
}

enum header_id header_find(struct slice name)
{
    if (name.size == 0)
        return HEADER_COUNT;
    for (size_t place = place_of(name); places[place]; place = (place + 1) % PLACES)
        if (slice_equal_nocase(names[places[place] - 1], name))
            return (enum header_id)(places[place] - 1);
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
