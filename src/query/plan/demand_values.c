/* src/query/plan/demand_values.c - sets of values: kinds of them, and points. */
#include "query/plan/demand_private.h"

kinds values_kinds(struct values values)
{
    unsigned found = 0;

    for (size_t i = 0; i < values.count; i++) {
        const struct interval *interval = &values.interval[i];
        enum json_kind first = interval->low.is_set ? interval->low.value.kind : interval->first;
        enum json_kind last = interval->high.is_set ? interval->high.value.kind : interval->last;

        for (enum json_kind kind = first; kind <= last; kind++)
            found |= kinds_one(kind);
    }
    return (kinds)found;
}

bool values_have(struct values values, struct value value)
{
    for (size_t i = 0; i < values.count; i++)
        if (interval_has(&values.interval[i], value))
            return true;
    return false;
}

struct interval *values_room(struct reader *reader, size_t count)
{
    return arena_try_alloc(reader->arena, (count ? count : 1) * sizeof(struct interval));
}

struct values values_of_one(struct reader *reader, struct interval interval)
{
    struct interval *one = values_room(reader, 1);

    if (!one)
        return values_of_kinds(reader, KINDS_ALL);
    *one = interval;
    return (struct values){ one, 1 };
}

/* One interval for each kind, but for all of them. */
struct values values_of_kinds(struct reader *reader, kinds wanted)
{
    static const struct interval all = { .first = JSON_UNDEFINED, .last = JSON_OBJECT };
    static const struct interval defined = { .first = JSON_NULL, .last = JSON_OBJECT };
    struct interval *room;
    struct values values = { &all, 1 };

    if (wanted == KINDS_ALL)
        return values;
    if (wanted == KINDS_DEFINED)
        return (struct values){ &defined, 1 };
    room = values_room(reader, JSON_OBJECT + 1);
    if (!room)
        return values;
    values = (struct values){ room, 0 };
    for (enum json_kind kind = JSON_UNDEFINED; kind <= JSON_OBJECT; kind++)
        if (wanted & kinds_one(kind))
            room[values.count++] = interval_of_kinds(kind, kind);
    return values;
}

bool values_are_points(struct values values, enum json_kind kind)
{
    for (size_t i = 0; i < values.count; i++) {
        const struct interval *interval = &values.interval[i];

        if (!interval_is_point(interval) && values_kinds((struct values){ interval, 1 }) & kinds_one(kind))
            return false;
    }
    return true;
}
