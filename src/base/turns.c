/* src/base/turns.c - a ring of owners, each with a line of its own behind its first. */
#include <assert.h>

#include "base/turns.h"

/* ---- those who wait ---- */

static void append_owner(struct turns *turns, struct turn *first)
{
    struct turn **at = &turns->first;

    while (*at)
        at = &(*at)->next;
    first->next = NULL;
    *at = first;
}

/* Where the first of the owner stands, or the end. */
static struct turn **find_owner(struct turns *turns, uint64_t owner)
{
    struct turn **at = &turns->first;

    while (*at && (*at)->owner != owner)
        at = &(*at)->next;
    return at;
}

void turns_wait(struct turns *turns, struct turn *turn)
{
    struct turn *first = *find_owner(turns, turn->owner);

    turn->behind = NULL;
    turn->last = turn;
    if (!first) {
        append_owner(turns, turn);
        return;
    }
    first->last->behind = turn;
    first->last = turn;
}

/* The one behind it, as the first of their owner; NULL when nobody is. */
static struct turn *successor(const struct turn *first)
{
    struct turn *behind = first->behind;

    if (behind)
        behind->last = first->last;
    return behind;
}

static void leave_first(struct turn **at)
{
    struct turn *behind = successor(*at);

    if (behind)
        behind->next = (*at)->next;
    *at = behind ? behind : (*at)->next;
}

void turns_leave(struct turns *turns, struct turn *turn)
{
    struct turn **first = find_owner(turns, turn->owner), *before = *first;

    assert(before); /* it is in the line */
    if (before == turn) {
        leave_first(first);
        return;
    }
    while (before->behind != turn) {
        before = before->behind;
        assert(before);
    }
    before->behind = turn->behind;
    if ((*first)->last == turn)
        (*first)->last = before;
}

struct turn *turns_first(const struct turns *turns, size_t held_max)
{
    struct turn *at = turns->first;

    while (at && !turns_may_hold(turns, at->owner, held_max))
        at = at->next;
    return at;
}

struct turn *turns_next(struct turns *turns, size_t held_max)
{
    struct turn *taken = turns_first(turns, held_max), *behind, **at;

    if (!taken)
        return NULL;
    at = find_owner(turns, taken->owner);
    behind = successor(taken);
    *at = taken->next;
    if (behind)
        append_owner(turns, behind);
    return taken;
}

/* ---- those who hold a place ---- */

bool turns_may_hold(const struct turns *turns, uint64_t owner, size_t held_max)
{
    size_t held = 0;

    if (!owner || !held_max)
        return true;
    for (const struct turn *at = turns->held; at; at = at->next)
        held += at->owner == owner;
    return held < held_max;
}

void turns_hold(struct turns *turns, struct turn *turn)
{
    if (!turn->owner)
        return;
    turn->next = turns->held;
    turns->held = turn;
}

void turns_release(struct turns *turns, struct turn *turn)
{
    struct turn **at = &turns->held;

    if (!turn->owner)
        return;
    while (*at != turn) {
        assert(*at); /* it holds a place */
        at = &(*at)->next;
    }
    *at = turn->next;
}
