/* src/query/plan/demand_values.c - sets of values: kinds of them, and points. */
#include "query/plan/demand_private.h"

static kinds kinds_of_interval(const struct interval *interval)
{
    unsigned first = interval->low.is_set ? interval->low.value.kind : interval->first;
    unsigned last = interval->high.is_set ? interval->high.value.kind : interval->last;

    return last < first ? 0 : (kinds)(KINDS_ALL >> (JSON_OBJECT - last) & KINDS_ALL << first);
}

struct values values_of(const struct interval *interval, size_t count)
{
    unsigned found = 0;

    for (size_t i = 0; i < count; i++)
        found |= kinds_of_interval(&interval[i]);
    return (struct values){ interval, count, (kinds)found };
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
    return values_of(one, 1);
}

/* Of each kind by itself, in their order: those that follow one another are a part of the table. */
static const struct interval each_kind[] = {
    { .first = JSON_UNDEFINED, .last = JSON_UNDEFINED }, { .first = JSON_NULL, .last = JSON_NULL },
    { .first = JSON_FALSE, .last = JSON_FALSE },         { .first = JSON_TRUE, .last = JSON_TRUE },
    { .first = JSON_NUMBER, .last = JSON_NUMBER },       { .first = JSON_STRING, .last = JSON_STRING },
    { .first = JSON_ARRAY, .last = JSON_ARRAY },         { .first = JSON_OBJECT, .last = JSON_OBJECT },
};

static const struct interval all_kinds = { .first = JSON_UNDEFINED, .last = JSON_OBJECT };
static const struct interval defined_kinds = { .first = JSON_NULL, .last = JSON_OBJECT };

/* Kinds that do not follow one another. */
static struct values gathered(struct reader *reader, kinds wanted)
{
    struct interval *room = values_room(reader, JSON_OBJECT + 1);
    size_t count = 0;

    if (!room)
        return (struct values){ &all_kinds, 1, KINDS_ALL };
    for (enum json_kind kind = JSON_UNDEFINED; kind <= JSON_OBJECT; kind++)
        if (wanted & kinds_one(kind))
            room[count++] = each_kind[kind];
    return (struct values){ room, count, wanted };
}

struct values values_of_kinds(struct reader *reader, kinds wanted)
{
    unsigned first = wanted ? (unsigned)__builtin_ctz(wanted) : 0, run = (unsigned)wanted >> first;

    if (wanted == KINDS_ALL)
        return (struct values){ &all_kinds, 1, wanted };
    if (wanted == KINDS_DEFINED)
        return (struct values){ &defined_kinds, 1, wanted };
    if (run & (run + 1)) /* there is a gap */
        return gathered(reader, wanted);
    return (struct values){ &each_kind[first], (size_t)__builtin_popcount(run), wanted };
}

bool values_are_points(struct values values, enum json_kind kind)
{
    for (size_t i = 0; i < values.count; i++) {
        const struct interval *interval = &values.interval[i];

        if (!interval_is_point(interval) && kinds_of_interval(interval) & kinds_one(kind))
            return false;
    }
    return true;
}
