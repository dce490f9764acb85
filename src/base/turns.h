/*
 * src/base/turns.h - who of those that wait is next, so that one owner's crowd does not delay another's few.
 * Owners take turns: when one of an owner has been taken, the next one of it is behind those of all other owners.
 * Whoever has its turn holds a place, and of one owner only `held_max` at a time: the other places are left for owners
 * that come later. The caller says how many that are, each time; 0 is no bound. Among those of one owner the first to come is the first to be taken. Owner 0 is nobody: all that
 * have no owner share its turns, and their places are not counted.
 *
 * Ownership. A turn lies in what the caller waits with, or holds a place with, until it is taken out again.
 * Threads. One at a time: the caller has a lock.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn {
    uint64_t owner;             /* the caller's: set before anything else */
    struct turn *next;          /* the first of the next owner; of those that hold a place, just the next */
    struct turn *behind, *last; /* of the same owner; last is known to its first only */
};

struct turns {
    struct turn *first; /* of the owner whose turn it is */
    struct turn *held;
};

void turns_wait(struct turns *turns, struct turn *turn);
void turns_leave(struct turns *turns, struct turn *turn); /* it waits no more */

/* Whose turn it is, of those whose owner may hold one more; or NULL. turns_next() also takes it out of the line. */
struct turn *turns_first(const struct turns *turns, size_t held_max);
struct turn *turns_next(struct turns *turns, size_t held_max);

/* A place, with a turn that waits in no line. */
bool turns_may_hold(const struct turns *turns, uint64_t owner, size_t held_max);
void turns_hold(struct turns *turns, struct turn *turn);
void turns_release(struct turns *turns, struct turn *turn);
