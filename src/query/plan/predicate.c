/*
 * src/query/plan/predicate.c - from a filter to the index ranges of the items that can pass it.
 * A condition that the index does not have is ACCESS_ANY; an access is exact as long as nothing on the way was loose.
 */
#include <assert.h>

#include "query/plan/filter.h"
#include "query/plan/predicate_spatial.h"
#include "query/plan/predicate_text.h"

static struct access *access_of(struct planner *planner, const struct filter *filter);

/* The same, where the filter asks for more. */
static struct access *wider(struct planner *planner, struct access *access)
{
    return access_and(planner, access, access_any());
}

static struct access *access_of_interval(struct planner *planner, const struct kept_path *path,
                                         const struct interval *interval)
{
    struct access *access = access_range(planner, path, interval);

    if (access->kind == ACCESS_RANGE && interval_is_empty(interval))
        return access_none(planner);
    return access;
}

static struct access *access_of_values(struct planner *planner, const struct filter *filter)
{
    struct access *access = NULL;

    for (size_t i = 0; i < filter->interval_count; i++) {
        struct access *one;

        if (!interval_is_stored(&filter->interval[i]))
            continue;
        one = access_of_interval(planner, &filter->path, &filter->interval[i]);
        access = access ? access_or(planner, access, one) : one;
        if (access->kind == ACCESS_ANY)
            break;
    }
    return access ? access : access_none(planner);
}

static struct access *access_of_list(struct planner *planner, const struct filter *filter)
{
    struct access *access = NULL;

    for (size_t i = 0; i < filter->kid_count; i++) {
        struct access *kid = access_of(planner, filter->kid[i]);

        if (!access)
            access = kid;
        else if (filter->kind == FILTER_AND)
            access = access_and(planner, access, kid);
        else
            access = access_or(planner, access, kid);
    }
    return access ? access : access_any();
}

/* Ranges that all speak of an element: where there is one of those, there is an element. */
static bool is_of_element(const struct access *access)
{
    if (access->kind != ACCESS_OR)
        return access->kind == ACCESS_RANGE && access->of_element;
    for (size_t i = 0; i < access->kid_count; i++)
        if (!is_of_element(access->kid[i]))
            return false;
    return true;
}

static struct access *access_of_rows(struct planner *planner, const struct filter *filter)
{
    struct access *access = access_of(planner, filter->kid[0]);

    assert(filter->kid_count == 1);
    if (!filter->settles || !is_of_element(access))
        return wider(planner, access);
    access->of_element = false; /* some element has it: that is all that the subquery asks */
    return access;
}

static struct access *access_of_kind(struct planner *planner, const struct filter *filter)
{
    switch (filter->kind) {
    case FILTER_ANY:
        return access_any();
    case FILTER_NONE:
        return access_none(planner);
    case FILTER_VALUES:
        return access_of_values(planner, filter);
    case FILTER_WORD:
        return access_word(planner, filter);
    case FILTER_NEAR:
        return access_near(planner, filter);
    case FILTER_ROWS:
        return access_of_rows(planner, filter);
    default:
        return access_of_list(planner, filter);
    }
}

static struct access *access_of(struct planner *planner, const struct filter *filter)
{
    struct access *access = access_of_kind(planner, filter);

    return filter->loose ? wider(planner, access) : access;
}

struct access *access_of_select(struct planner *planner, const struct select *select)
{
    if (select->whole || select->source_count == 0)
        return access_any();
    return access_of(planner, filter_of_select(&planner->op->arena, select));
}
