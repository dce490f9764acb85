/* src/resource/places.c - lists of places, with commas between. */
#include "resource/places.h"

bool places_fit(struct slice list, const struct container *container)
{
    uint32_t count = 1;

    for (size_t i = 0; i < list.size; i++)
        count += list.data[i] == ',';
    return count == container->part_count;
}

struct slice places_at(struct slice list, uint32_t index)
{
    const char *comma;

    while ((comma = list.size ? memchr(list.data, ',', list.size) : NULL)) {
        size_t size = (size_t)(comma - list.data);

        if (index-- == 0)
            return slice_make(list.data, size);
        list = slice_after(list, size + 1);
    }
    return list;
}

struct slice places_of(struct slice list, const struct container *part)
{
    return places_fit(list, part->whole) ? places_at(list, part->part_index) : list;
}
