/* src/base/gate.c - a door, and a list of the operations that wait before it. */
#include <assert.h>

#include "base/gate.h"

struct gate_waiter {
    struct gate_waiter *next;
    struct op *op;
};

void gate_init(struct gate *gate)
{
    door_init(&gate->door);
    pthread_mutex_init(&gate->lock, NULL);
    gate->first = NULL;
    gate->last = &gate->first;
}

void gate_free(struct gate *gate)
{
    assert(!gate->first);
    pthread_mutex_destroy(&gate->lock);
    door_free(&gate->door);
}

/* The gate is opened under the lock, so an operation that finds it closed there will be found in the list. */
static bool enter_or_wait(struct gate *gate, struct gate_waiter *waiter)
{
    bool entered;

    pthread_mutex_lock(&gate->lock);
    entered = door_enter(&gate->door);
    if (!entered) {
        *gate->last = waiter;
        gate->last = &waiter->next;
    }
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

enum status gate_enter(struct gate *gate, struct op *op)
{
    struct gate_waiter *waiter;

    if (door_enter(&gate->door))
        return ST_OK;
    assert(op->resume);
    waiter = arena_alloc(&op->arena, sizeof(*waiter));
    *waiter = (struct gate_waiter){ .op = op };
    return enter_or_wait(gate, waiter) ? ST_OK : ST_PENDING;
}

bool gate_try_enter(struct gate *gate)
{
    return door_enter(&gate->door);
}

void gate_leave(struct gate *gate)
{
    door_leave(&gate->door);
}

void gate_close(struct gate *gate)
{
    door_close(&gate->door);
}

/*
 * A waiter lies in its operation's memory, which may be gone once it has been resumed. Each is told that it is the last:
 * those that wait may belong to several servers, and each would have to be told of its own.
 */
void gate_open(struct gate *gate)
{
    struct gate_waiter *waiter, *next;

    pthread_mutex_lock(&gate->lock);
    door_open(&gate->door);
    waiter = gate->first;
    gate->first = NULL;
    gate->last = &gate->first;
    pthread_mutex_unlock(&gate->lock);
    for (; waiter; waiter = next) {
        next = waiter->next;
        waiter->op->resume(waiter->op, true);
    }
}
